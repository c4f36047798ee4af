"""Names that our own columns have, metrics without a value, one system, families of the user's own."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

from nlgauge import registry
from nlgauge.analyses.checklist.transfer import transfer
from nlgauge.analyses.comparing.compare import compare
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import NlgaugeError
from nlgauge.report.explorer.points import Explored

SMALL = {"draws": 20, "trials": 5, "splits": 5, "redraws": 2}


def data_of(names: list[str], systems: int = 5, inputs: int = 12) -> Dataset:
    rng = np.random.default_rng(0)
    keys = [(f"s{s}", str(i)) for s in range(systems) for i in range(inputs)]
    samples = pl.DataFrame(keys, schema=KEY, orient="row").with_columns(
        output=pl.lit("a b c"), domain=pl.Series(["xy"[k % 2] for k in range(len(keys))])
    )
    human = rng.integers(1, 6, len(keys)).astype(float)
    rated = [
        samples.select(KEY).with_columns(
            aspect=pl.lit("quality"),
            rater=pl.lit(f"r{r}"),
            value=pl.Series(np.clip(human + rng.integers(-1, 2, len(keys)), 1, 5)),
        )
        for r in range(3)
    ]
    data = Dataset.of("d", samples, ratings=pl.concat(rated), scores=samples.select(KEY), persons=True)
    return data.with_scores({name: (human + rng.normal(0, 1 + k, len(keys))).tolist() for k, name in enumerate(names)})


@pytest.mark.parametrize("name", ["row", "column", "place", "value", "rater", "aspect", "metric", "rank", "Human"])
def test_a_metric_may_have_the_name_of_one_of_our_own_columns(name: str) -> None:
    plain, odd = (data_of([n, "b", "c"]) for n in ("zz", name))
    assert np.array_equal(odd.panel().metrics[name], plain.panel().metrics["zz"])
    one, two = (d.panel().analyze("compare", draws=50).rows for d in (plain, odd))
    assert [{**r, "metric": 0} for r in one] == [{**r, "metric": 0} for r in two]
    points = Explored(odd)
    assert points.points("quality", name)["score"] == Explored(plain).points("quality", "zz")["score"]
    assert points.selection([1]).height == 1


def test_a_metric_without_a_value_has_no_rank_and_a_constant_is_chance() -> None:
    data = data_of(["a", "b"]).with_scores({"constant": [1.0] * 60, "empty": [None] * 60})
    table = compare(data.panel())
    rows, alike = {r["metric"]: r for r in table}, table.facts["no_different_from"]
    assert rows["a"]["rank"] == 1
    assert (rows["empty"]["rank"], rows["empty"]["rank_high"], rows["empty"]["p_to_next"]) == (None, None, None)
    assert alike["empty"] == []
    assert all("empty" not in others for others in alike.values())
    last = [r for r in rows.values() if r["rank"] is not None][-1]
    assert (last["metric"], last["value"], last["rank"], last["rank_high"]) == ("constant", 0.5, 3, 3)
    assert last["p_to_next"] is None  # nothing with a value comes after it


def test_under_a_correlation_a_constant_has_no_value_and_no_rank() -> None:
    data = data_of(["a", "b"]).with_scores({"constant": [1.0] * 60})
    row = next(r for r in compare(data.panel(), measure="input/kendall") if r["metric"] == "constant")
    assert np.isnan(row["value"])
    assert (row["rank"], row["rank_high"], row["may_be_best"]) == (None, None, False)


def test_a_family_of_the_user_holds_what_they_named_and_nothing_else() -> None:
    data = data_of(["rouge-l", "rouge-1", "bleu"])
    alone = transfer([data.only_metrics(["rouge-l"])]).rows
    named = transfer([data], families={"ROUGE": ["rouge-l"]})
    assert [(r["family"], r["value"]) for r in named] == [("ROUGE", alone[0]["value"])]
    assert any("excluded because no family contains them: rouge-1, bleu" in note for note in named.notes)
    renamed = transfer([data], families={"rouge-l": "mine"})  # one column's family: the others keep theirs
    assert {r["family"] for r in renamed} == {"mine", "ROUGE", "BLEU"}


@pytest.mark.parametrize("analysis", registry.names("analysis"))
def test_one_system_gives_answers_or_reasons_and_no_warnings(analysis: str) -> None:
    run = registry.get("analysis", analysis)
    known = run.options
    options = {k: v for k, v in SMALL.items() if k in known}
    data = data_of(["a", "b", "judge"], systems=1, inputs=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        try:
            found = data.panel() if run.takes == "panel" else [data] if run.takes == "datasets" else data
            assert run(found, **options).rows
        except NlgaugeError as error:
            assert str(error)
