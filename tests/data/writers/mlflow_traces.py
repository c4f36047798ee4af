"""What wrote mlflow_traces.jsonl and mlflow_search.jsonl: MLflow tracing with assessments of people, a judge and code."""

from pathlib import Path

import mlflow
from mlflow.entities import AssessmentSource, AssessmentSourceType

FACTS = {"France": ("Paris.", "Paris"), "Italy": ("Rome, I think.", "Rome"), "Spain": ("Barcelona", "Madrid")}
mlflow.set_tracking_uri("sqlite:///mlflow.db")
mlflow.set_experiment("capitals")


@mlflow.trace
def model_a(question: str) -> str:
    return next(said for country, (said, _) in FACTS.items() if country in question)


human, judge, code = AssessmentSourceType.HUMAN, AssessmentSourceType.LLM_JUDGE, AssessmentSourceType.CODE
people = {"France": {"ann": True, "bob": True}, "Italy": {"ann": True, "bob": False}, "Spain": {"ann": False}}
for country, (said, right) in FACTS.items():
    model_a(f"What is the capital of {country}?")
    trace = mlflow.get_last_active_trace_id()
    mlflow.log_expectation(trace_id=trace, name="expected_response", value=right, source=AssessmentSource(human, "ann"))
    mlflow.log_feedback(
        trace_id=trace,
        name="correctness",
        value="yes" if right in said else "no",
        rationale="as seen",
        source=AssessmentSource(judge, "openai:/gpt-4o"),
    )
    mlflow.log_feedback(trace_id=trace, name="length", value=len(said), source=AssessmentSource(code, "len"))
    if country == "Spain":
        mlflow.log_feedback(
            trace_id=trace,
            name="relevance",
            error=ValueError("timed out"),
            source=AssessmentSource(judge, "openai:/gpt-4o"),
        )
    else:
        mlflow.log_feedback(trace_id=trace, name="relevance", value=4, source=AssessmentSource(judge, "openai:/gpt-4o"))
    for who, good in people[country].items():
        mlflow.log_feedback(trace_id=trace, name="correct", value=good, source=AssessmentSource(human, who))
# A person overrules the judge on the last trace, and then herself.
wrong = next(a for a in mlflow.get_trace(trace).info.assessments if a.name == "correctness")
hers = mlflow.override_feedback(
    trace_id=trace, assessment_id=wrong.assessment_id, value="yes", source=AssessmentSource(human, "ann")
)
mlflow.override_feedback(
    trace_id=trace, assessment_id=hers.assessment_id, value="no", source=AssessmentSource(human, "ann")
)
traces = mlflow.search_traces(return_type="list")
Path("mlflow_traces.jsonl").write_text("".join(t.to_json() + "\n" for t in traces))
mlflow.search_traces(return_type="pandas").to_json("mlflow_search.jsonl", orient="records", lines=True)
