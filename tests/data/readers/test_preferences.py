"""Rankings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nlgauge as ng


def test_an_order_is_all_its_pairs(samples: Path) -> None:
    data = ng.load(samples / "preferences.csv")
    assert data.comparisons.filter(rater="a1", input="i1").drop("rater").rows() == [
        ("i1", "A", "B", "fluency", "first"),
        ("i1", "A", "C", "fluency", "first"),
        ("i1", "B", "C", "fluency", "tie"),
    ]
    assert data.ratings.filter(rater="a1", input="i1").select("system", "value").rows() == [
        ("A", -1),
        ("B", -2.5),
        ("C", -2.5),
    ]
    assert "higher is better" in data.notes[0]


def test_ranks_in_columns_are_read_one_is_best(samples: Path) -> None:
    data = ng.load(samples / "ranks.csv")
    assert data.systems == ["Alpha", "Beta", "Gamma"]
    assert data.comparisons.filter(input="1", rater="r2")["preferred"].to_list() == ["second", "tie", "first"]
    assert data.comparisons.filter(input="2").rows() == [("2", "Alpha", "Beta", "preference", "r1", "second")]
    assert data.samples["source"].to_list()[0] == "Ein Satz"


def test_columns_named_by_systems_are_ranks_when_the_reader_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,worker,BART,T5\n1,w,1,2\n2,w,2,1\n")
    assert ng.load(path, reader="preferences").comparisons["preferred"].to_list() == ["first", "second"]


def test_rankings_of_early_wmt_campaigns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "wmt.csv"
    path.write_text(
        "srcIndex,segmentId,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank\n"
        "9,9,j1,cu,uedin,jhu,2,1,-1\n"
    )
    assert ng.load(path).comparisons.rows() == [("9", "cu", "uedin", "preference", "j1", "second")]


@pytest.mark.parametrize("ranking", ['["B", "A"]', '[["B"], ["A"]]', "B>A"])
def test_lists_are_orders_too(tmp_path: Path, ranking: str) -> None:
    path = tmp_path / "r.csv"
    quoted = ranking.replace('"', '""')
    path.write_text(f'doc_id,ranking\n1,"{quoted}"\n')
    assert ng.load(path).comparisons.rows() == [("1", "B", "A", "preference", None, "first")]


@pytest.mark.parametrize("wrong", ["A > A", "A >", "> B", "[1, 2]", "[[]"])
def test_a_wrong_order_is_named(edited: Callable[..., Path], refused: Callable[..., str], wrong: str) -> None:
    message = refused(edited("preferences.csv", lambda text: text.replace("B > A > C", f'"{wrong}"')))
    assert message.startswith("preferences.csv, line 3, column 'ranking'")


def test_damage_is_named(samples: Path, edited: Callable[..., Path], refused: Callable[..., str]) -> None:
    path = edited("ranks.csv", lambda text: text.replace("1,r2,Ein Satz,2", "1,r2,Ein Satz,two"))
    assert "ranks.csv, line 3, column 'rank_Alpha': found 'two', expected a number" in refused(path)
    path = edited("ranks.csv", lambda text: text.replace("2,r1,", ",r1,"))
    assert "ranks.csv, line 4, column 'doc_id': is empty, expected a name." in refused(path)
    path.write_text("doc_id,output\n1,x\n")
    assert "expected a column 'ranking', or rank_A, rank_B" in refused(path, reader="preferences")


def test_rows_without_a_ranking_make_no_choice(edited: Callable[..., Path]) -> None:
    assert ng.load(edited("preferences.csv", lambda text: text.replace("B > A > C", ""))).comparisons.height == 6
