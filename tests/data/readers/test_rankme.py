"""RankME csv."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import nlgauge as ng


def test_magnitudes_are_ratings(samples: Path) -> None:
    data = ng.load(samples / "rankme.csv")
    assert (data.systems, data.inputs, data.aspects) == (
        ["slug", "shef", "base"],
        ["1", "2"],
        ["informativeness", "naturalness"],
    )
    assert data.ratings.filter(system="base", aspect="informativeness").select("input", "rater", "value").rows() == [
        ("1", "w1", 100),
        ("1", "w2", 120),
    ]
    assert data.persons
    assert data.samples["source"].to_list()[0] == "name[Gull], area[river]"
    assert data.samples["output"].to_list()[:2] == ["Gull is by the river.", "Gull is a pub."]


def test_the_order_in_a_row_is_comparisons(samples: Path) -> None:
    data = ng.load(samples / "rankme.csv")
    found = data.comparisons.filter(aspect="informativeness", rater="w1").select(
        "input", "first", "second", "preferred"
    )
    assert found.rows() == [
        ("1", "slug", "shef", "first"),
        ("1", "slug", "base", "tie"),
        ("1", "shef", "base", "second"),
        ("2", "slug", "shef", "second"),
    ]


def test_short_names_of_aspects_are_written_out(edited: Callable[..., Path]) -> None:
    data = ng.load(edited("rankme.csv", lambda t: t.replace("informativeness", "inf").replace("naturalness", "qual")))
    assert data.aspects == ["informativeness", "quality"]


def test_columns_left_aside_are_said(samples: Path) -> None:
    assert "columns not read: _trust" in ng.load(samples / "rankme.csv").notes


HOSTILE = [
    (("120", "many"), "rankme.csv, line 3, column 'informativeness3': found 'many', expected a number"),
    (("base\n0.9", "slug\n0.9"), "rankme.csv, line 3: a system occurs twice in this row (slug, shef, slug)."),
    (("slug,shef,base\n1", ",shef,base\n1"), "rankme.csv, line 2, column 'team1': is empty, expected a name."),
    (('Thai]",2,', 'Thai]",,'), None),  # without mr_id the mr itself is the input
]


@pytest.mark.parametrize(("change", "line"), HOSTILE)
def test_damage_is_named(
    edited: Callable[..., Path], refused: Callable[..., str], change: tuple[str, str], line: str | None
) -> None:
    path = edited("rankme.csv", lambda text: text.replace(*change, 1))
    if line is None:
        assert ng.load(path).inputs == ["1", "name[Ibis], food[Thai]"]
    else:
        assert line in refused(path)


def test_a_named_reader_says_what_it_misses(
    samples: Path, edited: Callable[..., Path], refused: Callable[..., str]
) -> None:
    assert "expected columns ref1, ref2, … Columns: system" in refused(samples / "plain.csv", reader="rankme")
    path = edited("rankme.csv", lambda t: t.replace("informativeness", "x").replace("naturalness1", "y"))
    assert ng.load(path).aspects == ["x"]
    text = "mr,ref1,ref2,team1,team2\nm,a,b,A,B\n"
    path.write_text(text)
    assert "no column of ratings such as quality1" in refused(path)
