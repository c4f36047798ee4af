"""Result files in which nobody judged anything (tests/data/no_humans): no sentence about human ratings, no gate that passes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.data.card import card
from nlgauge.errors import DataError, NlgaugeError

FOLDER = Path(__file__).resolve().parent / "no_humans"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.name != "README.md")
ABOUT_HUMANS = re.compile(r"\b(people|humans?|persons?|annotators?|raters?)\b", re.I)
# How to declare human ratings, and that there are none, may be said.
HOW_TO_DECLARE = re.compile(
    r"\bhuman=|labels=|person_raters=|no human ratings|no person chose|nothing says that people|human_NAME"
    r"|without human judgments|there are no human votes: .* whose agreement with humans is unknown|known to be a human",
    re.I,
)


def answered(path: Path, folder: Path) -> list[str]:
    """Everything that `nlgauge run` says about a file, sentence by sentence: the card, the answer, or the refusal."""
    lines: list[str] = []
    try:
        data = ng.load(path)
        lines += [*card(data), *data.notes]
        report = ng.report(data, out=folder / "page.html", quick=True)
    except NlgaugeError as error:
        return [*lines, str(error)]
    sentences = [s for aspect in report.answer.aspects for s in aspect.sentences.values()]
    printed = re.split(r"(?<=[.;]) ", " ".join(report.lines))  # a sentence may be wrapped
    return [*lines, *printed, *sentences]


def claims(path: Path, folder: Path) -> list[str]:
    """What the answer says about humans, other than how to declare their ratings; and whether a gate passes."""
    lines = [line for line in answered(path, folder) if ABOUT_HUMANS.search(line) and not HOW_TO_DECLARE.search(line)]
    try:
        passed = ng.gate(path, min="kappa=.1").facts["verdict"] == "passed"
    except NlgaugeError:
        passed = False
    return [*lines, *(["the gate passes"] if passed else [])]


@pytest.mark.parametrize("name", FILES)
def test_no_sentence_is_about_human_ratings_and_no_gate_passes(name: str, tmp_path: Path) -> None:
    assert claims(FOLDER / name, tmp_path) == []


def test_every_file_has_its_origin_in_the_readme() -> None:
    named = set(
        re.findall(r"`([^`\s]+\.(?:csv|eval|jsonl?|score))`", (FOLDER / "README.md").read_text(encoding="utf-8"))
    )
    assert set(FILES) <= named
    assert len(FILES) >= 25


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mt_bench_judgment.jsonl", "is a list of MT-Bench judgments"),
        ("promptfoo.csv", "is the CSV export of promptfoo"),
        ("wmt_BLEU-refA.sys.score", "is a score file of the WMT metrics task"),
    ],
)
def test_what_is_not_a_table_of_outputs_is_called_by_its_name(name: str, kind: str) -> None:
    with pytest.raises(DataError) as error:
        ng.load(FOLDER / name)
    assert str(error.value).startswith(f"{FOLDER / name}: {kind}")


def test_a_grade_named_as_a_metric_is_read_from_a_file_that_is_refused_without() -> None:
    data = ng.load(FOLDER / "mt_bench_judgment.jsonl", metrics=["score"])
    assert (data.systems, data.metrics, data.aspects) == (["model-a", "model-b"], ["score"], [])
