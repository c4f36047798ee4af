"""A judge's verdicts and numbers beside people's pass and fail: what the four tables say, and what they refuse."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from nlgauge.analyses.verdicts.calibration import calibration
from nlgauge.analyses.verdicts.slices import slices
from nlgauge.analyses.verdicts.threshold import threshold
from nlgauge.analyses.verdicts.verdicts import verdicts
from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.table import Table


def dataset(
    people: list[float | None],
    *,
    scores: dict[str, list[float | None]],
    raters: list[list[float | None]] | None = None,
    lower: tuple[str, ...] = (),
    **columns: list[object],
) -> Dataset:
    """One system; people's labels on some rows, by one nameless person or by several."""
    ids = [f"r{k}" for k in range(len(people))]
    keys = {"system": ["s"] * len(ids), "input": ids}
    given = [("r", None, people)] if raters is None else [("r", f"p{k}", values) for k, values in enumerate(raters)]
    ratings = [
        {"system": "s", "input": i, "aspect": "ok", "rater": rater, "value": v}
        for _, rater, values in given
        for i, v in zip(ids, values, strict=True)
        if v is not None
    ]
    return Dataset.of(
        "answers",
        pl.DataFrame({**keys, **columns}),
        ratings=pl.DataFrame(ratings, schema=Dataset.RATINGS),
        scores=pl.DataFrame({**keys, **scores}),
        persons=raters is not None,
        lower=lower,
    )


def at(table: Table, measure: str, metric: str = "judge") -> dict:
    found = [row for row in table.rows if row["measure"] == measure and row["metric"] == metric]
    assert len(found) == 1
    return found[0]


# People failed 10 rows and passed 20; the judge failed 6 and 2 of them. Ten rows more have no label.
PEOPLE = [0.0] * 10 + [1.0] * 20 + [None] * 10
JUDGE = [0.0] * 6 + [1.0] * 4 + [0.0] * 2 + [1.0] * 18 + [1.0] * 10


def test_shares_are_of_labelled_rows_only() -> None:
    table = verdicts(dataset(PEOPLE, scores={"judge": JUDGE}).panel())
    assert (at(table, "fail_recall")["value"], at(table, "fail_recall")["n"]) == (0.6, 10)
    assert (at(table, "pass_recall")["value"], at(table, "pass_recall")["n"]) == (0.9, 20)
    assert at(table, "agreement")["value"] == pytest.approx(24 / 30)
    assert at(table, "always_pass")["value"] == pytest.approx(20 / 30)
    assert at(table, "gain_over_always_pass")["value"] == pytest.approx(4 / 30)
    counts = [at(table, m)["value"] for m in ("both_fail", "only_humans_fail", "only_judge_fails", "both_pass")]
    assert counts == [6, 4, 2, 18]


def test_rates_are_printed_in_words_first() -> None:
    text = str(verdicts(dataset(PEOPLE, scores={"judge": JUDGE}).panel()))
    assert "recall on failures (TNR)" in text
    assert "(6 of 10)" in text and "60% [" in text
    assert "human labels: 1 = pass, 0 = fail." in text


def test_rows_are_numbers_and_the_columns_canonical() -> None:
    row = verdicts(dataset(PEOPLE, scores={"judge": JUDGE}).panel()).rows[0]
    assert list(row)[:9] == ["metric", "aspect", "measure", "value", "low", "high", "p", "n", "hits"]
    assert all(isinstance(row[c], float) for c in ("value", "low", "high", "p"))


def test_too_few_fails_give_no_interval_and_say_what_is_needed() -> None:
    table = verdicts(dataset([0.0] * 2 + [1.0] * 48, scores={"judge": [0.0] + [1.0] * 49}).panel())
    row = at(table, "fail_recall")
    assert row["value"] == 0.5
    assert np.isnan(row["low"])
    assert row["reason"] == "needs at least 5 human failures, found 2; about 102 labeled rows would contain them"
    assert np.isnan(at(table, "kappa")["low"])
    assert np.isfinite(at(table, "agreement")["low"])
    assert any("needs at least 5 human failures" in note for note in table.notes)


def test_people_who_only_passed_leave_what_hangs_on_fails_undefined() -> None:
    table = verdicts(dataset([1.0] * 30, scores={"judge": [0.0] * 3 + [1.0] * 27}).panel())
    assert np.isnan(at(table, "fail_recall")["value"])
    assert at(table, "fail_recall")["reason"] == "there are no human failures"
    assert at(table, "pass_recall")["value"] == 0.9


def test_a_judge_that_always_passes_is_no_better_than_always_passing() -> None:
    table = verdicts(dataset(PEOPLE, scores={"judge": [1.0] * 40}).panel())
    assert at(table, "fail_recall")["value"] == 0.0
    assert at(table, "kappa")["value"] == 0.0
    assert at(table, "gain_over_always_pass")["value"] == 0.0
    assert np.isnan(at(table, "mcc")["value"])


def test_a_judges_rows_count_the_human_verdicts_and_systems_behind_them() -> None:
    table = verdicts(dataset(PEOPLE, scores={"judge": JUDGE}).panel())
    for measure in ("youden", "balanced_accuracy", "fail_recall"):
        row = at(table, measure)
        assert (row["n_failures"], row["n_passes"], row["n_systems"]) == (10, 20, 1)
    assert at(table, "youden")["value"] == pytest.approx(0.5)
    area = at(threshold(numeric().panel()), "roc_area", "score")
    assert area["n_failures"] + area["n_passes"] == area["n"] == 200


def test_where_people_mostly_fail_always_failing_stands_beside() -> None:
    table = verdicts(dataset([0.0] * 20 + [1.0] * 10, scores={"judge": [0.0] * 18 + [1.0] * 12}).panel())
    assert at(table, "always_fail")["value"] == pytest.approx(20 / 30)
    assert at(table, "gain_over_always_fail")["value"] == pytest.approx(8 / 30)


def test_more_than_two_values_are_refused_with_the_option_that_helps() -> None:
    data = dataset([float(k % 5 + 1) for k in range(40)], scores={"judge": JUDGE})
    with pytest.raises(NeedsMissing, match=r"annotators gave 5 distinct values \(1, 2, 3, 4, 5\).*human_pass_from="):
        verdicts(data.panel())
    table = verdicts(data.panel(), human_pass_from=4)
    assert at(table, "human_pass_rate")["value"] == pytest.approx(16 / 40)
    assert any("4 to 5 = pass, 1 to 3 = fail" in note for note in table.notes)


def test_a_numeric_judge_is_left_out_and_named_beside_one_with_verdicts() -> None:
    numbers = [k / 40 for k in range(40)]
    table = verdicts(dataset(PEOPLE, scores={"judge": JUDGE, "score": numbers}).panel())
    assert {row["metric"] for row in table.rows} == {"judge"}
    assert any("score gave 30 distinct values" in note for note in table.notes)
    with pytest.raises(NeedsMissing, match=r"analyze..threshold"):
        verdicts(dataset(PEOPLE, scores={"score": numbers}).panel())
    cut = verdicts(dataset(PEOPLE, scores={"score": numbers}).panel(), judge_pass_from=0.25)
    assert at(cut, "agreement", "score")["value"] == 1.0


def test_several_numeric_judges_are_refused_in_one_sentence() -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"id": k, "label": k % 2, "first": rng.random(), "second": rng.random(), "verdict": int(rng.random() < 0.5)}
        for k in range(40)
    ]
    data = load(rows, human=["label"], metrics=["first", "second", "verdict"])
    notes = " ".join(verdicts(data.panel("label")).notes)
    assert notes.count("lowest value that passes") == 1 and "excluded: first and second gave scores" in notes


def test_a_judge_of_which_less_is_better_is_turned() -> None:
    faults: list[float | None] = [1.0 - v if v is not None else None for v in JUDGE]
    table = verdicts(dataset(PEOPLE, scores={"faults": faults}, lower=("faults",)).panel())
    assert at(table, "fail_recall", "faults")["value"] == 0.6
    assert any("0 = pass, 1 = fail (lower is better)" in note for note in table.notes)


def test_two_people_are_the_ceiling_and_an_even_split_has_no_verdict() -> None:
    second: list[float | None] = list(PEOPLE)
    second[0], second[29] = 1.0, 0.0
    data = dataset(PEOPLE, scores={"judge": JUDGE}, raters=[PEOPLE, second])
    table = verdicts(data.panel())
    assert at(table, "human_agreement", "human")["value"] == pytest.approx(28 / 30)
    assert at(table, "human_kappa", "human")["value"] == pytest.approx(0.85)
    assert at(table, "agreement")["n"] == 28
    assert "2 outputs on which the annotators split evenly are excluded." in table.notes


def test_three_people_vote_and_all_pairs_of_them_make_the_ceiling() -> None:
    third: list[float | None] = [1.0] * 30 + [None] * 10
    data = dataset(PEOPLE, scores={"judge": JUDGE}, raters=[PEOPLE, PEOPLE, third])
    table = verdicts(data.panel())
    assert at(table, "agreement")["n"] == 30
    assert at(table, "human_agreement", "human")["value"] == pytest.approx((30 + 20 + 20) / 90)
    assert at(table, "human_agreement", "human")["n"] == 90


def test_rows_of_one_conversation_widen_the_interval() -> None:
    people = [float(k // 4 % 3 != 0) for k in range(160)]  # whole conversations of four rows are alike
    judge = [p if k // 4 % 5 else 1.0 - p for k, p in enumerate(people)]
    chats: list[object] = [f"c{k // 4}" for k in range(160)]
    alone = verdicts(dataset(people, scores={"judge": judge}).panel())
    together = verdicts(dataset(people, scores={"judge": judge}, conversation=chats).panel())
    for measure in ("agreement", "fail_recall", "kappa"):
        one, other = at(alone, measure), at(together, measure)
        assert one["value"] == other["value"]
        assert other["high"] - other["low"] > 1.4 * (one["high"] - one["low"])
    assert any("(160 outputs in 40 clusters)" in note for note in together.notes)


def numeric(n: int = 200, seed: int = 4) -> Dataset:
    rng = np.random.default_rng(seed)
    good = rng.random(n) < 0.6
    score = np.round(np.clip(rng.normal(np.where(good, 0.7, 0.4), 0.18), 0, 1), 2)
    words = ["short text" if k // 4 % 2 else "a text of a few more words" for k in range(n)]
    topic = ["billing" if k % 4 == 0 else "other" for k in range(n)]
    judge = np.where(np.array(topic) == "billing", 1.0, good.astype(float))
    return dataset(
        good.astype(float).tolist(),
        scores={"score": score.tolist(), "judge": judge.tolist()},
        output=words,
        topic=topic,
    )


def test_a_miss_that_costs_more_raises_the_threshold() -> None:
    panel = numeric().panel()
    cheap, dear = (at(threshold(panel, miss=m), "threshold", "score")["value"] for m in (0.2, 5.0))
    assert cheap < dear


def test_the_threshold_is_reported_on_rows_that_did_not_choose_it() -> None:
    table = threshold(numeric().panel())
    chosen, other = at(table, "threshold", "score")["n"], at(table, "agreement", "score")["n"]
    assert (chosen, other) == (100, 100)
    assert any("judge" in note and "two values only" in note for note in table.notes)
    assert at(table, "cost", "score")["value"] == pytest.approx(1 - at(table, "agreement", "score")["value"])


def test_the_curve_has_a_row_for_every_threshold() -> None:
    data = numeric()
    rows = threshold(data.panel(), part="curve", judge="score").rows
    values = {row["threshold"] for row in rows}
    assert len(values) == data.scores["score"].n_unique() + 1
    first = [row for row in rows if row["measure"] == "pass_recall" and row["threshold"] == min(values)]
    assert first[0]["value"] == 1.0


def test_scores_that_are_no_probabilities_get_figures_after_the_map_only() -> None:
    data = numeric()
    stars = data.with_scores({"stars": (4 * data.scores["score"] + 1).to_list()}).only_metrics(["stars"])
    table = calibration(stars.panel())
    assert {row["measure"] for row in table.rows} == {"brier_base", "ece_mapped", "brier_mapped"}
    assert any("are not probabilities" in note for note in table.notes)
    assert at(table, "brier_mapped", "stars")["value"] < at(table, "brier_base", "stars")["value"]


def test_the_map_rises_and_can_be_written_and_read(tmp_path) -> None:
    table = calibration(numeric().panel(), part="map", judge="score")
    read = pl.read_csv(table.write(tmp_path / "map.csv"))
    assert (read["score"].diff().drop_nulls() > 0).all()
    assert (read["value"].diff().drop_nulls() >= 0).all()
    assert read["value"].is_between(0, 1).all()


def test_the_worst_slice_is_found_and_named_in_words() -> None:
    table = slices(numeric(), metrics=["judge"])
    worst = table.rows[0]
    assert (worst["column"], worst["slice"], worst["found"]) == ("topic", "billing", True)
    assert not any(row["found"] for row in table.rows if row["column"] == "words in output")
    assert any("worse where topic is billing" in note for note in table.notes)


def test_slices_take_one_column_and_refuse_an_unknown_one() -> None:
    assert {row["column"] for row in slices(numeric(), metrics=["judge"], slice_columns="topic").rows} == {"topic"}
    with pytest.raises(NameUnknown, match=r"no column 'topik'\. Did you mean 'topic'"):
        slices(numeric(), metrics=["judge"], slice_columns=["topik"])


@pytest.mark.parametrize(
    ("run", "options", "words"),
    [
        (threshold, {"miss": -1.0}, "must be 0 or more"),
        (threshold, {"part": "x"}, "part must be summary"),
        (calibration, {"part": "x"}, "part must be summary"),
        (calibration, {"bins": 0}, "bins must be at least 1"),
        (verdicts, {"interval": "wald"}, "interval must be lean"),
        (verdicts, {"judge": "nobody"}, "judge 'nobody' not found"),
        (verdicts, {"level": 95}, "between 0 and 1"),
    ],
)
def test_a_wrong_option_is_one_clear_line(run, options, words) -> None:
    with pytest.raises(NlgaugeError, match=words):
        run(numeric().panel(), **options)
