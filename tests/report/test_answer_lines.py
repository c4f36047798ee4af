"""The answer on a terminal: at most 18 lines of 80 columns, with the words and badges of the answer and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.report.answer import ReportAnswer
from nlgauge.report.answer_lines import MAX_LINES, SHORT_USES, answer_lines

LONG = "bertscore(model='microsoft/deberta-xlarge-mnli')"


@pytest.fixture(scope="module")
def answer() -> ReportAnswer:
    return ng.report(ng.example(), quick=True).answer


@pytest.fixture(scope="module")
def judge() -> ReportAnswer:
    rng = np.random.default_rng(3)
    labels = rng.random(200) < 0.7
    rows = [{"id": k, "label": int(good), "judge": int(good == (rng.random() < 0.85))} for k, good in enumerate(labels)]
    return ng.report(ng.load(rows, human=["label"], metrics=["judge"]), quick=True).answer


def many(answer: ReportAnswer, aspects: int = 1, metrics: int = 1, name: str = "") -> ReportAnswer:
    """The same answer, as of more aspects and metrics."""
    one = answer.aspects[0]
    every = [replace(m, metric=f"{name or m.metric}{n or ''}") for n in range(metrics) for m in one.metrics]
    return replace(answer, aspects=[replace(one, about=f"{one.about}{n or ''}", metrics=every) for n in range(aspects)])


def table_of(lines: list[str], head: str = "metric ") -> list[str]:
    """The head of the table and all lines below it."""
    assert any(line.startswith(head) for line in lines)
    return lines[len(lines) - lines[::-1].index("") :]  # a blank line is above it


def row_of(lines: list[str], name: str) -> str:
    table = lines[len(lines) - lines[::-1].index("") :]  # a blank line is above it
    return next(line for line in table if line.startswith(f"{name} "))


def below(head: str, line: str, column: str) -> str:
    """What is in a line below a head."""
    start = head.rindex(f"  {column}") + 2
    return line[start : start + 14].strip()


@pytest.mark.parametrize(
    ("aspects", "metrics", "name"), [(1, 1, ""), (1, 9, ""), (8, 9, ""), (30, 2, ""), (1, 2, LONG), (4, 1, LONG)]
)
def test_the_answer_has_at_most_18_lines_of_80_columns_and_whole_names(
    answer: ReportAnswer, aspects: int, metrics: int, name: str
) -> None:
    large = many(answer, aspects, metrics, name)
    lines = answer_lines(large, 80)
    assert len(lines) <= MAX_LINES == 18 and max(map(len, lines)) <= 80
    first = large.aspects[0].metrics[0].metric
    assert any(first in line for line in lines[2:])


def test_the_words_and_the_marks_are_those_of_the_answer(answer: ReportAnswer) -> None:
    lines, one = answer_lines(answer, 140), answer.aspects[0]
    assert one.sentences[""] in " ".join(lines) and answer.evaluated in " ".join(lines)
    head = table_of(lines)[0]
    assert "  pairwise accuracy  " in head and "95% CI" in one.sentences[""]
    for m in one.metrics:
        line = row_of(lines, m.metric)
        assert f" {m.value:.2f} [{m.low:.2f}, {m.high:.2f}] " in line
        for use in one.uses:
            assert below(head, line, SHORT_USES.get(use, use)) == m.marks[use].badge


@pytest.mark.parametrize("width", [80, 120, 140])
def test_baselines_have_a_row_with_their_value_on_the_axis(answer: ReportAnswer, width: int) -> None:
    lines = answer_lines(answer, width)
    value = answer.aspects[0].baselines["output length"]
    row, head = row_of(lines, "output length"), table_of(lines)[0]
    assert f" {value:.2f} (baseline)" in row
    axis = head.index("0.5 "), head.index("0.75 ")
    assert axis[0] < row.index("•") < axis[1]  # 0.59


@pytest.mark.parametrize("width", [120, 140])
def test_an_interval_is_drawn_where_it_is(answer: ReportAnswer, width: int) -> None:
    lines = answer_lines(answer, width)
    half = table_of(lines)[0].index(" 0.5 ") + 1
    for m in answer.aspects[0].metrics:
        assert m.low is not None and m.high is not None
        start, point, end = (row_of(lines, m.metric).index(sign) for sign in "├●┤")
        assert start < point < end
        assert (start < half) == (m.low < 0.5) and (end < half) == (m.high < 0.5)
    points = [row_of(lines, name).index("●") for name in ("unigram_f1", "length_ratio", "random")]
    assert points == sorted(points, reverse=True) and len(set(points)) == 3


@pytest.mark.parametrize("width", [80, 100, 120, 160])
def test_what_has_no_room_is_left_out_whole(answer: ReportAnswer, width: int) -> None:
    lines, one = answer_lines(many(answer, metrics=3), width), answer.aspects[0]
    assert max(map(len, lines)) <= width and len(lines) == MAX_LINES  # no line is wasted
    head, *rows = table_of(lines)
    rows = [row for row in rows if not row.startswith("Columns on the page")]
    shown = [use for use in one.uses if f"  {SHORT_USES.get(use, use)}" in head]
    assert shown == one.uses[: len(shown)] and "rank systems" in shown
    left = int(rows[-1].removesuffix(" more metrics on the page"))
    assert left + len(rows) - 2 == 15 and "(baseline)" in rows[-2]


def test_the_badges_are_below_their_heads_when_names_are_short(answer: ReportAnswer) -> None:
    one = answer.aspects[0]
    short = [replace(m, metric=f"m{n}") for n, m in enumerate(one.metrics)]
    for names in ("a", "ab"):
        lines = answer_lines(replace(answer, aspects=[replace(one, about=n, metrics=short) for n in names]), 130)
        head, *rows = table_of(lines, "metric " if len(names) == 1 else "best metric ")
        for row, m in zip(rows, short if len(names) == 1 else short[:1] * 2, strict=False):
            assert below(head, row, "rank systems") == m.marks["rank systems"].badge


def test_one_judge_has_its_statistics_and_the_majority_baseline(judge: ReportAnswer) -> None:
    lines, one = answer_lines(judge, 80), judge.aspects[0].metrics[0]
    head, *rows = table_of(lines, "judge ")
    assert "value [95% CI]" in head and max(map(len, lines)) <= 80
    names = ("recall on failures", "precision on failures", "recall on passes", "accuracy")
    marks: list[Any] = [one.marks["catch failures"], one.figures[names[1]]]
    marks += [one.marks["pass good answers"], one.figures["accuracy"]]
    for name, row, mark in zip(names, rows, marks, strict=False):
        assert row.startswith(f"{name} ") and f"{mark.value:.2f} [{mark.low:.2f}, {mark.high:.2f}]" in row
        assert row.endswith(mark.badge or "┤")
    assert rows[-1].startswith('always "pass" ') and f"{one.figures['majority-class baseline'].value:.2f}" in rows[-1]


def test_changes_since_an_earlier_run_follow_the_conclusion(judge: ReportAnswer) -> None:
    lines = answer_lines(replace(judge, changes=["judge changed 3 of 200 verdicts."]), 80)
    assert lines.index("Since the earlier run, judge changed 3 of 200 verdicts.") > 1


def test_too_few_data_have_a_warning_and_no_picture(tmp_path: Path) -> None:
    rows = [
        {"system": s, "input": i, "quality": q, "bleu": q / 5}
        for s, i, q in zip("aabb", "1212", (1, 2, 3, 4), strict=True)
    ]
    lines = ng.report(ng.load(rows, human=["quality"], metrics=["bleu"]), out=tmp_path / "a.html", quick=True).lines
    assert " ".join(lines).lower().count("too few") == 1  # and not once more for the only aspect
    assert not any(sign in line for line in lines for sign in "├●┤") and "1.00" not in " ".join(lines)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 140])
def test_badges_come_before_the_axis_and_hidden_columns_are_named(answer: ReportAnswer, width: int) -> None:
    lines, one = answer_lines(answer, width), answer.aspects[0]
    head, hidden = (
        table_of(lines)[0].replace("pairwise accuracy", ""),
        " ".join(lines).partition("Columns on the page, for lack of room here: ")[2],
    )
    named = hidden.partition(".")[0].split(", ") if hidden else []
    shown = [SHORT_USES.get(use, use) for use in one.uses if f"  {SHORT_USES.get(use, use)}" in head]
    assert [*shown, *named] == [SHORT_USES.get(use, use) for use in one.uses]
    assert named or width >= 100
    assert any("├" in line for line in lines) or not named
