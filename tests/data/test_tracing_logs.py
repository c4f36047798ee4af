"""Files of tracing and annotation tools (tests/data/tracing): every judgment has the role that its file states."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from stations import outputs

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.datasets.load import check
from nlgauge.errors import NlgaugeError

FOLDER = Path(__file__).resolve().parent / "tracing"


class Holds(NamedTuple):
    """What a file holds: aspects rated by humans, their annotators, and scores of models, programs and unknown ones."""

    human: str = ""
    raters: str = ""
    model: str = ""
    program: str = ""
    unknown: str = ""
    systems: int = 2


BOTH = Holds("correct", "ann bob", "correct", "similarity")
EXPECTED = {
    "azure_results.json": Holds("relevance"),
    "braintrust_spans.jsonl": Holds("Human review", "", "", "Similarity", "Tone"),
    "helm": Holds("", "", "annotation_gpt_score", "f1_score"),
    "langsmith_feedback.jsonl": Holds("correct", "ann bob", "correct", "", "similarity", systems=1),
    "langsmith_page.json": Holds("correct", "ann bob", "correct", "", "similarity"),
    "langsmith_results.jsonl": Holds("", "", "", "", "correct", systems=1),
    "langsmith_runs_and_feedback.jsonl": Holds("correct", "ann bob", "correct", "", "similarity"),
    "oaieval.jsonl": Holds("", "", "", "match f1", systems=1),
    "openai_output_items.json": Holds("", "", "correct", "similarity"),
    "openai_output_items.jsonl": Holds("", "", "correct", "similarity"),
    "opik_page.json": Holds("correct", "ann bob", "hallucination", "", "similarity"),
    "opik_traces.jsonl": Holds("correct", "ann bob", "hallucination", "", "similarity"),
    "otel_events.jsonl": BOTH._replace(unknown="tone"),
    "otel_log_records.jsonl": BOTH._replace(unknown="tone", systems=1),
    "otel_logs.json": BOTH._replace(unknown="tone", systems=1),
    "otel_span_events.json": BOTH._replace(unknown="tone"),
    "pearmut.jsonl": Holds("score", "ann bob"),
    "phoenix_api.json": BOTH._replace(systems=1),
    "phoenix_experiment.json": Holds("", "", "", "correct", systems=1),
    "phoenix_page.json": BOTH,
    "phoenix_span_annotations.csv": BOTH._replace(systems=1),
    "phoenix_span_annotations.parquet": BOTH._replace(systems=1),
    "prodigy_accept.jsonl": Holds("CORRECT", "stations-ann stations-bob"),
    "prodigy_choice.jsonl": Holds("choice", "stations-ann stations-bob"),
    "weave_calls_with_feedback.jsonl": Holds("correct reaction", "ann bob", "", "similarity judge.correct"),
    "weave_feedback.jsonl": Holds("correct reaction", "ann bob", "", "judge.correct", systems=1),
}
TITLES = {"model": "Model judgments", "program": "Scores computed by code", "unknown": "Scores from an unknown source"}


def test_every_file_is_expected_to_hold_something() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*EXPECTED, "README.md"}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_judgment_has_the_role_that_the_file_states(name: str) -> None:
    data, held = ng.load(FOLDER / name), EXPECTED[name]
    aspects = [held.human] if held.human == "Human review" else held.human.split()
    assert sorted(data.aspects) == sorted(aspects)
    assert sorted(data.raters) == held.raters.split()
    assert len(data.systems) == held.systems
    assert all(data.sources[a].kind == "human" for a in data.aspects if a in data.sources)
    if name != "azure_results.json":  # a plain table, without a line for each source
        assert sorted(data.metrics) == sorted(f"{held.model} {held.program} {held.unknown}".split())
        for kind, title in TITLES.items():
            lines = [n for n in data.notes if n.startswith(title) and ("unknown" in title or "unknown" not in n)]
            for metric in getattr(held, kind).split():
                assert any(f"'{metric}'" in line for line in lines), (kind, metric)


LABELS = {
    "correct": 1.0,
    "CORRECT": 1.0,
    "reaction": 1.0,
    "choice": 5.0,
    "score": 90.0,
    "relevance": 5.0,
    "Human review": 1,
}


@pytest.mark.parametrize("name", [n for n, held in EXPECTED.items() if held.raters])
def test_the_labels_of_every_annotator_are_the_ones_that_were_given(name: str) -> None:
    data = ng.load(FOLDER / name)
    for aspect in data.aspects:
        rated = data.ratings.filter(aspect=aspect)
        for who in data.raters:
            given = sum(o[who.removeprefix("stations-")] for o in outputs())
            left_out = name == "prodigy_accept.jsonl" and not outputs_list()[11][who.removeprefix("stations-")]
            if aspect == "reaction" and who == "bob":
                continue
            theirs = rated.filter(rater=who)
            assert theirs.height == 12 - left_out
            assert (theirs["value"] == LABELS[aspect]).sum() == given


def outputs_list() -> list[dict[str, Any]]:
    return list(outputs())


@pytest.mark.parametrize("name", EXPECTED)
def test_run_check_and_gate_treat_only_human_judgments_as_human(name: str, tmp_path: Path) -> None:
    path, held = FOLDER / name, EXPECTED[name]
    data = ng.load(path)
    checked = check(path)
    assert checked.rows and (name == "azure_results.json" or "read by" in str(checked.rows[0]["role"]))
    try:
        report = ng.report(data, out=tmp_path / "page.html", quick=True)
    except NlgaugeError as error:
        assert not held.human, str(error)
    else:
        assert {a.about for a in report.answer.aspects} <= set(data.aspects)
    try:
        gated = ng.gate(path, min="kappa=.1")
    except NlgaugeError:
        return
    assert held.human and gated.facts["verdict"] in ("passed", "failed", "undecided")


@pytest.mark.parametrize("name", [n for n in EXPECTED if n.endswith((".json", ".jsonl"))])
def test_optional_fields_may_be_missing_and_what_is_needed_is_named(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    text = (FOLDER / name).read_text(encoding="utf-8")
    rows = [json.loads(text)] if name.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    aspects = sorted(ng.load(FOLDER / name).aspects)
    optional = ("metadata", "explanation", "comment", "reason", "created_at", "identifier", "user_name", "creator")
    for removed in (key for key in optional if f'"{key}"' in text):
        path.write_text("".join(json.dumps(without(row, removed)) + "\n" for row in rows), encoding="utf-8")
        assert sorted(ng.load(path).aspects) == aspects, removed


def without(value: Any, key: str) -> Any:
    """The same JSON without a key, at any depth."""
    if isinstance(value, dict):
        return {k: without(v, key) for k, v in value.items() if k != key}
    return [without(v, key) for v in value] if isinstance(value, list) else value


def kinds_removed(row: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in ("annotator_kind", "feedback_source", "source")}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("langsmith_feedback.jsonl", lambda row: {**row, "feedback_source": {"type": "webhook"}}),
        ("opik_traces.jsonl", lambda row: without(row, "source")),
        ("otel_log_records.jsonl", lambda row: json.loads(json.dumps(row).replace("evaluator.type", "evaluator.kind"))),
    ],
)
def test_a_judgment_without_a_known_source_is_not_human(
    name: str, change: Callable[[dict[str, Any]], dict[str, Any]], tmp_path: Path
) -> None:
    rows = [change(json.loads(line)) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    data: Dataset = ng.load(path)
    assert data.aspects == [] and data.metrics


def test_telemetry_without_evaluations_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    path.write_text(json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "x"}}]}]}]}))
    with pytest.raises(NlgaugeError, match=r"no events called gen_ai\.evaluation\.result"):
        ng.load(path)


def test_spans_of_pearmut_include_their_last_letter() -> None:
    data = ng.load(FOLDER / "pearmut.jsonl")
    marked = data.spans.drop_nulls("start").join(data.samples, on=["system", "input"])
    assert {text[a:b] for text, a, b in marked.select("output", "start", "end").iter_rows()} == {"station"}
    assert data.spans.filter(rater="ann").height == 12


def test_what_a_pearmut_annotator_did_before_a_reset_does_not_count(tmp_path: Path) -> None:
    lines = (FOLDER / "pearmut.jsonl").read_text(encoding="utf-8").splitlines()
    reset = json.dumps({"user_id": "ann", "annotation": "__RESET__", "item_i": 0})
    path = tmp_path / "pearmut.jsonl"
    path.write_text("\n".join([*lines, reset]) + "\n", encoding="utf-8")
    assert ng.load(path).raters == ["bob"]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values inside a JSON value, three of each list."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, child in inner:
        yield (*place, key)
        yield from places(child, (*place, key))


@pytest.mark.parametrize("name", [n for n in EXPECTED if n.endswith((".json", ".jsonl"))])
def test_a_value_of_another_type_is_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    draw, path = random.Random(name), tmp_path / name
    text = (FOLDER / name).read_text(encoding="utf-8")
    lines = [text] if name.endswith(".json") else text.splitlines()[:6]
    for _ in range(15):
        rows = [json.loads(line) for line in lines]
        *above, last = draw.choice(list(places(rows)))
        inner: Any = rows
        for key in above:
            inner = inner[key]
        inner[last] = draw.choice([None, [], {}, "x", 7, True, [1], {"a": 1}, "", [None], -1.5])
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        with contextlib.suppress(NlgaugeError):
            ng.load(path)
