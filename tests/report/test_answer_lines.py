"""The answer on a terminal: at most 15 lines of 80 columns, with the words and marks of the answer and no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.report.answer import ReportAnswer
from nlgauge.report.answer_lines import MARKS, SHORT, answer_lines

LONG = "bertscore(model='microsoft/deberta-xlarge-mnli')"


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> ReportAnswer:
    return ng.report(ng.example(), tmp_path_factory.mktemp("answer") / "a.html", quick=True).answer


def many(answer: ReportAnswer, aspects: int = 1, metrics: int = 1, name: str = "") -> ReportAnswer:
    """The same answer, as of more aspects and metrics."""
    one = answer.aspects[0]
    every = [replace(m, metric=f"{name or m.metric}{n or ''}") for n in range(metrics) for m in one.metrics]
    return replace(answer, aspects=[replace(one, about=f"{one.about}{n or ''}", metrics=every) for n in range(aspects)])


@pytest.mark.parametrize(
    ("aspects", "metrics", "name"), [(1, 1, ""), (1, 9, ""), (8, 9, ""), (30, 2, ""), (1, 2, LONG), (4, 1, LONG)]
)
def test_the_answer_has_at_most_14_lines_of_80_columns_and_whole_names(
    answer: ReportAnswer, aspects: int, metrics: int, name: str
) -> None:
    large = many(answer, aspects, metrics, name)
    lines = answer_lines(large, 80)
    assert len(lines) <= 14 and max(map(len, lines)) <= 80
    first = large.aspects[0].metrics[0].metric
    assert any(first in line for line in lines[2:])


def test_the_words_and_the_marks_are_those_of_the_answer(answer: ReportAnswer) -> None:
    lines = answer_lines(answer, 80)
    one = answer.aspects[0]
    assert one.sentences[""] in " ".join(lines) and answer.evaluated in " ".join(lines)
    head = next(line for line in lines if line.startswith("metric ")).split()
    assert head[-len(one.uses) :] == [SHORT[use] for use in one.uses]
    for m in one.metrics:
        line = next(line for line in lines if line.startswith(m.metric + " ")).split()
        assert line[-len(one.uses) :] == [MARKS[m.marks[use].verdict] for use in one.uses]


def test_an_interval_is_drawn_where_it_is(answer: ReportAnswer) -> None:
    lines = answer_lines(answer, 80)
    zero = next(line for line in lines if line.startswith("metric ")).index("0")
    row = {m.metric: next(line for line in lines if line.startswith(m.metric + " ")) for m in answer.aspects[0].metrics}
    for m in answer.aspects[0].metrics:
        assert m.low is not None and m.high is not None
        start, point, end = (row[m.metric].index(sign) for sign in "├●┤")
        assert start < point < end
        assert (start < zero) == (m.low < 0) and (end < zero) == (m.high < 0)
    assert row["unigram_f1"].index("●") > row["length_ratio"].index("●") > row["random"].index("●")


@pytest.mark.parametrize("aspects", [1, 2])
def test_marks_stand_below_their_heads_when_names_are_shorter_than_the_word_metric(
    answer: ReportAnswer, aspects: int
) -> None:
    one = answer.aspects[0]
    short = [replace(m, metric=f"m{n}") for n, m in enumerate(one.metrics)]
    lines = answer_lines(
        replace(answer, aspects=[replace(one, about="ab"[n], metrics=short) for n in range(aspects)]), 80
    )
    head = next(line for line in lines if line.startswith(("metric ", "closest metric ")))
    rows = [line for line in lines if "●" in line]
    assert rows and all(row[head.index("rank") - 2 :].startswith("  ") for row in rows)
    assert all(row[head.index("rank") :].split()[0] in MARKS.values() for row in rows)
    assert all(row[head.index("rank")] != " " for row in rows)


def test_too_few_data_have_a_warning_and_no_picture(tmp_path: Path) -> None:
    rows = [
        {"system": s, "input": i, "quality": q, "bleu": q / 5}
        for s, i, q in zip("aabb", "1212", (1, 2, 3, 4), strict=True)
    ]
    lines = ng.report(ng.load(rows, human=["quality"], metrics=["bleu"]), tmp_path / "a.html", quick=True).lines
    assert " ".join(lines).lower().count("too few") == 1  # and not once more for the only aspect
    assert not any(sign in line for line in lines for sign in "├●┤") and "1.00" not in " ".join(lines)
