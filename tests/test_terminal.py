"""Tables on terminals of several widths: nothing is broken, names stand whole, what is left out is named."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

import pytest
from rich.console import Console

import nlgauge as ng
from nlgauge import registry
from nlgauge.data.example import ASPECT, METRICS, example_rows
from nlgauge.errors import NlgaugeError
from nlgauge.session import Session
from nlgauge.table import Layout, Table, joined
from nlgauge.terminal import shown
from test_api import answered

LONG = [
    "bleurt-0.2",
    "bertscore(model='microsoft/deberta-xlarge-mnli',layer=40)",
    "comet-22_wmt22-comet-da",
    "geval-gpt-4-turbo-2024-04-09_coherence_with_reasoning",
    "roberta-large_L17_no-idf_version=0.3.12",
]
SECOND = "consistency_with_the_source_document"
PASSES = "passes_all_house_rules"


# Fewer draws than a user gets, because the number of draws changes no word.
FEW: dict[str, dict[str, Any]] = {
    "labels-needed": {"trials": 5},
    "measures": {"draws": 40, "trials": 30, "redraws": 2},
    "plan": {"trials": 5},
    "robustness": {"sample": 10, "draws": 40},
    "stability": {"draws": 60, "trials": 40},
}


@cache
def selection(kind: str) -> Session:
    """The example as it is, or with long names, a second aspect and one of pass and fail."""
    if kind == "example":
        return Session(ng.example())
    rows = []
    for n, row in enumerate(example_rows()):
        kept = {k: v for k, v in row.items() if k not in METRICS}
        scores = {new: row[old] for new, old in zip(LONG, METRICS, strict=True)}
        extra = {SECOND: (row[ASPECT] + n % 3) / 2} if kind == "long" else {PASSES: float(row[ASPECT] >= 3 + n % 2)}
        rows.append({**(kept if kind == "long" else {k: v for k, v in kept.items() if k != ASPECT}), **extra, **scores})
    human = [ASPECT, SECOND] if kind == "long" else [PASSES]
    return Session(ng.load(rows, human=human, metrics=LONG))


def on_screen(table: Table, width: int) -> str:
    screen = Console(width=width, no_color=True, file=io.StringIO(), highlight=False)
    screen.print(table)
    return screen.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def pieces(text: str) -> set[str]:
    return {piece for piece in re.split(r"[\s|─]+", text) if piece}


def said(table: Table) -> set[str]:
    """Every word that the table has to say, unbroken."""
    header, body = table.grid()
    texts = [*table.headlines, table.title, *header, *(cell.text for cells in body for cell in cells), *table.remarks()]
    return pieces(" ".join(texts))


def check(table: Table, width: int) -> None:
    text = on_screen(table, width)
    too_long = [line for line in text.splitlines() if len(line) > width]
    assert not too_long
    own = {w for t in table.printed for w in said(t)} | pieces("in every row: left out at columns: nothing")
    own |= (
        {f"{w}{sign}" for w in own for sign in ",;:"}
        | {"·"}
        | {str(width), *"(a wider terminal or a CSV file shows all)".split()}
    )
    broken = pieces(text) - own
    assert not broken, broken
    names = {str(row["metric"]) for row in table if row.get("metric")} & {*LONG, *METRICS}
    header, _ = table.printed[0].grid()
    if any(head.startswith(("metric", "judge")) for head in header) and "left out" not in text:
        assert all(name in text for name in names)


@pytest.mark.parametrize("kind", ["example", "long", "verdicts"])
@pytest.mark.parametrize("name", registry.names("analysis"))
def test_every_analysis_prints_whole_words_at_80_120_and_200_columns(name: str, kind: str) -> None:
    if kind == "example":  # where each analysis has data and options that it can answer
        table = answered(name)
    else:
        try:
            table = selection(kind).analyze(name, **FEW.get(name, {}))
        except NlgaugeError as error:
            pytest.skip(f"refused: {error}")
    for width in (80, 120, 200):
        check(table, width)


def test_a_matrix_goes_on_below_with_all_columns_and_kin_together() -> None:
    text = on_screen(ng.correlate(ng.example()), 80)
    heads = [line.split() for line in text.splitlines() if line.startswith("metric ")]
    assert [head for line in heads for head in line[1:]] == ["r", "ρ", "τ"] * 4
    assert all(len(line) % 3 == 1 for line in heads)


def test_a_list_tells_constant_columns_once_and_names_those_left_out() -> None:
    rows = [
        {
            "metric": f"m{i}",
            "aspect": "fluency",
            "value": i / 9,
            "n": 7 * i,
            **{f"measured_{j}": 0.5 + i / 10 for j in range(8)},
        }
        for i in range(3)
    ]
    text = on_screen(Table("t", rows), 50)
    assert "in every row: aspect fluency" in text
    left = re.sub(r"\s+", " ", text).split("left out at 50 columns: ")[1]
    assert left.startswith("measured 3, measured 4") and "CSV" in left
    assert "value" in text.splitlines()[2] or "value" in text.splitlines()[1]


def test_names_longer_than_half_the_line_stand_above_their_values() -> None:
    name = "bertscore(model='microsoft/deberta-xlarge-mnli',layer=40)"
    rows = [{"metric": name, "measure": f"input {c}", "value": 0.5} for c in "abcdefgh"]
    lines = on_screen(Table("t", rows, Layout("metric", "measure", "value")), 60).splitlines()
    assert name in lines
    assert lines[lines.index(name) + 1].split() == ["0.500"] * 8


def test_the_title_of_groups_names_the_data_set_and_no_group() -> None:
    rows = [
        {"system": s, "input": i, "topic": "xy"[i % 2], "human_tone": (i * k) % 5, "bleu": i + k}
        for k, s in enumerate("ABC")
        for i in range(8)
    ]
    table = Session(ng.load(rows, name="set"), by=["topic"]).analyze("correlate")
    assert table.title == "set: correlate by topic"


def test_groups_print_as_one_table_with_the_groups_first() -> None:
    def part(dataset: str, aspect: str) -> Table:
        rows = [
            {"dataset": dataset, "metric": m, "aspect": aspect, "measure": "r", "value": v}
            for m, v in (("a", 0.1), ("b", 0.2))
        ]
        layout = Layout("metric", "measure", "value", best=lambda row: row["value"])
        return Table(
            f"set: {dataset}: agreement on {aspect}", rows, layout, kind="correlate", data="set", method="How."
        )

    parts = [part(d, a) for d in ("x", "y") for a in ("fluency", "sense")]
    table = joined(parts, ["dataset"])
    header, body = table.grid()
    assert (table.title, header) == ("set: correlate by dataset and aspect", ["dataset", "aspect", "metric", "r"])
    assert [[c.text for c in cells] for cells in body][2] == ["x", "sense", "a", "0.100"]
    assert [cells[3].best for cells in body] == [False, True] * 4  # the best of each group
    text = on_screen(table, 80)
    assert text.count("How.") == 1 and text.count("metric") == 1
    assert table.to_markdown().count("| dataset | aspect | metric | r |") == 1
    assert table.to_latex().count(r"\toprule") == 1
    assert len(joined(parts).printed) == 4


def test_small_print_that_tables_share_stands_once() -> None:
    rows = [{"metric": "a", "value": 0.5}]
    both = joined([Table("one", rows, method="How.", notes=["first"]), Table("two", rows, method="How.")])
    text = on_screen(both, 80)
    assert text.count("How.") == 1 and text.index("first") < text.index("two") < text.index("How.")


def test_bold_remains_and_colour_goes_with_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Console(width=80, file=io.StringIO(), force_terminal=True, highlight=False)
    screen.print(ng.correlate(ng.example()))
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[1m" in text and not re.search(r"\x1b\[[\d;]*3\d[;m]", text)


def test_a_headline_of_several_tables_stands_once() -> None:
    tables = [Table(name, [{"metric": name, "value": 0.5}], headlines=["2 % failed"]) for name in ("a", "b")]
    assert "\n".join(line.plain for line in shown(tables, 80)).count("2 % failed") == 1


def test_rows_whose_texts_find_no_room_stand_one_below_the_other() -> None:
    rows = [
        {"metric": m, "value": v, **{f"text_{k}": "whole " * 9 + m for k in range(4)}}
        for m, v in (("bleu", 0.5), ("chrf", 0.25))
    ]
    text = on_screen(Table("t", rows), 60)
    assert text.splitlines()[1:3] == ["bleu", "  value: 0.500"]
    assert all(text.count(f"  text {k}: whole") == 2 for k in range(4)) and "left out" not in text
