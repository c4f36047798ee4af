"""Readers on the published files themselves: shapes, and scores that their authors published beside them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import nlgauge as ng
from nlgauge.data.dataset import KEY

pytestmark = pytest.mark.real


def shape(data: ng.Dataset) -> tuple[int, int, int]:
    return len(data.systems), len(data.inputs), len(data)


@pytest.mark.parametrize(("pair", "expected"), [("ende", (14, 529, 7406)), ("zhen", (15, 529, 7935))])
def test_mqm_scores_from_marked_errors_equal_the_published_averages(
    real_data: Path, pair: str, expected: tuple[int, int, int]
) -> None:
    data = ng.load(real_data / "wmt_mqm" / f"mqm_ted_{pair}.tsv.gz")
    assert shape(data) == expected
    ours = data.ratings.group_by(KEY).agg(pl.col("value").mean())
    ours = ours.with_columns(pl.col("input").str.split(":").list.last())
    published = ng.load(real_data / "wmt_mqm" / f"mqm_ted_{pair}.avg_seg_scores.tsv").ratings
    # The references are spelled otherwise there: ref and refB for ref-A and ref-B.
    plain = pl.col("system").str.replace_all(r"\W", "").replace("ref", "refA")
    both = ours.with_columns(plain).join(published.with_columns(plain), on=KEY, how="inner")
    assert both.height == published.height == ours.height
    assert (both["value"] - both["value_right"]).abs().max() < 1e-6


@pytest.mark.parametrize(("name", "outputs", "mean"), [("cnndm", 235, 0.7436), ("xsum", 239, 0.4854)])
def test_qags_consistency_is_the_published_score(real_data: Path, name: str, outputs: int, mean: float) -> None:
    data = ng.load(real_data / "qags" / f"mturk_{name}.jsonl")
    published = pl.read_ndjson(real_data / "qags" / f"unieval_qags_{name}_predictions.jsonl")["human_consistency"]
    ours = data.ratings.filter(aspect="consistency")["value"]
    assert (ours - published).abs().max() == 0
    assert (len(ours), round(ours.mean(), 4)) == (outputs, mean)  # type: ignore[arg-type]
    assert data.ratings.filter(aspect="consistency (worker)").height == 3 * outputs


def test_summeval_experts_and_crowd(real_data: Path) -> None:
    data = ng.load(real_data / "summeval" / "summeval_12systems_individual_annotations.jsonl")
    assert shape(data) == (12, 100, 1200)
    assert len(data.aspects) == 8
    means = ng.load(real_data / "summeval" / "summeval_outputs_human_metrics.jsonl", reader="table")
    one = data.ratings.filter(aspect="coherence").group_by(KEY).agg(pl.col("value").mean())
    two = means.ratings.filter(aspect="coherence").group_by(KEY).agg(pl.col("value").mean())
    both = one.join(two, on=KEY)
    assert both.height == 1200
    assert (both["value"] - both["value_right"]).abs().max() < 1e-5


@pytest.mark.parametrize(("name", "rows"), [("stp1_rankME", 300), ("stp2_rankME_inf", 300), ("stp2_rankME_qual", 300)])
def test_rankme_rows_are_ratings_and_comparisons(real_data: Path, name: str, rows: int) -> None:
    data = ng.load(real_data / "rankme" / f"{name}.csv")
    assert shape(data) == (3, 100, 300)
    each = data.comparisons.group_by("aspect").len()["len"].to_list()
    assert set(each) == {3 * rows}
    assert set(data.ratings.group_by("aspect").len()["len"]) == {3 * rows}


def test_unieval_predictions(real_data: Path) -> None:
    data = ng.load(real_data / "bagel_sfhotel_sfrest" / "unieval_sfhot_predictions.jsonl")
    assert shape(data) == (1, 875, 875)
    assert data.metrics == ["unieval-naturalness", "unieval-informativeness", "unieval-overall"]
    x, y = data.scores["unieval-naturalness"], data.ratings.filter(aspect="naturalness")["value"]
    assert round(pl.DataFrame([x.alias("x"), y.alias("y")]).select(pl.corr("x", "y")).item(), 6) == 0.397428


def test_no_other_published_file_is_claimed(real_data: Path) -> None:
    """The plain tables among the published files stay plain tables."""
    from nlgauge import registry
    from nlgauge.data.peek import Peek

    claimed = set()
    for file in sorted(real_data.rglob("*")):
        if file.is_file():
            names = [n for n in registry.names("reader") if registry.get("reader", n).recognizes(Peek(file))]
            assert len(names) <= 1, (file.name, names)
            claimed |= {f"{file.parent.name}: {name}" for name in names}
    assert claimed == {
        "bagel_sfhotel_sfrest: unieval",
        "qags: qags",
        "rankme: rankme",
        "summeval: summeval",
        "usr_dialogue: unieval",
        "wmt_mqm: mqm",
        "ragchecker_meta: ragchecker",
        "judge_bench: judge-bench",
        "alt_test: alt-test",
    }
