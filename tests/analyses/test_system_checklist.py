"""Pairs of systems, wins, transfer and the page of verdicts, on small data worked by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from analysis_panels import by
from scipy.stats import ks_2samp, spearmanr
from small_datasets import dataset

from nlgauge.analyses.checklist.checklist import checklist
from nlgauge.analyses.checklist.easy_hard_pairs import system_pairs
from nlgauge.analyses.checklist.rater_rows import chosen_panel, rated_rows
from nlgauge.analyses.checklist.system_discrimination import system_discrimination
from nlgauge.analyses.checklist.system_preference import system_preference
from nlgauge.analyses.checklist.transfer import transfer
from nlgauge.analyses.checklist.wins import wins
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.errors import DataError, NameUnknown, NeedsMissing, NlgaugeError


def graded(systems: int = 4, inputs: int = 12, seed: int = 0) -> Dataset:
    """System k is rated about k + 1; `good` follows the ratings, `bad` turns them around, `flat` knows nothing."""
    rng = np.random.default_rng(seed)
    human = np.clip(np.arange(1, systems + 1)[:, None] + rng.integers(-1, 2, (systems, inputs)), 1, 5).astype(float)
    second = np.clip(human + rng.integers(-1, 2, human.shape), 1, 5)
    noise = rng.normal(0, 0.2, (3, systems, inputs))
    return dataset(
        {"quality": human, "charm": second}, {"good": human + noise[0], "bad": -human + noise[1], "flat": noise[2]}
    )


def pairs_of(data: Dataset, **options: Any) -> dict[str, set[tuple[int, int]]]:
    rows = rated_rows(chosen_panel(Choice(data, keep_human=True)))
    return {name: set(some) for name, some in system_pairs(rows, **options).groups.items()}


# --- pairs ---


def test_easy_pairs_are_far_apart_and_hard_ones_close() -> None:
    quality = [[1, 1], [1, 2], [4, 4], [5, 5]]  # means 1, 1.5, 4, 5
    found = pairs_of(dataset({"quality": quality}, {}))
    assert found == {"easy": {(0, 3), (1, 3)}, "hard": {(0, 1), (2, 3)}}


def test_pairs_can_be_all_or_given() -> None:
    data = graded()
    assert pairs_of(data, pairs="all") == {"all": set(combinations(range(4), 2))}
    assert pairs_of(data, pairs={"easy": [("s0", "s3")]}) == {"easy": {(0, 3)}}
    assert pairs_of(data, pairs=[["s1", "s0"]]) == {"given": {(1, 0)}}


@pytest.mark.parametrize(
    ("pairs", "error", "words"),
    [
        ([("s0", "s9")], NameUnknown, "system 's9' not found"),
        ([("s0", "s0")], NlgaugeError, "two different systems"),
        ("some", NlgaugeError, "must be all, a list of pairs"),
    ],
)
def test_wrong_pairs_are_named(pairs: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        pairs_of(graded(), pairs=pairs)


def test_two_systems_are_one_pair_and_one_system_is_none() -> None:
    assert pairs_of(graded(systems=2)) == {"all": {(0, 1)}}
    with pytest.raises(NeedsMissing, match="at least 2 systems"):
        pairs_of(graded(systems=1))


def test_people_among_the_systems_are_kept_only_when_asked() -> None:
    data = replace(graded(), human_systems=frozenset({"s3"}))
    with pytest.raises(NameUnknown, match="keep_human=True"):
        system_preference(data, pairs=[("s0", "s3")])
    table = system_preference(data, pairs=[("s0", "s3")], keep_human=True)
    assert by(table, "metric")["good"]["value"] == 1


# --- KS and order of systems ---


def test_distances_between_systems_are_scipys() -> None:
    data = graded()
    panel = data.panel("quality")
    found = by(system_discrimination(data, pairs={"x": [("s0", "s1"), ("s1", "s3")]}, draws=9), "metric")
    for name, values in (("good", panel.metrics["good"]), ("human: charm", panel.humans["charm"])):
        theirs = [ks_2samp(values[a], values[b]).statistic for a, b in ((0, 1), (1, 3))]
        assert found[name]["value"] == pytest.approx(np.mean(theirs))


def test_a_family_is_the_mean_of_its_metrics_and_people_are_one() -> None:
    data, options = graded(), {"pairs": "all", "draws": 9}
    single = by(system_discrimination(data, **options), "metric")
    found = by(system_discrimination(data, per="family", families={"both": ["good", "bad"]}, **options), "family")
    assert found["both"]["value"] == pytest.approx((single["good"]["value"] + single["bad"]["value"]) / 2)
    people = (single["human: quality"]["value"] + single["human: charm"]["value"]) / 2
    assert found["Human"]["value"] == pytest.approx(people)


def test_orders_of_two_systems_are_1_or_a_third_or_two_thirds() -> None:
    data = dataset(
        {"q": [[1, 2], [4, 5]]}, {"same": [[0, 1], [2, 3]], "other": [[2, 3], [0, 1]], "tie": [[1, 1], [1, 1]]}
    )
    found = by(system_preference(data), "metric")
    assert {name: round(row["value"], 3) for name, row in found.items()} == {"same": 1, "other": 0.333, "tie": 0.667}


def test_preference_is_averaged_over_aspects() -> None:
    data = dataset({"a": [[1, 2], [4, 5]], "b": [[5, 4], [1, 1]]}, {"m": [[0, 1], [2, 3]]})
    assert system_preference(data).rows[0]["value"] == pytest.approx(2 / 3)
    each = by(system_preference(data, per="aspect"), "pairs", "aspect")
    assert (each["all", "a"]["value"], round(each["all", "b"]["value"], 3)) == (1, 0.333)


# --- wins ---


def votes() -> Dataset:
    rows = [
        ("i1", "A", "B", "first"), ("i2", "A", "B", "first"), ("i3", "A", "B", "tie"), ("i1", "B", "A", "first"),
        ("i2", "B", "A", "second"),
    ]  # fmt: skip
    samples = pl.DataFrame([{"system": s, "input": f"i{k}"} for s in "AB" for k in (1, 2, 3)])
    comparisons = pl.DataFrame(
        [(i, a, b, "better", None, p) for i, a, b, p in rows], schema=Dataset.COMPARISONS, orient="row"
    )
    scores = samples.with_columns(pl.Series("m", [3.0, 1.0, None, 2.0, 1.0, 4.0]))
    return Dataset.of("votes", samples, comparisons=comparisons, scores=scores)


def test_votes_keep_the_order_in_which_people_saw_them() -> None:
    found = by(wins(votes()), "side", "first", "second")
    people = found["Human", "A", "B"]
    assert (people["value"], people["tied"], people["n"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3), 3)
    assert (found["Human", "B", "A"]["value"], found["Human", "B", "A"]["n"]) == (0.5, 2)
    # The metric votes in the same comparisons: A above B on i1, a tie on i2, no score on i3.
    metric = found["m", "A", "B"]
    assert (metric["value"], metric["tied"], metric["n"]) == (0.5, 0.5, 2)
    assert by(wins(votes(), merge=True), "side", "first", "second")["Human", "A", "B"]["value"] == 3 / 5


def test_a_metric_of_which_less_is_better_votes_the_other_way() -> None:
    found = by(wins(replace(votes(), lower=frozenset({"m"}))), "side", "first", "second")
    assert (found["m", "A", "B"]["value"], found["m", "B", "A"]["value"]) == (0, 0.5)


def test_ratings_are_compared_where_there_are_no_votes() -> None:
    data = dataset({"q": [[1, 3, 5], [2, 3, 1]]}, {"m": [[1, 1, 1], [0, 2, 0]]})
    found = by(wins(data), "side", "first", "second")
    assert found["Human", "s0", "s1"]["value"] == found["Human", "s0", "s1"]["tied"] == pytest.approx(1 / 3)
    assert found["m", "s0", "s1"]["value"] == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="there are no human pairwise comparisons"):
        wins(data, source="comparisons")


def test_without_a_choice_the_nearest_metric_stands_beside_people() -> None:
    assert {row["side"] for row in wins(graded(), aspect="quality")} == {"Human", "good"}
    assert {row["side"] for row in wins(graded(), aspect="quality", metrics=["bad", "flat"])} == {
        "Human",
        "bad",
        "flat",
    }


# --- transfer ---


def test_transfer_is_the_mean_over_aspects_metrics_and_sets_of_a_group() -> None:
    one, two, three = (replace(graded(seed=k), name=f"set{k}.csv") for k in range(3))
    groups = {"home": ["set0", "set1.csv"], "away": ["set2"]}
    found = by(transfer([one, two, three], groups=groups, per="metric"), "metric", "group")

    def theirs(data: Dataset) -> float:
        panel = data.panel("quality")
        values = [spearmanr(panel.metrics["good"].ravel(), panel.humans[a].ravel()).statistic for a in panel.humans]
        return float(np.mean(values))

    assert found["good", "home"]["value"] == pytest.approx((theirs(one) + theirs(two)) / 2)
    assert found["good", "away"]["value"] == pytest.approx(theirs(three))


def test_groups_may_be_said_in_four_ways() -> None:
    sets = [replace(graded(seed=k), name=f"set{k}") for k in range(2)]
    said = [
        {"ID": ["set0"], "shift": ["set1"]},
        {"set0": "ID", "set1": "shift"},
        [{"dataset": "set0", "group": "ID"}, {"dataset": "set1", "group": "shift"}],
        {f: {"set0": "ID", "set1": "shift"} for f in ("good", "bad", "flat")},
    ]
    tables = [transfer(sets, groups=groups).to_dict()["rows"] for groups in said]
    assert tables[0] == tables[1] == tables[2] == tables[3]
    with pytest.raises(NameUnknown, match="none of the data sets"):
        transfer(sets, groups={"elsewhere": "ID"})


def test_the_papers_sets_have_the_papers_groups() -> None:
    data = graded()
    renamed = replace(data, scores=data.scores.rename({"good": "rouge1", "bad": "perplexity"}))
    sets = [replace(renamed, name="checklist-usr-pc"), replace(renamed, name="Newsroom")]
    table = transfer(sets)
    found, names = by(table, "family", "group"), table.facts["datasets"]
    assert names["ROUGE"] == {"semantic-shift": ["checklist-usr-pc"], "ID": ["Newsroom"]}
    assert names["Perplexity"]["domain-shift"] == ["Newsroom"]
    assert np.isnan(found["ROUGE", "domain-shift"]["value"])


def test_without_groups_each_set_stands_by_itself() -> None:
    found = by(transfer([replace(graded(), name="x"), replace(graded(1), name="y")]), "family", "group")
    assert {group for _, group in found} == {"x", "y"}


# --- the page of verdicts ---


def verdicts(data: Dataset, **options: Any) -> dict[str, dict[str, bool | None]]:
    found: dict[str, dict[str, bool | None]] = {}
    for row in checklist(data, draws=99, **options):
        found.setdefault(row["metric"], {})[row["assessment"]] = row["passes"]
    return found


def test_a_good_metric_passes_an_inverted_one_only_tells_apart_and_a_flat_one_fails() -> None:
    found = verdicts(graded(), others=[graded(seed=1)])
    assert set(found["good"].values()) == {True}
    inverted = {"transfer": False, "aspect KS": True, "aspect order": False, "system KS": True, "system order": False}
    assert found["bad"] == inverted
    assert not found["flat"]["aspect KS"] and not found["flat"]["system KS"]


def test_saying_that_less_is_better_lets_the_inverted_metric_pass() -> None:
    found = verdicts(replace(graded(), lower=frozenset({"bad"})))
    assert all(found["bad"][a] for a in ("aspect KS", "aspect order", "system KS", "system order"))


def test_thresholds_are_options_and_said() -> None:
    strict = checklist(graded(), draws=199, of_human=5, beyond=0.9, level=0.01)
    assert "p < 0.01" in strict.method and "at least 5 of the human value" in strict.method
    assert not any(row["passes"] for row in strict if row["assessment"].endswith("KS"))


@pytest.mark.parametrize("systems", [1, 2])
def test_one_aspect_and_few_systems_still_give_a_page(systems: int) -> None:
    data = graded(systems=systems, inputs=20)
    table = checklist(data, aspects=["quality"], draws=39)
    found = by(table, "metric", "assessment")
    assert found["good", "aspect order"]["passes"] is not None
    assert (found["good", "system KS"]["passes"] is None) == (systems == 1)
    assert found["good", "transfer"]["passes"] is None
    assert any(note.startswith("transfer is not assessed") for note in table.notes)


def test_holes_in_the_scores_and_a_metric_without_any_are_borne() -> None:
    data = graded()
    scores = data.scores.with_columns(
        pl.when(pl.int_range(pl.len()) % 3 > 0).then(pl.col("good")).alias("good"),
        pl.lit(None, pl.Float64).alias("none"),
    )
    found = by(checklist(replace(data, scores=scores), draws=99), "metric", "assessment")
    assert found["good", "system order"]["passes"] is True
    assert found["none", "aspect KS"]["passes"] is None
    assert found["none", "aspect KS"]["reason"] == "no scores"


def test_parts_of_one_file_serve_for_transfer() -> None:
    data = graded(inputs=20)
    half = (pl.col("input").str.slice(1).cast(pl.Int64) < 10).cast(pl.String).alias("half")
    data = replace(data, samples=data.samples.with_columns(half))
    assert verdicts(data, by="half")["good"]["transfer"] is True


def test_draws_that_cannot_show_anything_are_refused() -> None:
    with pytest.raises(NlgaugeError, match="must be above 20"):
        checklist(graded(), draws=19)


def test_without_scores_the_page_says_how_to_get_them() -> None:
    with pytest.raises(DataError, match=r"nlgauge\.score"):
        checklist(dataset({"q": [[1, 2], [3, 4]]}, {}))
