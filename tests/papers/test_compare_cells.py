"""Published cells beside ours: what counts as equal, what a reason may and may not do, and what the scoreboard adds
up.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import nlgauge_papers as studies
from nlgauge.errors import DataError, NeedsMissing, NlgaugeError, NotHere
from nlgauge_papers import NeedsDownload, NeedsWeights, NeverPublished, Ours, Sources, Study
from nlgauge_papers.compare import (
    ABSENT,
    CHOSEN,
    DIFFERS,
    ELSEWHERE,
    EQUAL,
    EXCEPTIONS,
    HOLDS,
    LEFT,
    NEVER,
    OTHER,
    SLIP,
    WEIGHTS,
    WITH_SLIP,
    WITHIN,
    Printed,
    compare,
    only,
    scoreboard,
    verdict,
)


@pytest.mark.parametrize(
    ("printed", "ours", "expected"),
    [
        (".396", 0.3957, EQUAL),
        (".396", 0.3955, EQUAL),  # a tie may have been rounded either way
        (".396", 0.3965, EQUAL),
        (".396", 0.3954, WITHIN),
        ("0.30", 0.311, DIFFERS),
        ("−0.19", -0.1949, EQUAL),  # the paper's minus sign
        ("1,260", 1260.0, EQUAL),
        ("13", 12.0, DIFFERS),
        ("0.9", 0.91, EQUAL),  # printed with one decimal: more cannot be asked
        (".1", None, ABSENT),
        (".1", math.nan, ABSENT),
    ],
)
def test_a_cell_is_equal_when_it_rounds_to_what_is_printed(printed: str, ours: float | None, expected: str) -> None:
    assert verdict(Printed(("a",), printed), ours, tolerance=0.01) == expected


def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function, table: str = "1", tolerance: float = 0.01) -> Study:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(studies, "PAPERS", tmp_path)
    (tmp_path / "other2026" / "published").mkdir(parents=True, exist_ok=True)
    (tmp_path / "other2026" / "published" / f"{table}.csv").write_text(
        "metric,level,printed,mark\nBLEU,sample,.30,*\nBLEU,system,.50,\nTER,sample,-.10,\nSIM,sample,7,\n"
    )
    return Study("other2026", table, "a table", (), function, tolerance)


def test_a_reason_explains_every_cell_below_its_key_and_changes_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(sources: Sources) -> Ours:
        return Ours(
            {("BLEU", "sample"): 0.42, ("BLEU", "system"): 0.9, ("TER", "sample"): -0.1},
            {(): "no data", ("BLEU",): "smoothing", ("BLEU", "system"): "two systems", ("TER",): "unused"},
        )

    rows = compare(made(tmp_path, monkeypatch, ours), Sources()).rows
    assert [(r["verdict"], r["reason"]) for r in rows] == [
        (DIFFERS, "smoothing"),
        (DIFFERS, "two systems"),
        (EQUAL, ""),
        (ABSENT, "no data"),
    ]
    assert rows[0]["difference"] == pytest.approx(0.12)


def test_a_value_of_another_model_stands_beside_and_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(sources: Sources) -> Ours:
        return Ours(
            {("BLEU", "sample"): 0.3, ("BLEU", "system"): 0.9},
            {("BLEU",): "other weights"},
            other=dict.fromkeys([("BLEU", "sample"), ("BLEU", "system"), ("TER", "sample")], "other weights"),
        )

    study = made(tmp_path, monkeypatch, ours)
    table = compare(study, Sources())
    assert [r["verdict"] for r in table.rows] == [OTHER, OTHER, ABSENT, ABSENT]  # nothing is beside nothing
    assert scoreboard([(study, table)]).rows[0]["compared"] == 0


def test_a_cell_that_equals_only_with_the_papers_slip_shows_both_values_and_is_not_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal and merely near cells too: a slip never makes a cell worse, and one that does not give the print is
    none.
    """

    def ours(sources: Sources) -> Ours:
        values = {("BLEU", "sample"): 0.9, ("BLEU", "system"): 0.5, ("TER", "sample"): -0.11, ("SIM", "sample"): 9}
        slips = {("BLEU", "sample"): 0.3, ("BLEU", "system"): 0.7, ("TER", "sample"): -0.1, ("SIM", "sample"): 8}
        return Ours(values, {(): "rows exchanged"}, slips=slips)

    study = made(tmp_path, monkeypatch, ours)
    table = compare(study, Sources())
    assert [r["verdict"] for r in table.rows] == [SLIP, EQUAL, SLIP, DIFFERS]
    assert (table.rows[0]["ours"], table.rows[0][WITH_SLIP], table.rows[0]["reason"]) == (0.9, 0.3, "rows exchanged")
    assert WITH_SLIP in table.shown
    (line, _) = scoreboard([(study, table)]).rows
    assert (line[EQUAL], line[SLIP], line[DIFFERS], line["compared"]) == (1, 2, 1, 4)


def test_missing_data_is_said_in_every_cell_of_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ours(sources: Sources) -> Ours:
        raise NotHere("mans-wp cannot be loaded: published elsewhere")

    rows = compare(made(tmp_path, monkeypatch, ours), Sources()).rows
    assert {(r["verdict"], r["reason"]) for r in rows} == {(ELSEWHERE, "mans-wp cannot be loaded: published elsewhere")}


@pytest.mark.parametrize(
    ("error", "expected"), [(DataError("line 3 is damaged"), ABSENT), (NeedsMissing("needs the extra 'neural'"), LEFT)]
)
def test_a_damaged_file_or_a_missing_extra_is_not_called_published_elsewhere(
    error: NlgaugeError, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(sources: Sources) -> Ours:
        raise error

    rows = compare(made(tmp_path, monkeypatch, ours), Sources()).rows
    assert {(r["verdict"], r["reason"]) for r in rows} == {(expected, str(error))}


def test_why_a_cell_is_absent_is_a_verdict_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody can compute is not what the user has only not fetched, and not what needs weights."""

    def ours(sources: Sources) -> Ours:
        return Ours(
            {("SIM", "sample"): 7},
            {
                ("BLEU", "sample"): NeverPublished("draws"),
                ("BLEU", "system"): NeedsDownload("set"),
                ("TER",): NeedsWeights("w"),
                ("SIM",): NeverPublished("a reason changes no verdict on a value"),
            },
        )

    study = made(tmp_path, monkeypatch, ours)
    table = compare(study, Sources())
    assert [r["verdict"] for r in table.rows] == [NEVER, ELSEWHERE, WEIGHTS, EQUAL]
    (line, _) = scoreboard([(study, table)]).rows
    assert (line[NEVER], line[ELSEWHERE], line[WEIGHTS], line[ABSENT], line["compared"]) == (1, 1, 1, 0, 1)


def test_a_cell_whose_rater_was_picked_to_match_is_not_counted_as_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(sources: Sources) -> Ours:
        return Ours(
            {("BLEU", "sample"): 0.3, ("BLEU", "system"): 0.9},
            {("BLEU",): "picked"},
            chosen={("BLEU", "sample"), ("BLEU", "system")},
        )

    study = made(tmp_path, monkeypatch, ours)
    table = compare(study, Sources())
    assert [r["verdict"] for r in table.rows][:2] == [CHOSEN, DIFFERS]
    assert table.rows[0]["reason"] == "picked"
    (line, _) = scoreboard([(study, table)]).rows
    assert (line[EQUAL], line[CHOSEN], line["compared"]) == (0, 1, 1)


def test_claims_are_no_printed_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "PAPERS", tmp_path)
    (tmp_path / "other2026" / "published").mkdir(parents=True, exist_ok=True)
    (tmp_path / "other2026" / "published" / "claims.csv").write_text("claim,stated\nrises,3\nfalls,2\n")
    study = Study("other2026", "claims", "in words", (), lambda s: Ours({("rises",): 3, ("falls",): 1}), claims=True)
    table = compare(study, Sources())
    assert [r["verdict"] for r in table.rows] == [HOLDS, EXCEPTIONS]
    assert "printed" not in table.columns
    assert table.notes[0].startswith("2 claims")
    (line, _) = scoreboard([(study, table)]).rows
    assert (line["compared"], line[EQUAL], line[HOLDS], line[EXCEPTIONS]) == (0, 0, 1, 1)


def test_other_rules_stand_in_columns_of_their_own_and_are_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(sources: Sources) -> Ours:
        return Ours({("BLEU", "sample"): 0.9}, additional={"fitted rule": {("BLEU", "sample"): 0.3}})

    table = compare(made(tmp_path, monkeypatch, ours), Sources())
    assert (table.rows[0]["fitted rule"], table.rows[0]["verdict"]) == (0.3, DIFFERS)
    assert "fitted rule" in table.shown


def test_reasons_are_numbered_below_the_table_and_only_those_in_use_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(sources: Sources) -> Ours:
        return Ours({("BLEU", "sample"): 0.9, ("SIM", "sample"): 7}, {("BLEU",): "smoothing", ("TER",): "no shifts"})

    table = compare(made(tmp_path, monkeypatch, ours), Sources())
    assert [r["why"] for r in table.rows] == ["[1]", "[1]", "[2]", ""]
    assert table.notes[0] == "4 cells: 1 matches, 1 differs, 2 nothing to compute"
    assert table.rows[3]["ours"] == 7
    assert isinstance(table.rows[3]["ours"], int)  # a count prints as a count
    differing = only(table, [DIFFERS])
    assert [r["metric"] for r in differing.rows] == ["BLEU"]
    assert "[1] smoothing" in differing.notes
    assert not any("no shifts" in note for note in differing.notes)
    assert differing.notes[0] == table.notes[0]


def test_the_scoreboard_counts_per_table_and_adds_up_per_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def some(sources: Sources) -> Ours:
        return Ours({("BLEU", "sample"): 0.301, ("BLEU", "system"): 0.506, ("TER", "sample"): 0.1}, {("TER",): "sign"})

    compared = []
    for table in ("1", "2"):
        study = made(tmp_path, monkeypatch, some, table)
        compared.append((study, compare(study, Sources())))
    rows = scoreboard(compared).rows
    assert [r["table"] for r in rows] == ["other2026/1", "other2026/2", "other2026"]
    one, _, total = rows
    assert (one["cells"], one["compared"], one[EQUAL], one[WITHIN], one[DIFFERS], one[ABSENT]) == (4, 3, 1, 1, 1, 1)
    assert all(total[k] == 2 * one[k] for k in ("cells", "compared", EQUAL, WITHIN, DIFFERS, ABSENT))


def test_a_source_is_loaded_once_per_name_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, dict[str, str]]] = []

    def load_set(name: str, mirror: object = None, **options: str) -> str:
        asked.append((name, options))
        return name

    monkeypatch.setattr("nlgauge_papers.load_set", load_set)
    sources = Sources()
    for _ in range(2):
        sources("summeval")
        sources("wmt23-zh-en", domain="news")
    assert asked == [("summeval", {}), ("wmt23-zh-en", {"domain": "news"})]
