"""mt-metrics-eval v2 folders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from nlgauge.data.readers.mt_metrics_eval import read_levels


@pytest.fixture
def folder(samples: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(samples / "wmt99", tmp_path / "wmt99"))


def value(frame: pl.DataFrame, column: str, **where: str) -> float | None:
    found: float | None = frame.filter(**where)[column].item()
    return found


def test_segments_become_the_dataset(samples: Path) -> None:
    data = ng.load(samples / "wmt99")
    assert (data.systems, len(data.inputs), data.aspects) == (["Alpha", "Beta", "refA"], 4, ["mqm"])
    assert data.metrics == ["QE-src", "chrF-refA"]
    assert data.human_systems == {"refA"}
    assert value(data.scores, "chrF-refA", system="Beta", input="2") == 28.5
    assert value(data.scores, "chrF-refA", system="refA", input="2") is None
    assert value(data.ratings, "value", system="Beta", input="3") == -25
    assert data.ratings.height == 9  # None is no rating
    last = data.samples.row(by_predicate=(pl.col("system") == "Beta") & (pl.col("input") == "3"), named=True)
    assert (last["output"], last["domain"], last["doc"]) == ("", "novel", "book-7")
    assert last["references"] == ["Er sagte: „nie wieder“."]


def test_a_reference_is_not_its_own_reference(samples: Path) -> None:
    data = ng.load(samples / "wmt99")
    assert data.samples.filter(system="refA")["references"].list.len().to_list() == [0, 0, 0, 0]


def test_scores_of_systems_domains_and_documents_are_not_lost(samples: Path) -> None:
    levels = read_levels(samples / "wmt99")
    assert value(levels, "score", level="sys", name="BLEU-refA", system="Beta") == 9.5
    assert value(levels, "score", level="domain", system="Alpha", part="novel") == -0.55
    assert value(levels, "score", level="domain", system="Beta", part="novel") is None
    assert value(levels, "score", level="doc", system="Beta", part="book-7") == -15
    assert levels.group_by("level").len().sort("level").rows() == [("doc", 4), ("domain", 4), ("sys", 7)]
    assert "read_levels" in ng.load(samples / "wmt99").notes[0]


def test_the_path_of_the_pair_and_the_option_choose_it(folder: Path, refused: Callable[..., str]) -> None:
    (folder / "sources" / "de-en.txt").write_text("Hallo.\n")
    (folder / "system-outputs" / "de-en").mkdir()
    (folder / "system-outputs" / "de-en" / "Gamma.txt").write_text("Hello.\n")
    assert refused(folder) == (
        f"wmt99: has several language pairs; choose with lp='…' or the path {'wmt99'}/de-en. Pairs: de-en, en-de."
    )
    assert "has no language pair 'fr-en'" in refused(folder, lp="fr-en")
    assert ng.load(folder, lp="de-en").systems == ["Gamma"]
    assert len(ng.load(folder / "en-de")) == 12
    assert ng.load(folder / "de-en").samples["references"].to_list() == [[]]


def test_rating_files_give_error_spans(samples: Path) -> None:
    """The files follow what `WriteRatingFile` of mt_metrics_eval/ratings.py (25fc1fe) writes, one in its older form; they
    were made by a shortened transcription of it, because the package cannot be installed from the registry.
    """
    data = ng.load(samples / "wmt99")
    text = data.samples.filter(system="Beta", input="1")["output"].item()
    marks = data.spans.filter(system="Beta", input="1").select("rater", "start", "end", "severity", "category").rows()
    assert [(who, text[start:end], *words) for who, start, end, *words in marks] == [
        ("gpt-spans", "verlässt Mittag", "major", None),
        ("rater1", "verlässt", "major", "Accuracy/Mistranslation"),
        ("rater1", "Fähre", "minor", "Fluency/Grammar"),
    ]
    assert data.models == {"gpt-spans"}
    assert data.spans.filter(input="2")["rater"].unique().to_list() == ["gpt-spans"]  # None: not looked at
    source = data.spans.filter(side="source").row(0, named=True)
    assert (source["system"], source["input"], source["start"], source["end"]) == ("Beta", "3", 0, 23)
    assert data.spans.filter(system="refA", rater="rater1").row(0)[4:] == (None, None, None, None)


def test_a_name_that_two_rating_files_share_may_be_two_persons(folder: Path) -> None:
    shutil.copy(folder / RATING, folder / "human-scores" / "en-de.esa.seg.rating")
    raters = set(ng.load(folder).spans["rater"])
    assert raters == {"gpt-spans", *(f"{name}:rater{k}" for name in ("esa", "mqm.merged") for k in (1, 2))}


RATING = "human-scores/en-de.mqm.merged.seg.rating"
HOSTILE = [
    ("system-outputs/en-de/Beta.txt", "one\ntwo\n", "Beta.txt: has 2 lines, the source has 4; lines must correspond."),
    ("documents/en-de.docs", "travel a\n", "documents/en-de.docs: has 1 lines, the source has 4."),
    ("documents/en-de.docs", "travel\n", "en-de.docs, line 1: found 1 fields, expected 2: 'travel'."),
    ("human-scores/en-de.mqm.seg.score", "Alpha\t1\n", "has 1 scores of 'Alpha', the source has 4 segments."),
    ("human-scores/en-de.mqm.seg.score", "Nobody\t1\n", "line 1: system 'Nobody' has no file in system-outputs."),
    ("human-scores/en-de.mqm.seg.score", "Alpha\tbad\n", "line 1: found 'bad', expected a number or None."),
    ("metric-scores/en-de/X-src.word.score", "Alpha\t1\n", "level 'word' in the file's name"),
    (RATING, "Alpha\tNone\n", "has 1 ratings of 'Alpha', the source has 4 segments."),
    (RATING, "Nobody\tNone\n", "line 1: system 'Nobody' has no file in system-outputs."),
    (RATING, "Alpha None\n", "line 1: found 1 fields, expected 2 or 3 between tabs: 'Alpha None'."),
    (RATING, 'Alpha\t{"errors": [{"start": 0, "end": 99}]}\n', "item 1: a span ends at 99, its text has 24 characters."),
    (RATING, "Alpha\t[]\n", "line 1: found list, expected one JSON object per line."),
    (RATING, "Alpha\t{\n", "line 1: invalid JSON"),
    ("human-scores/en-de.mqm.doc.rating", "Alpha\tNone\n", "level 'doc' in the file's name; expected NAME.seg.rating."),
]  # fmt: skip


@pytest.mark.parametrize(("file", "content", "line"), HOSTILE)
def test_damage_is_named(folder: Path, refused: Callable[..., str], file: str, content: str, line: str) -> None:
    (folder / file).write_text(content)
    assert line in refused(folder)


def test_a_missing_piece_is_named(folder: Path, refused: Callable[..., str]) -> None:
    shutil.rmtree(folder / "system-outputs" / "en-de")
    assert "no SYSTEM.txt in it" in refused(folder)
    (folder / "sources" / "en-de.txt").unlink()
    assert "no sources/SRC-TGT.txt; expected" in refused(folder)


def test_scores_of_whole_systems_alone_leave_texts(folder: Path) -> None:
    shutil.rmtree(folder / "metric-scores")
    shutil.rmtree(folder / "human-scores")
    shutil.rmtree(folder / "documents")
    shutil.rmtree(folder / "references")
    data = ng.load(folder)
    assert (len(data), data.aspects, data.metrics, data.notes) == (12, [], [], ())
