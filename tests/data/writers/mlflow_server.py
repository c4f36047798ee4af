"""Fill a real MLflow server with traces and assessments:

MLFLOW_ENABLE_ASYNC_TRACE_LOGGING=false MLFLOW_TRACKING_URI=http://127.0.0.1:15010 python mlflow_server.py EXPERIMENT
"""

import sys

import mlflow
from mlflow.entities import AssessmentSource, AssessmentSourceType
from stations import outputs

mlflow.set_experiment(sys.argv[1])
for o in outputs():
    with mlflow.start_span("answer") as span:
        span.set_inputs({"question": o["question"]})
        span.set_outputs(o["answer"] + " " * 4 + "It leaves at noon. " * 80)  # longer than the preview of a trace
        mlflow.update_current_trace(tags={"system": o["system"]}, metadata={"mlflow.modelId": o["system"]})
        trace = span.trace_id
    for kind, who, value in [
        ("HUMAN", "ann", o["ann"]),
        ("HUMAN", "bob", o["bob"]),
        ("LLM_JUDGE", "judge-1", o["judge"]),
    ]:
        source = AssessmentSource(getattr(AssessmentSourceType, kind), who)
        mlflow.log_feedback(trace_id=trace, name="correct", value=float(value), source=source)
