"""The table of error spans: pairs of raters, a program beside people, what is refused and what is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import nlgauge as ng
from nlgauge.data.dataset import Dataset
from nlgauge.errors import NeedsMissing, NlgaugeError

TEXT = "The ferry leaves the harbour at noon."  # 37 letters
Marked = tuple[str, str, str, int | None, int | None, str | None]  # system, input, rater, start, end, severity


def data_of(
    marks: list[Marked], outputs: dict[tuple[str, str], str] | None = None, models: set[str] = frozenset()
) -> Dataset:  # type: ignore[assignment]
    keys = dict.fromkeys((system, given) for system, given, *_ in marks)
    texts = [(outputs or {}).get(key, f"{TEXT} {key[0]}{key[1]}") for key in keys]
    samples = pl.DataFrame({"system": [s for s, _ in keys], "input": [i for _, i in keys], "output": texts})
    rows = [(s, i, r, "output", start, end, severity, None) for s, i, r, start, end, severity in marks]
    spans = pl.DataFrame(rows, schema=Dataset.SPANS, orient="row")
    return Dataset.of("made", samples, spans=spans, models=models)


def row(table: ng.Table, first: str, second: str, measure: str) -> dict[str, object]:
    return next(r for r in table if (r["first"], r["second"], r["measure"]) == (first, second, measure))


def test_figures_of_two_raters_by_hand() -> None:
    marks: list[Marked] = [
        ("A", "1", "ann", 4, 9, "major"), ("A", "1", "bob", 4, 16, "major"),  # 5 letters shared, 5 and 12
        ("A", "2", "ann", 0, 3, "minor"), ("A", "2", "bob", 0, 3, "major"),  # 3 shared, severities differ
        ("A", "3", "ann", None, None, None), ("A", "3", "bob", None, None, None),  # clean
        ("A", "4", "ann", None, None, None), ("A", "4", "bob", 1, 3, "minor"),
        ("A", "5", "bob", 0, 9, "major"),  # ann did not look
    ]  # fmt: skip
    table = ng.analyze("spans", data_of(marks))
    found = row(table, "bob", "ann", "any")  # who marked more is the first
    assert (found["value"], found["precision"], found["recall"]) == (pytest.approx(16 / 25), 8 / 17, 1.0)
    assert (found["n"], found["clean"], found["who"]) == (4, 1, "human")
    assert row(table, "bob", "ann", "severity")["value"] == pytest.approx(2 * (5 + 1.5) / 25)
    assert row(table, "bob", "ann", "major")["value"] == pytest.approx(10 / 20)
    assert row(table, "bob", "ann", "minor")["value"] == 0.0
    assert found["reason"] == "an interval needs at least 10 inputs with a mark; here are 3"
    assert np.isfinite(row(table, "bob", "ann", "gamma")["value"])


def many(rng: np.random.Generator, raters: tuple[str, ...], inputs: int = 30) -> list[Marked]:
    """Each rater sees an error of every output in seven of ten, and sometimes another one."""
    marks: list[Marked] = []
    for i in range(inputs):
        start = int(rng.integers(0, 20))
        for rater in raters:
            seen = rng.random() < 0.7
            at = start if seen else int(rng.integers(0, 25))
            if rng.random() < 0.2:
                marks.append(("A", str(i), rater, None, None, None))
            else:
                marks.append(("A", str(i), rater, at, at + 6, "major" if i % 2 else "minor"))
    return marks


def test_a_program_is_held_against_each_person_and_all_and_never_called_people() -> None:
    table = ng.analyze("spans", data_of(many(np.random.default_rng(1), ("ann", "bob", "gpt-4")), models={"gpt-4"}))
    pairs = {(r["first"], r["second"], r["who"]) for r in table}
    ann_bob = next(p for p in pairs if set(p[:2]) == {"ann", "bob"})
    assert pairs == {("gpt-4", "human", "model"), ("gpt-4", "ann", "model"), ("gpt-4", "bob", "model"), ann_bob}
    assert ann_bob[2] == "human"
    whole, parts = row(table, "gpt-4", "human", "any"), [row(table, "gpt-4", p, "any") for p in ("ann", "bob")]
    assert whole["n"] == sum(p["n"] for p in parts) == 60
    assert min(p["value"] for p in parts) <= whole["value"] <= max(p["value"] for p in parts)
    assert whole["low"] < whole["value"] < whole["high"]
    assert "models, not annotators: gpt-4." in table.notes
    assert "gpt-4 on human" in str(table)


def test_outputs_of_one_input_are_left_out_together() -> None:
    """Each output twice, as if of two systems: twice the data, and the same inputs."""
    marks = many(np.random.default_rng(2), ("ann", "bob"))
    doubled = [*marks, *(("B", *mark[1:]) for mark in marks)]
    once, twice = ng.analyze("spans", data_of(marks)), ng.analyze("spans", data_of(doubled))
    for one, two in zip(once, twice, strict=True):
        if one["measure"] != "gamma":
            assert two["n"] == 2 * one["n"]
            assert [two[k] for k in ("value", "low", "high")] == pytest.approx(
                [one[k] for k in ("value", "low", "high")]
            )


def test_a_column_of_documents_makes_wider_clusters() -> None:
    data = data_of(many(np.random.default_rng(3), ("ann", "bob"), 60))
    data = replace(data, samples=data.samples.with_columns(talk=pl.int_range(pl.len()) // 5))
    table = ng.analyze("spans", data.clustered("talk"))
    assert "jackknife over values of talk" in table.method
    few = ng.analyze("spans", data.where(data.samples.head(40)).clustered("talk"))
    assert few.rows[0]["reason"] == "an interval needs at least 10 values of talk with a mark; here are 8"


def test_the_same_text_of_two_systems_is_one_text_where_that_is_asked() -> None:
    marks: list[Marked] = [("A", "1", "ann", 4, 9, "major"), ("B", "1", "bob", 4, 9, "minor"),
                           ("C", "1", "ann", 0, 3, "minor"), ("A", "2", "ann", 4, 9, "major")]  # fmt: skip
    data = data_of(marks, {(s, "1"): TEXT for s in "ABC"})
    with pytest.raises(NeedsMissing) as error:
        ng.analyze("spans", data)
    assert str(error.value) == (
        "made: no output was annotated by two annotators (4 outputs, 2 annotators); some outputs of one input are the "
        "same text, which same_text=True treats as one output."
    )
    table = ng.analyze("spans", data, same_text=True)
    found = next(r for r in table if r["measure"] == "severity")
    assert (found["n"], found["value"]) == (1, 0.5)
    assert (
        "1 annotations repeat a text that the annotator saw from another system: the first one counts." in table.notes
    )


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(NlgaugeError, match="draws= must be at least 1; got 0"):
        ng.analyze("spans", data_of(many(np.random.default_rng(1), ("ann", "bob"))), draws=0)
    with pytest.raises(NeedsMissing, match="there are no error spans"):
        ng.analyze("spans", ng.example())
    lone: list[Marked] = [("A", "1", "ann", 4, 9, "major"), ("A", "2", "bob", 4, 9, "major")]
    with pytest.raises(NeedsMissing, match="agreement requires outputs with two annotators"):
        ng.analyze("spans", data_of(lone))
    marks: list[Marked] = [("A", "1", "ann", 4, 9, "major"), ("A", "1", "bob", None, None, "major"),
                           ("A", "1", "bob", 5, 5, "minor"), ("A", "1", "bob", 1, 3, "neutral"),
                           ("ref", "1", "ann", 1, 3, "minor"), ("ref", "1", "bob", 1, 3, "minor")]  # fmt: skip
    data = data_of(marks)
    source = pl.DataFrame([("A", "1", "ann", "source", 0, 2, "major", None)], schema=Dataset.SPANS, orient="row")
    data = replace(data, spans=pl.concat([data.spans, source]))
    assert ng.analyze("spans", data).notes == [
        "1 spans are in the source and ignored: only spans in the output are compared.",
        "1 errors have no position and are ignored.",
        "1 spans are empty (start = end) and count in gamma only.",
        "1 neutral remarks are not errors and are ignored.",
        "human-written outputs are excluded: ref.",
    ]
    kept = ng.analyze("spans", data, keep_human=True)
    assert kept.rows[0]["n"] == 2
    assert not [note for note in kept.notes if "human" in note]


def test_critical_is_major_for_the_credit_and_itself_by_severity() -> None:
    marks: list[Marked] = [("A", "1", "ann", 4, 9, "critical"), ("A", "1", "bob", 4, 9, "major")]
    table = ng.analyze("spans", data_of(marks))
    values = {r["measure"]: r["value"] for r in table if r["measure"] != "gamma"}
    assert values == {"any": 1.0, "severity": 1.0, "critical": 0.0, "major": 0.0}


def test_gamma_is_left_out_where_it_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nlgauge.analyses.agreement.spans.MAX_UNITS", 5)
    table = ng.analyze("spans", data_of(many(np.random.default_rng(1), ("ann", "bob"))))
    found = next(r for r in table if r["measure"] == "gamma")
    assert np.isnan(found["value"])
    assert found["reason"].startswith("gamma requires at most 5 spans per annotator")
