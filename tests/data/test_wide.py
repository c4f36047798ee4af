"""Wide tables: what nlgauge writes as CSV or Parquet it reads back, and it says what such a table cannot hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import nlgauge as ng
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.tables.wide import NOBODY, wide_table, write_wide
from nlgauge.errors import DataError

SAMPLES = Path(__file__).resolve().parent / "samples"
NAMES = [
    "argilla_v1.json", "doccano", "doccano.jsonl", "label_studio.json", "mqm.tsv", "mqm_2023.tsv", "plain.csv",
    "preferences.csv",
    "qags.jsonl", "rankme.csv", "summeval.jsonl", "tidy.jsonl", "unieval_result.json", "wmt99",
]  # fmt: skip


def ordered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(sorted(frame.columns)).sort(pl.all())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_ratings_scores_and_texts_come_back(tmp_path: Path, name: str, suffix: str) -> None:
    data = ng.load(SAMPLES / name)
    write_wide(data, tmp_path / f"t.{suffix}")
    back = ng.load(tmp_path / f"t.{suffix}")
    assert (back.systems, back.inputs) == (data.systems, data.inputs)
    assert set(back.aspects) == set(data.aspects)
    assert set(back.metrics) == set(data.metrics)
    ratings = data.ratings.with_columns(pl.col("rater").fill_null(NOBODY)) if data.raters else data.ratings
    assert_frame_equal(ordered(back.ratings), ordered(ratings))
    scores = data.samples.select(KEY).join(data.scores, on=KEY, how="left")
    assert_frame_equal(ordered(back.scores), ordered(scores))
    for column in ("output", "source", "context"):
        if column in data.samples.columns:
            ours = data.samples.select(*KEY, pl.col(column).fill_null(""))
            assert_frame_equal(ordered(back.samples.select(*KEY, pl.col(column).fill_null(""))), ordered(ours))
    if "references" in data.samples.columns:
        ours = data.samples["references"].fill_null([]).to_list()
        assert back.samples["references"].fill_null([]).to_list() == ours


def test_what_it_cannot_hold_is_said() -> None:
    assert wide_table(ng.load(SAMPLES / "tidy.jsonl"))[1] == [
        "1 comparisons",
        "the reasons of 1 failed scores",
        "that 1 ratings have no annotator (written as 'anonymous')",
    ]  # fmt: skip; that less is better for ter its name says
    data = ng.load(SAMPLES / "tidy.jsonl", higher=["ter"])
    assert wide_table(data)[1][-1] == "that higher is better for ter (declare higher= when you read it)"
    unusual = data.with_scores({"mine": [1.0] * len(data)}).only_metrics(["mine"])
    said = wide_table(replace(unusual, lower=frozenset(["mine"])))[1][-1]
    assert said == "that lower is better for mine (declare lower= when you read it)"
    assert wide_table(ng.load(SAMPLES / "summeval.jsonl"))[1] == ["that annotator names do not identify persons"]
    assert wide_table(ng.load(SAMPLES / "plain.csv"))[1] == []


def test_comparisons_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has only comparisons, which a wide table cannot"):
        write_wide(ng.load(SAMPLES / "arena.jsonl"), tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_other_columns_are_not_mistaken_for_scores_or_raters(tmp_path: Path) -> None:
    samples = pl.DataFrame(
        {
            "system": ["A", "B"],
            "input": ["1", "1"],
            "year": [2001, 2002],
            "user": ["x", "y"],
            "metric": ["m", "m"],
            "text": ["not an output", "nor this"],
            "tags": [["a"], ["b", "c"]],
        }
    )
    ratings = pl.DataFrame(
        [("A", "1", "beauty", None, 4.0), ("B", "1", "beauty", None, 2.0)], schema=Dataset.RATINGS, orient="row"
    )
    for suffix in ("csv", "parquet"):
        write_wide(Dataset.of("x", samples, ratings=ratings), tmp_path / f"x.{suffix}")
        back = ng.load(tmp_path / f"x.{suffix}")
        assert (back.metrics, back.raters, back.aspects) == ([], [], ["beauty"])
        assert "output" not in back.samples.columns


def test_inputs_of_several_sets_keep_their_names(tmp_path: Path) -> None:
    rows = [
        {"dataset": d, "system": s, "id": i, "coherence": n}
        for n, (d, s, i) in enumerate((d, s, i) for d in "xy" for s in "AB" for i in "12")
    ]
    data = ng.load(rows, name="two")
    assert data.inputs == ["x: 1", "x: 2", "y: 1", "y: 2"]
    write_wide(data, tmp_path / "two.csv")
    assert ng.load(tmp_path / "two.csv").inputs == data.inputs


def test_texts_with_marks_of_csv_come_back(tmp_path: Path) -> None:
    texts = ['a,"b"', "line\nbreak", "", " blank ", "ß\t→"]
    samples = pl.DataFrame({"system": ["A"] * 5, "input": [str(i) for i in range(5)], "output": texts})
    ratings = samples.select(
        *KEY, pl.lit("q").alias("aspect"), pl.lit(None, pl.String).alias("rater"), pl.lit(1.0).alias("value")
    )
    write_wide(Dataset.of("x", samples, ratings=ratings), tmp_path / "x.csv")
    assert ng.load(tmp_path / "x.csv").samples["output"].fill_null("").to_list() == texts
