"""What wrote the samples of LangSmith, Opik, Weave, Braintrust, OpenTelemetry, OpenAI and Azure: their own types and functions.

`python tracing_tools.py langsmith`, and so on. Nothing is sent: records are made with the tool's classes and serialized
by them, with the fields that its server fills in filled in here.
"""

import json
import sys
import uuid
from pathlib import Path

from stations import SYSTEMS, outputs

DAY = "2026-11-01T12:00:00Z"


def write(name, rows):
    text = rows if isinstance(rows, str) else "".join(json.dumps(row, default=str) + "\n" for row in rows)
    Path(name).write_text(text, encoding="utf-8")


def identity(n):
    return str(uuid.UUID(int=n))


def langsmith():
    from langsmith import schemas

    runs, feedback = [], []
    for o in outputs():
        session = identity(100 + SYSTEMS.index(o["system"]))
        run = schemas.Run(
            id=identity(1000 + o["n"]),
            name="Target",
            start_time=DAY,
            end_time=DAY,
            run_type="chain",
            inputs={"question": o["question"]},
            outputs={"answer": o["answer"]},
            session_id=session,
            reference_example_id=identity(int(o["id"][1:])),
            trace_id=identity(1000 + o["n"]),
            dotted_order="1",
            extra={"metadata": {"ls_model_name": o["system"]}},
        )
        runs.append(
            json.loads(run.model_dump_json(exclude_none=True))
            if hasattr(run, "model_dump_json")
            else json.loads(run.json())
        )
        sources = [("app", {"user_name": who}, o[who], "correct") for who in ("ann", "bob")]
        sources += [("model", {}, o["judge"], "correct"), ("api", {}, o["similarity"], "similarity")]
        for i, (kind, user, score, key) in enumerate(sources):
            item = schemas.Feedback(
                id=identity(5000 + 10 * o["n"] + i),
                created_at=DAY,
                modified_at=DAY,
                run_id=run.id,
                trace_id=run.id,
                key=key,
                score=score,
                session_id=session,
                feedback_source=schemas.FeedbackSourceBase(type=kind, **user),
            )
            feedback.append(json.loads(item.model_dump_json(exclude_none=True)))
    write("langsmith_feedback.jsonl", feedback)
    write("langsmith_runs_and_feedback.jsonl", runs + feedback)
    write("langsmith_page.json", json.dumps({"runs": runs, "feedback": feedback}) + "\n")
    # A frame of get_test_results, with the key of the reference as the API calls it.
    write(
        "langsmith_results.jsonl",
        [
            {
                "inputs": {"question": o["question"]},
                "outputs": {"answer": o["answer"]},
                "reference_outputs": {"answer": o["expected"]},
                "feedback": {"correct": o["judge"]},
                "execution_time": 0.2,
                "example_id": identity(int(o["id"][1:])),
                "id": identity(1000 + o["n"]),
            }
            for o in outputs()
            if o["system"] == "model-a"
        ],
    )


def opik():
    from opik.rest_api.types.feedback_score_public import FeedbackScorePublic
    from opik.rest_api.types.trace_public import TracePublic
    from opik.rest_api.types.value_entry_public import ValueEntryPublic

    traces = []
    for o in outputs():
        by = {who: ValueEntryPublic(value=float(o[who]), source="ui", author=who) for who in ("ann", "bob")}
        scores = [
            FeedbackScorePublic(name="correct", value=(o["ann"] + o["bob"]) / 2, source="ui", value_by_author=by),
            FeedbackScorePublic(
                name="hallucination", value=1.0 - o["judge"], source="online_scoring", reason="as seen"
            ),
            FeedbackScorePublic(name="similarity", value=o["similarity"], source="sdk", created_by="admin"),
        ]
        trace = TracePublic(
            id=identity(o["n"]),
            name="answer",
            start_time=DAY,
            end_time=DAY,
            input={"question": o["question"]},
            output={"answer": o["answer"]},
            metadata={"model": o["system"]},
            feedback_scores=scores,
        )
        traces.append(json.loads(trace.json()))
    write("opik_traces.jsonl", traces)
    write(
        "opik_page.json", json.dumps({"page": 1, "size": len(traces), "total": len(traces), "content": traces}) + "\n"
    )


def weave():
    from weave.trace.call import Call
    from weave.trace.feedback import feedback_create_params

    calls, feedback = [], []
    for o in outputs():
        name = f"c{o['n']}"
        ref = f"weave:///team/stations/call/{name}"
        given = [
            feedback_create_params(
                project_id="team/stations",
                weave_ref=ref,
                feedback_type="wandb.annotation.correct",
                payload={"value": bool(o[who])},
                creator=who,
                annotation_ref="weave:///team/stations/object/correct:abc",
            )
            for who in ("ann", "bob")
        ]
        given.append(
            feedback_create_params(
                project_id="team/stations",
                weave_ref=ref,
                feedback_type="wandb.reaction.1",
                payload={"emoji": "👍" if o["ann"] else "👎", "alias": "+1" if o["ann"] else "-1"},
                creator="ann",
            )
        )
        given.append(
            feedback_create_params(
                project_id="team/stations",
                weave_ref=ref,
                feedback_type="wandb.runnable.judge",
                payload={"output": {"correct": bool(o["judge"])}},
                runnable_ref="weave:///team/stations/op/judge:abc",
                call_ref="weave:///team/stations/call/scorer",
            )
        )
        given.append(
            feedback_create_params(
                project_id="team/stations",
                weave_ref=ref,
                feedback_type="wandb.note.1",
                payload={"note": "seen"},
                creator="bob",
            )
        )
        feedback += given
        call = Call(
            _op_name="weave:///team/stations/op/Evaluation.predict_and_score:abc",
            trace_id=f"t{o['n']}",
            project_id="team/stations",
            parent_id="p",
            id=name,
            started_at=None,
            ended_at=None,
            inputs={
                "self": "weave:///team/stations/object/Evaluation:xyz",
                "model": f"weave:///team/stations/object/{o['system']}:v1",
                "example": {"question": o["question"], "expected": o["expected"]},
            },
            output={"output": o["answer"], "scores": {"similarity": {"score": o["similarity"]}}, "model_latency": 0.5},
            summary={"weave": {"status": "success", "feedback": [{**f, "id": str(i)} for i, f in enumerate(given)]}},
            attributes={},
        )
        calls.append(call.to_dict())
    write("weave_calls_with_feedback.jsonl", calls)
    write("weave_feedback.jsonl", feedback)


def braintrust():
    import braintrust

    rows = []
    for o in outputs():
        root = identity(o["n"])
        rows.append(
            {
                "id": f"r{o['n']}",
                "span_id": root,
                "root_span_id": root,
                "span_parents": None,
                "is_root": True,
                "span_attributes": {"name": "eval", "type": "eval"},
                "input": {"question": o["question"]},
                "output": o["answer"],
                "expected": o["expected"],
                "metadata": {"model": o["system"]},
                "scores": {
                    "Similarity": o["similarity"],
                    "Human review": (o["ann"] + o["bob"]) / 2,
                    "Tone": o["judge"],
                },
                "metrics": {"start": 1762000000.5, "end": 1762000001.7, "tokens": 60},
                "tags": None,
            }
        )
        rows.append(
            {
                "id": f"s{o['n']}",
                "span_id": identity(500 + o["n"]),
                "root_span_id": root,
                "span_parents": [root],
                "is_root": False,
                "span_attributes": {"name": "Similarity", "type": "score", "purpose": "scorer"},
                "input": {"output": o["answer"]},
                "output": {"score": o["similarity"]},
                "scores": {"Similarity": o["similarity"]},
                "metadata": {},
                "metrics": {"start": 1762000001.5},
            }
        )
    assert braintrust.__name__
    write("braintrust_spans.jsonl", rows)


def opentelemetry():
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    for name, events in (("otel_events", "logs"), ("otel_span_events", "spans")):
        spans, logs = InMemorySpanExporter(), InMemoryLogRecordExporter()
        tracing, logging = TracerProvider(), LoggerProvider()
        tracing.add_span_processor(SimpleSpanProcessor(spans))
        logging.add_log_record_processor(SimpleLogRecordProcessor(logs))
        tracer, logger = tracing.get_tracer("stations"), logging.get_logger("stations")
        for o in outputs():
            judged = [("correct", "human", who, {"value": float(o[who])}) for who in ("ann", "bob")]
            judged += [
                ("correct", "llm_judge", "judge-1", {"label": "pass" if o["judge"] else "fail"}),
                ("similarity", "deterministic", "difflib", {"value": o["similarity"]}),
                ("tone", None, None, {"value": float(o["judge"])}),
            ]
            with tracer.start_as_current_span("chat") as span:
                span.set_attribute("gen_ai.operation.name", "chat")
                span.set_attribute("gen_ai.request.model", o["system"])
                for side, role in (("input", "user"), ("output", "assistant")):
                    text = o["question"] if side == "input" else o["answer"]
                    span.set_attribute(
                        f"gen_ai.{side}.messages",
                        json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}]),
                    )
                for aspect, kind, who, score in judged:
                    inside = {"gen_ai.evaluation.name": aspect}
                    inside |= {f"gen_ai.evaluation.score.{k}": v for k, v in score.items()}
                    if kind:
                        inside |= {"gen_ai.evaluation.evaluator.type": kind, "gen_ai.evaluation.evaluator.id": who}
                    if events == "spans":
                        span.add_event("gen_ai.evaluation.result", inside)
                    else:
                        logger.emit(event_name="gen_ai.evaluation.result", attributes=inside, timestamp=1)
        traces = MessageToDict(encode_spans(spans.get_finished_spans()))
        if events == "spans":
            write(f"{name}.json", json.dumps(traces) + "\n")
        else:
            records = logs.get_finished_logs()
            encoded = MessageToDict(encode_logs(records))
            write(f"{name}.jsonl", [traces, encoded])
            write("otel_logs.json", json.dumps(encoded) + "\n")
            write("otel_log_records.jsonl", "".join(r.to_json(indent=None) + "\n" for r in records))


def openai():
    from openai.types.evals.runs.output_item_list_response import OutputItemListResponse

    items = []
    for o in outputs():
        item = OutputItemListResponse.construct(
            id=f"outputitem_{o['n']}",
            created_at=1743092076,
            object="eval.run.output_item",
            eval_id="eval_1",
            run_id=f"evalrun_{o['system']}",
            status="pass",
            datasource_item_id=int(o["id"][1:]),
            datasource_item={"question": o["question"], "reference": o["expected"]},
            results=[
                {
                    "name": "correct",
                    "type": "score-model-grader",
                    "passed": bool(o["judge"]),
                    "score": float(o["judge"]),
                    "sample": {"model": "judge-1"},
                },
                {
                    "name": "similarity",
                    "type": "text-similarity-grader",
                    "passed": o["similarity"] > 0.7,
                    "score": o["similarity"],
                    "sample": None,
                },
            ],
            sample={
                "input": [{"role": "user", "content": o["question"]}],
                "output": [{"role": "assistant", "content": o["answer"]}],
                "model": o["system"],
            },
        )
        items.append(json.loads(item.to_json(indent=None)))
    write("openai_output_items.jsonl", items)
    write("openai_output_items.json", json.dumps({"object": "list", "data": items, "has_more": False}) + "\n")


def azure():
    from azure.ai.evaluation import F1ScoreEvaluator, evaluate

    class Judge:
        def __call__(self, *, query, response, verdict, **kwargs):
            return {
                "relevance": float(verdict) * 4 + 1,
                "gpt_relevance": float(verdict) * 4 + 1,
                "relevance_reason": "as seen",
                "relevance_result": "pass" if verdict else "fail",
                "relevance_threshold": 3,
            }

    rows = [
        {
            "query": o["question"],
            "response": o["answer"],
            "ground_truth": o["expected"],
            "model": o["system"],
            "verdict": o["judge"],
            "human_relevance": o["ann"] * 4 + 1,
        }
        for o in outputs()
    ]
    write("azure_input.jsonl", rows)
    evaluate(
        data="azure_input.jsonl",
        evaluators={"relevance": Judge(), "f1_score": F1ScoreEvaluator()},
        output_path="azure_results.json",
    )


if __name__ == "__main__":
    globals()[sys.argv[1]]()
