"""What wrote oaieval.jsonl: the recorder of OpenAI's `evals` (3.0.1), with a stub as the model and as the grader."""

from evals.base import RunSpec
from evals.record import LocalRecorder
from stations import outputs

spec = RunSpec(
    completion_fns=["lab/model-a"],
    eval_name="stations.dev.v0",
    base_eval="stations",
    split="dev",
    run_config={},
    created_by="",
    run_id="run1",
    created_at="2026-11-01",
)
recorder = LocalRecorder("oaieval.jsonl", spec)
for o in outputs():
    if o["system"] == "model-a":
        with recorder.as_default_recorder(f"stations.dev.{o['n'] // 2}"):
            prompt = [{"role": "user", "content": o["question"]}]
            recorder.record_sampling(prompt=prompt, sampled=[o["answer"]])
            recorder.record_match(bool(o["judge"]), expected=o["expected"], picked=o["answer"], sampled=o["answer"])
            recorder.record_metrics(f1=o["similarity"])
recorder.record_final_report({"accuracy": 0.5})
recorder.flush_events()
