"""Google MQM files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nlgauge as ng


def rows(path: Path, **options: str) -> dict[tuple[str, str, str | None], float]:
    return {(s, i, r): v for s, i, _, r, v in ng.load(path, **options).ratings.iter_rows()}


def test_errors_are_weighted_and_summed_per_rater(samples: Path) -> None:
    assert rows(samples / "mqm.tsv") == {
        ("Alpha", "talk.1:11", "rater1"): pytest.approx(-5.1),
        ("Alpha", "talk.1:11", "rater2"): 0.0,
        ("Alpha", "talk.1:12", "rater1"): 0.0,
        ("Alpha", "talk.1:12", "rater2"): -1.0,
        ("Beta", "talk.1:11", "rater1"): -25.0,
        ("Beta", "talk.1:11", "rater2"): -5.0,
        ("Beta", "talk.1:12", "rater1"): 0.0,
    }


def test_weights_and_direction_are_said(samples: Path) -> None:
    data = ng.load(samples / "mqm.tsv")
    assert data.persons
    assert "higher is better" in data.notes[0]
    assert "major 5, minor 1, neutral 0, no-error 0, minor fluency/punctuation 0.1, non-translation 25" in data.notes[0]
    assert "1 segments were marked unrateable by an annotator; they have no score by that annotator" in data.notes


def test_marks_are_taken_out_and_quotes_are_kept(samples: Path) -> None:
    data = ng.load(samples / "mqm.tsv")
    assert data.samples["output"].to_list() == ["Es regnen.", '"Geh!" sagte er.', "Blau.", '"Los!", sagte er.']
    assert data.samples.filter(system="Beta", input="talk.1:11")["source"].item() == "It rains."


def test_newer_files_are_read_without_tests_and_metadata_rows(samples: Path) -> None:
    assert rows(samples / "mqm_2023.tsv") == {
        ("Alpha", "news:en-de:7", "r-a"): -1.0,
        ("Alpha", "news:en-de:8", "r-b"): 0.0,
        ("Beta", "news:en-de:7", "r-a"): -5.0,
    }
    data = ng.load(samples / "mqm_2023.tsv")
    assert len(data) == 4  # the output that nobody rated is kept, the canary is not
    assert data.notes[1:] == ("1 attention tests were left out", "1 rows without an annotator were left out")


def test_average_files_give_one_score_and_none_is_missing(samples: Path) -> None:
    data = ng.load(samples / "mqm_x.avg_seg_scores.tsv")
    assert (len(data), data.ratings.height, data.raters, data.human_systems) == (6, 4, [], {"ref.A"})
    assert rows(samples / "mqm_x.avg_seg_scores.tsv")["Alpha", "1", None] == -2.55


def test_other_weights_can_be_said(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    path = edited("mqm.tsv", lambda text: text.replace("Grammar\tMajor", "Grammar\tCritical"))
    assert refused(path) == (
        "mqm.tsv, line 2, column 'severity': found 'critical', which has no weight. Severities: major, minor, neutral, "
        "no-error. Set its weight: weights='critical=5'."
    )
    assert rows(path, weights="critical=10,punctuation=0.5")["Alpha", "talk.1:11", "rater1"] == -10.5
    assert "expected pairs" in refused(path, weights="critical")
    assert "expected a number" in refused(path, weights="critical=much")


def test_a_constant_segment_number_is_not_used(edited: Callable[..., Path]) -> None:
    path = edited("mqm.tsv", lambda text: text.replace("\t11\t", "\t0\t").replace("\t12\t", "\t0\t"))
    assert ng.load(path).inputs == ["talk.1:1", "talk.1:2"]


HOSTILE: list[tuple[Callable[[str], str], str]] = [
    (lambda t: t + "Alpha\ttalk\n", "mqm.tsv, line 11: found 2 fields, the header has 9."),
    (lambda t: t.split("\n")[0] + "\n", "mqm.tsv: has a header but no rows."),
    (lambda t: t.replace("doc_id\tseg_id", "x\ty"), "line 1: no column 'seg_id' or 'globalSegId'. Columns: system"),
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: Callable[[str], str], line: str
) -> None:
    assert line in refused(edited("mqm.tsv", change))


def test_a_missing_column_is_named(edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    path = edited("mqm.tsv", lambda text: text.replace("severity", "weight"))
    assert "no column 'severity'. Columns: system, doc" in refused(path, reader="mqm")


def test_broken_averages_are_named(tmp_path: Path, refused: Callable[..., str]) -> None:
    path = tmp_path / "avg.tsv"
    path.write_text("system mqm_avg_score seg_id\nAlpha -1 1\nAlpha x 2\n")
    assert refused(path) == "avg.tsv, line 3, column 'mqm_avg_score': found a text ('x'), expected a number (or null)."
    path.write_text("system mqm_avg_score seg_id\nAlpha -1\n")
    assert refused(path) == "avg.tsv, line 2: found 2 fields, expected 3 (system, score, segment)."


def test_another_target_of_the_same_segment_is_counted(edited: Callable[..., Path]) -> None:
    path = edited(
        "mqm.tsv", lambda text: text.replace("rater2\tIt rains.\tEs regnen.", "rater2\tIt rains.\tEs schneit.")
    )
    assert any("a target text that differs" in note for note in ng.load(path).notes)
