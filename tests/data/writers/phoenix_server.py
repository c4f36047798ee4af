"""What wrote the phoenix_* samples: a real Phoenix server on loopback, through its own client.

PHOENIX_PORT=16006 PHOENIX_WORKING_DIR=$(mktemp -d) phoenix serve &
python phoenix_server.py http://127.0.0.1:16006
"""

import json
import sys
import time
from pathlib import Path

import httpx
from phoenix.client import Client
from stations import outputs

base = sys.argv[1]
client = Client(base_url=base)
spans, annotations = [], []
for o in outputs():
    span_id = f"{o['n'] + 1:016x}"
    spans.append(
        {
            "name": "answer",
            "context": {"trace_id": f"{o['n'] + 1:032x}", "span_id": span_id},
            "span_kind": "LLM",
            "start_time": "2026-11-01T12:00:00Z",
            "end_time": "2026-11-01T12:00:01Z",
            "status_code": "OK",
            "attributes": {
                "openinference.span.kind": "LLM",
                "input.value": o["question"],
                "output.value": o["answer"],
                "llm.model_name": o["system"],
            },
        }
    )
    for who in ("ann", "bob"):
        annotations.append(
            {
                "span_id": span_id,
                "name": "correct",
                "annotator_kind": "HUMAN",
                "identifier": who,
                "result": {"score": float(o[who]), "label": "yes" if o[who] else "no"},
            }
        )
    annotations.append(
        {
            "span_id": span_id,
            "name": "correct",
            "annotator_kind": "LLM",
            "identifier": "judge-1",
            "result": {"score": float(o["judge"]), "explanation": "as seen"},
        }
    )
    annotations.append(
        {"span_id": span_id, "name": "similarity", "annotator_kind": "CODE", "result": {"score": o["similarity"]}}
    )
client.spans.log_spans(project_identifier="stations", spans=spans)
time.sleep(5)  # until the server has stored the spans
client.spans.log_span_annotations(span_annotations=annotations, sync=True)
ids = [s["context"]["span_id"] for s in spans]
frame = client.spans.get_span_annotations_dataframe(span_ids=ids, project_identifier="stations")
frame.to_csv("phoenix_span_annotations.csv")
frame.drop(columns="metadata").to_parquet("phoenix_span_annotations.parquet")  # Parquet has no empty structs
page = httpx.get(f"{base}/v1/projects/stations/span_annotations", params={"span_ids": ids, "limit": 1000}).json()
Path("phoenix_api.json").write_text(json.dumps(page) + "\n")
stored = httpx.get(f"{base}/v1/projects/stations/spans", params={"limit": 100}).json()
Path("phoenix_page.json").write_text(json.dumps({"spans": stored["data"], "annotations": page["data"]}) + "\n")

dataset = client.datasets.create_dataset(
    name="stations",
    inputs=[{"question": o["question"]} for o in outputs() if o["system"] == "model-a"],
    outputs=[{"answer": o["expected"]} for o in outputs() if o["system"] == "model-a"],
)
answers = {o["question"]: o for o in outputs() if o["system"] == "model-a"}


def correct(input, output):
    return float(answers[input["question"]]["judge"])


ran = client.experiments.run_experiment(
    dataset=dataset,
    task=lambda input: answers[input["question"]]["answer"],
    evaluators={"correct": correct},
    experiment_name="model-a",
)
Path("phoenix_experiment.json").write_text(httpx.get(f"{base}/v1/experiments/{ran['experiment_id']}/json").text + "\n")
