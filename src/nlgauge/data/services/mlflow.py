"""MLflow over its REST API: the traces of an experiment, and a run with the results of a report.

`MLFLOW_TRACKING_URI` is the server; `MLFLOW_TRACKING_TOKEN`, or `MLFLOW_TRACKING_USERNAME` and
`MLFLOW_TRACKING_PASSWORD`, are the key.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import time
import urllib.parse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from nlgauge.data.services._http import Server, basic
from nlgauge.errors import DataError
from nlgauge.foreign_text import visible

API, TRACES = "/api/2.0/mlflow", "/api/3.0/mlflow/traces/search"
SPANS = "/ajax-api/2.0/mlflow/get-trace-artifact"
PAGE, BATCH = 200, 900  # traces of a page, metrics of a request
NAME = re.compile(r"[^\w .:/-]+")  # what a metric's name may not hold


def fetch(experiment: str, path: Path) -> Path:
    """Write the traces of an experiment, one per line, with their spans, which have the whole texts."""
    server = _server()
    out = path.with_suffix(".jsonl")
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for info in _traces(server, _experiment(server, experiment)):
            data = server.get(SPANS, request_id=info.get("trace_id"))
            file.write(json.dumps({"info": info, "data": data}, ensure_ascii=False) + "\n")
            count += 1
    if not count:
        raise DataError(f"mlflow://{experiment}: the experiment has no traces.")
    return out


def send(experiment: str, figures: dict[str, float], files: list[Path], about: dict[str, str]) -> str:
    """Make a run of the experiment with the figures as metrics, and the files as artifacts."""
    server = _server()
    now = int(time.time() * 1000)
    tags = [{"key": "mlflow.source.name", "value": "nlgauge"}, {"key": "mlflow.source.type", "value": "LOCAL"}]
    made = server.post(
        f"{API}/runs/create",
        {
            "experiment_id": _experiment(server, experiment),
            "run_name": visible(f"nlgauge {about.get('data', '')}".strip()),
            "start_time": now,
            "tags": tags + [{"key": f"nlgauge.{key}", "value": visible(value)[:5000]} for key, value in about.items()],
        },
    )["run"]["info"]
    run, values = made["run_id"], list(zip(metric_names(figures), figures.values(), strict=True))
    for start in range(0, len(values), BATCH):
        batch = values[start : start + BATCH]
        metrics = [{"key": k, "value": v, "timestamp": now, "step": 0} for k, v in batch]
        server.post(f"{API}/runs/log-batch", {"run_id": run, "metrics": metrics, "params": [], "tags": []})
    place = str(made.get("artifact_uri", ""))
    if place.startswith("mlflow-artifacts:"):
        inside = urllib.parse.urlsplit(place).path.lstrip("/")
        for file in files:
            target = f"/api/2.0/mlflow-artifacts/artifacts/{urllib.parse.quote(f'{inside}/{file.name}')}"
            server.call("PUT", target, file.read_bytes(), "application/octet-stream")
    server.post(f"{API}/runs/update", {"run_id": run, "status": "FINISHED", "end_time": int(time.time() * 1000)})
    return f"run {run} of the experiment '{experiment}'"


def metric_names(names: Iterable[str]) -> list[str]:
    """Return names that MLflow accepts, a different one for each.

    >>> metric_names(["a*/kappa", "a?/kappa", "../x//y"])
    ['a_/kappa', 'a_/kappa 2', '_/x/_/y']
    """
    unique: dict[str, None] = {}
    for name in names:
        parts = NAME.sub("_", name).split("/")
        plain = "/".join(part if part.strip(".") else "_" for part in parts)[:240]
        options = (plain if k == 1 else f"{plain} {k}" for k in itertools.count(1))
        unique[next(option for option in options if option not in unique)] = None
    return list(unique)


def _server() -> Server:
    if token := os.environ.get("MLFLOW_TRACKING_TOKEN"):
        headers = {"Authorization": f"Bearer {token}"}
    elif user := os.environ.get("MLFLOW_TRACKING_USERNAME"):
        headers = basic(user, os.environ.get("MLFLOW_TRACKING_PASSWORD", ""))
    else:
        headers = {}
    return Server.of("mlflow", ("MLFLOW_TRACKING_URI",), headers)


def _experiment(server: Server, name: str) -> str:
    """Return the id of an experiment of this name."""
    found = server.get(f"{API}/experiments/get-by-name", experiment_name=name)
    return str(found["experiment"]["experiment_id"])


def _traces(server: Server, experiment: str) -> Iterator[dict[str, Any]]:
    token = None
    while True:
        body = {
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": experiment}}],
            "max_results": PAGE,
            **({"page_token": token} if token else {}),
        }
        page = server.post(TRACES, body)
        yield from page.get("traces") or []
        token = page.get("next_page_token")
        if not token:
            return
