"""mlflow://, phoenix:// and langfuse:// against servers on loopback that answer as the real ones were seen to answer.

The same calls were made against MLflow 3.17.2 and Phoenix 20.26.1 on loopback (`writers/mlflow_server.py`,
`writers/phoenix_server.py`); Langfuse needs databases and was not run.
"""

from __future__ import annotations

import base64
import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import nlgauge as ng
from nlgauge.errors import DataError, NlgaugeError

HERE = Path(__file__).resolve().parent
Answer = Callable[[str, dict[str, list[str]], Any], Any]
BUSY, MOVED, KEY = object(), object(), "sk-very-secret"


class Stub:
    """A server that answers from a function, and remembers what was asked."""

    def __init__(self) -> None:
        self.answer: Answer = lambda path, query, body: None
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                stub.asked.append((self.command, self.path, dict(self.headers), raw))
                path, _, query = self.path.partition("?")
                body = json.loads(raw) if raw[:1] == b"{" else None
                said = stub.answer(path, urllib.parse.parse_qs(query), body)
                self.send_response(404 if said is None else 503 if said is BUSY else 302 if said is MOVED else 200)
                self.send_header("Location", "/elsewhere")
                self.end_headers()
                self.wfile.write(
                    json.dumps({"message": "no such thing"} if said in (None, BUSY, MOVED) else said).encode()
                )

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *arguments: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    made = Stub()
    for name in ("MLFLOW_TRACKING_URI", "PHOENIX_COLLECTOR_ENDPOINT", "LANGFUSE_BASE_URL"):
        monkeypatch.setenv(name, made.address)
    monkeypatch.setattr("nlgauge.data.services._http.time.sleep", lambda seconds: None)
    yield made
    made.server.shutdown()


def mlflow(path: str, query: dict[str, list[str]], body: Any) -> Any:
    """Three traces that MLflow wrote, on two pages."""
    traces = [json.loads(line) for line in (HERE / "samples" / "mlflow_traces.jsonl").read_text().splitlines()]
    if path.endswith("/experiments/get-by-name"):
        return {"experiment": {"experiment_id": "7"}} if query["experiment_name"] == ["capitals"] else None
    if path == "/api/3.0/mlflow/traces/search":
        assert body["locations"][0]["mlflow_experiment"] == {"experiment_id": "7"}
        first = "page_token" not in body
        infos = [trace["info"] for trace in (traces[:1] if first else traces[1:])]
        return {"traces": infos, **({"next_page_token": "more"} if first else {})}
    if path.endswith("/get-trace-artifact"):
        return next(t["data"] for t in traces if [t["info"]["trace_id"]] == query["request_id"])
    if path.endswith("/runs/create"):
        return {"run": {"info": {"run_id": "r1", "artifact_uri": "mlflow-artifacts:/7/r1/artifacts"}}}
    return {}


def test_an_experiment_is_read_page_by_page_as_its_traces_in_a_file(stub: Stub) -> None:
    stub.answer = mlflow
    theirs, ours = ng.load(HERE / "samples" / "mlflow_traces.jsonl"), ng.load("mlflow://capitals")
    assert ours.samples.equals(theirs.samples)
    assert ours.ratings.equals(theirs.ratings) and ours.scores.equals(theirs.scores)


def test_the_results_are_written_back_as_a_run_with_metrics_and_the_report(stub: Stub, tmp_path: Path) -> None:
    stub.answer = mlflow
    rows = [f"q{k},answer {k},{k % 3 and 1},{(k % 3 and 1) if k % 5 else k % 2}" for k in range(60)]
    file = tmp_path / "judged.csv"
    file.write_text("\n".join(["id,answer,human_label,judge", *rows]) + "\n", encoding="utf-8")
    made = ng.report(file, out=tmp_path / "page.html", quick=True, to="mlflow://capitals")
    assert "run r1" in made.sent and any("run r1" in line for line in made.remarks)
    sent = {path: raw for method, path, _, raw in stub.asked}
    figures = {m["key"]: m["value"] for m in json.loads(sent["/api/2.0/mlflow/runs/log-batch"])["metrics"]}
    judge = made.answer.aspects[0].metrics[0]
    assert figures[f"label/judge/{made.answer.aspects[0].measure}"] == judge.value
    assert figures["label/judge/recall on failures/low"] == dict(judge.rates)["recall on failures"].low
    uploaded = "/api/2.0/mlflow-artifacts/artifacts/7/r1/artifacts/page.html"
    assert sent[uploaded] == (tmp_path / "page.html").read_bytes()
    assert json.loads(sent["/api/2.0/mlflow/runs/update"])["status"] == "FINISHED"


def test_a_project_of_phoenix_is_read_with_its_spans(stub: Stub) -> None:
    page = json.loads((HERE / "tracing" / "phoenix_page.json").read_text())

    def answer(path: str, query: dict[str, list[str]], body: Any) -> Any:
        if path == "/v1/projects/my%20stations/spans":
            more = query.get("cursor") == ["2"]
            return {"data": page["spans"][5:] if more else page["spans"][:5], "next_cursor": None if more else "2"}
        told = [a for a in page["annotations"] if a["span_id"] in query["span_ids"]]
        return {"data": told, "next_cursor": None}

    stub.answer = answer
    theirs, ours = ng.load(HERE / "tracing" / "phoenix_page.json"), ng.load("phoenix://my stations")
    assert ours.ratings.sort(ours.ratings.columns).equals(theirs.ratings.sort(theirs.ratings.columns))
    assert set(ours.samples.rows()) == set(theirs.samples.rows())


def test_a_project_of_langfuse_is_read_with_the_texts_of_its_traces(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = json.loads((HERE / "samples" / "langfuse_v2.json").read_text())
    busy = iter([BUSY, BUSY])

    def answer(path: str, query: dict[str, list[str]], body: Any) -> Any:
        number = int(query["page"][0])
        if path == "/api/public/v2/scores":
            half = scores[: len(scores) // 2] if number == 1 else scores[len(scores) // 2 :]
            return next(busy, None) or {"data": half, "meta": {"page": number, "totalPages": 2}}
        traces = [{"id": f"t{k}", "input": {"question": f"q{k}"}, "output": f"a{k}"} for k in range(1, 9)]
        return {"data": traces, "meta": {"totalPages": 1}}

    stub.answer = answer
    with pytest.raises(DataError, match=r"^langfuse://: set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY\.$"):
        ng.load("langfuse://")
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
    monkeypatch.setenv("LANGFUSE_SECRET_KEY", KEY)
    data = ng.load("langfuse://support")
    assert data.ratings.equals(ng.load(HERE / "samples" / "langfuse_v2.json").ratings)
    assert data.samples.select("input", "source", "output").row(0) == ("t1", "q1", "a1")
    wanted = base64.b64encode(f"pk:{KEY}".encode()).decode()
    assert all(headers["Authorization"] == f"Basic {wanted}" for _, _, headers, _ in stub.asked)


def test_errors_are_one_line_without_a_key(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", KEY)
    with pytest.raises(NlgaugeError) as error:
        ng.load("mlflow://absent")
    assert str(error.value) == "mlflow: /api/2.0/mlflow/experiments/get-by-name: HTTP 404, no such thing"
    stub.answer = lambda path, query, body: BUSY
    with pytest.raises(NlgaugeError, match="HTTP 503") as busy:
        ng.load("mlflow://capitals")
    assert len(stub.asked) == 5 and KEY not in str(busy.value) + str(error.value)
    stub.answer = lambda path, query, body: MOVED
    with pytest.raises(NlgaugeError, match="HTTP 302"):  # the key goes to no other address
        ng.load("mlflow://capitals")
    assert not any(path == "/elsewhere" for _, path, _, _ in stub.asked)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
    with pytest.raises(NlgaugeError, match="set MLFLOW_TRACKING_URI to the address of the server"):
        ng.load("mlflow://capitals")
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(NlgaugeError, match=r"no answer from http://127\.0\.0\.1:9"):
        ng.load("phoenix://stations")
    with pytest.raises(NlgaugeError, match="results can be written to mlflow://EXPERIMENT"):
        ng.report(ng.example(), quick=True, to="phoenix://stations")
