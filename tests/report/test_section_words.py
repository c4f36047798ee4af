"""The plain answers say what the tables say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.bibliography import bibliography
from nlgauge.data.dataset import Dataset
from nlgauge.data.example import example
from nlgauge.data.load import load
from nlgauge.errors import NameUnknown
from nlgauge.metrics import Batch
from nlgauge.metrics.judge.cost import Price
from nlgauge.metrics.judge.judge import Judge
from nlgauge.metrics.judge.replies import Reply
from nlgauge.report.answer import answer_of
from nlgauge.report.sections import GATE, Answered, ReportContext, answer_all, sections
from nlgauge.report.sections.agreeing import compact_letters, rank_words
from nlgauge.report.sections.ranking_systems import _of_the_first, win_words
from nlgauge.report.sections.trusting import tie_words, trust_words
from nlgauge.scoring.plan import known_metric
from nlgauge.scoring.replies import Replies
from nlgauge.session import Session
from nlgauge.table import Layout, Table


def run_of(data: Dataset, **more: Any) -> ReportContext:
    return ReportContext(Session(data), quick=True, **more)


def ranked(*may_be_best: bool, p: float | None = 0.2) -> Table:
    """A ranking of which the first leads and those may be as good."""
    rows = [
        {
            "metric": f"m{k}",
            "rank": 1,
            "value": 0.5 - 0.1 * k,
            "low": 0.1,
            "high": 0.6,
            "p_to_next": p,
            "may_be_best": k == 0 or may_be_best[k - 1],
            "clearly_best": k == 0 and not any(may_be_best),
        }
        for k in range(len(may_be_best) + 1)
    ]
    return Table("t", rows)


def test_the_first_is_best_only_when_it_beats_every_single_other() -> None:
    assert rank_words(ranked(False, False)).startswith("m0 is significantly better than each of the 2")
    # The next is beaten, the last is not: m0 is not the best for sure.
    some_worse = rank_words(ranked(False, True))
    assert (
        "m0 leads, but is not significantly better than m2. Significantly worse than at least one metric: m1."
        in some_worse
    )
    assert "not significantly better than any other metric (m1 and m2)" in rank_words(ranked(True, True))


def test_the_pairs_that_differ_are_counted_after_the_correction_that_was_made() -> None:
    """The tests of all pairs are simultaneous; the sentence named Holm's correction."""
    tests = Table("t", [{"significant": s} for s in (True, False, False)])
    words = rank_words(ranked(False, True), tests)
    assert words.endswith("1 of 3 pairs of metrics differ significantly after correction for all pairs.")
    assert "Holm" not in words


@given(st.integers(2, 7), st.data())
def test_letters_are_shared_by_exactly_the_metrics_that_do_not_differ(n: int, data: st.DataObject) -> None:
    names = [f"m{k}" for k in range(n)]
    pairs = [frozenset(pair) for pair in combinations(names, 2)]
    differ = {pair for pair in pairs if data.draw(st.booleans())}
    letters = compact_letters(names, differ)
    for pair in pairs:
        first, second = pair
        assert (not set(letters[first]) & set(letters[second])) == (pair in differ)
    assert all(letters.values()) and letters["m0"][0] == "a"


def test_letters_of_the_page_are_those_of_the_tests_behind_the_first_screen() -> None:
    """One set of simultaneous tests: a metric shares a letter with the best one if and only if it may be the best."""
    run = run_of(example())
    answered = {a.section.key: a for a in answer_all(run, answer_of)}
    (aspect,) = run.answer.aspects
    letters = {r["metric"]: r["letters"] for r in answered["agrees"].tables.__next__() if r["measure"] == GATE}
    first = aspect.metrics[0].metric
    for m in aspect.metrics:
        assert m.may_be_best == bool(set(letters[m.metric]) & set(letters[first])), m.metric
    tests = next(t for t in answered["real"].tables if t.kind == "compare")
    assert [r["metric"] for r in tests if r["may_be_best"]] == [m.metric for m in aspect.metrics if m.may_be_best]


def steadiness(*steady: bool, alike: Sequence[str] = ()) -> Table:
    rows = [
        {"measure": m, "dp": 0.1 + 0.1 * k, "rc": 0.9 - 0.2 * k, "reliable": s}
        for k, (m, s) in enumerate(zip(("item/pearson", GATE), steady, strict=True))
    ]
    return Table("t", rows, facts={"reliable": any(steady), "alike": alike})


def test_the_page_speaks_of_the_measure_that_ranks_or_says_why_it_is_another() -> None:
    run = run_of(example())
    assert trust_words(steadiness(True, True), run).startswith(f"{GATE}, by which this page ranks the metrics, is")
    none = trust_words(steadiness(False, False), run)
    assert none.startswith(f"No measure is reliable on this sample: by {GATE}, two halves of the inputs rank")
    assert "More systems (now 8) and inputs (now 24) would help" in none
    other = trust_words(steadiness(True, False), run)
    assert other.startswith("item/pearson is reliable")
    assert f"This page ranks by {GATE}, which compares outputs for the same input" in other
    assert f"{GATE} is less reliable (0.70 and 0.20)" in other
    assert "is not shown to be less reliable" in trust_words(steadiness(True, False, alike=[GATE]), run)
    unknown = steadiness(True, False)
    words = trust_words(replace(unknown, rows=unknown.rows[:1]), run)
    assert f"the data do not show how reliable {GATE} is" in words and "less reliable" not in words


def test_the_sections_order_the_metrics_as_the_headline_does() -> None:
    """The headline's measure is one of those shown, so that no section names another metric as the best."""
    run = run_of(example())
    answered = {a.section.key: a for a in answer_all(run)}
    (aspect,) = answer_of(run).aspects
    first = aspect.metrics[0]
    (agrees,) = answered["agrees"].found.parts
    shown = next(r for r in agrees.tables[0] if r["measure"] == GATE)
    assert shown["metric"] == first.metric
    assert (shown["value"], shown["low"], shown["high"]) == (first.value, first.low, first.high)
    assert agrees.answer.startswith(f"{first.metric} has the highest value by {GATE}; by ")
    assert GATE in {r["measure"] for r in answered["trust"].found.parts[0].tables[0]}


def test_a_share_of_the_ceiling_is_counted_from_chance() -> None:
    """Half of all pairs are right by chance: a metric at chance has reached nothing of the ceiling."""
    data = example()
    coin = np.random.default_rng(0).integers(0, 2, data.scores.height).astype(float)
    table = (
        replace(data, scores=data.scores.with_columns(pl.Series("random", coin)))
        .panel()
        .analyze("ceiling", measures=[GATE], splits=5)
    )
    for row in table:
        assert row["share"] == pytest.approx((row["value"] - 0.5) / (row["ceiling"] - 0.5))
    assert abs(next(r["share"] for r in table if r["metric"] == "random")) < 0.3


def test_an_aspect_without_an_answer_is_named_with_its_reason() -> None:
    data = example()
    few = data.ratings.filter(pl.col("input") == data.inputs[0]).with_columns(
        pl.lit("wit").alias("aspect"), pl.lit(3.0).alias("value")
    )
    run = run_of(replace(data, ratings=pl.concat([data.ratings, few])))
    answered = {a.section.key: a for a in answer_all(run, answer_of) if not a.missing}
    for key in ("annotators", "agrees", "uses", "trust"):
        if key in answered:
            said = {p.about: p.answer for p in answered[key].found.parts if p.answer}
            assert list(said) == ["constructed_quality", "wit"], key


def test_ties_name_people_and_the_metric_that_ties_most() -> None:
    rows = [
        {"variable": v, "unique": u, "tie_ratio": t} for v, u, t in (("human", 5, 0.25), ("a", 9, 0.1), ("b", 3, 0.4))
    ]
    assert tie_words(Table("t", rows)) == (
        "Human ratings take 5 distinct values; 25% of all pairs are tied. Among the metrics, b has the most ties (40%)."
    )


def test_wins_are_means_over_the_comparisons_of_a_system() -> None:
    rows = [{"side": "Human", "first": a, "second": b, "value": w} for a, b, w in (("x", "y", 0.75), ("y", "x", 0.25))]
    assert win_words(Table("t", rows)) == "Highest win rate: x by human comparisons (0.75)."


def test_tables_of_a_report_have_plain_columns_and_cells() -> None:
    data = example()
    run = run_of(data)
    tables = [table for answered in answer_all(run) for table in answered.tables]
    assert len(tables) > 10
    for table in tables:
        names = [c for c in table.columns if c not in data.aspects]
        assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in names), (table.title, names)
        cells = [value for row in table for value in row.values()]
        assert all(value is None or isinstance(value, bool | int | float | str) for value in cells), table.title


def test_sections_have_their_own_places_and_say_what_they_do_not_say() -> None:
    found = sections()
    assert len({s.order for s in found}) == len({s.key for s in found}) == len({s.title for s in found}) == len(found)
    assert all(s.question.endswith("?") and len(s.limitations) > 40 and s.title[-1] != "?" for s in found)
    assert all(key in bibliography() for s in found for key in s.cites)


def test_what_does_not_apply_is_said_in_one_line_and_the_rest_is_answered() -> None:
    rows = [
        {"system": s, "input": i, "quality": (i * k) % 5, "bleu": i + k} for k, s in enumerate("ABC") for i in range(6)
    ]
    answered = {a.section.key: a for a in answer_all(run_of(load(rows, name="d", human=["quality"], metrics=["bleu"])))}
    assert "needs at least two annotators" in answered["annotators"].missing
    assert "requires at least 3" in answered["trust"].missing
    assert answered["agrees"].found.parts[0].tables[0].rows
    # Humans rated; nobody said pass or fail or chose; there is no judge, and one run.
    of_judges = {"threshold-curve", "slices", "calibration", "trials", "labels", "flips", "classes"}
    of_others = {"metrics-alone", "verdicts", "rank", "bias", "drift", "jury"} | of_judges
    assert set(answered) == {s.key for s in sections()} - of_others


def test_one_system_with_verdicts_is_not_asked_about_systems_and_uses_of_scores() -> None:
    rows = [{"id": i, "human": "pass" if i % 3 else "fail", "judge": "pass" if i % 4 else "fail"} for i in range(60)]
    answered = {a.section.key: a for a in answer_all(run_of(load(rows, name="d")))}
    assert "verdicts" in answered and not {"uses", "wins", "complementarity"} & set(answered)
    assert not {"agrees", "real", "trust", "checklist", "scale"} & set(answered)
    assert answered["disagree"].found.outputs.first[0]["human"] != answered["disagree"].found.outputs.first[0]["metric"]


def test_a_wrong_name_is_the_users_to_mend() -> None:
    data = example()
    pick = Session(data, metrics=["nope"])
    with pytest.raises(NameUnknown, match="nope"):
        answer_all(ReportContext(pick, quick=True))


def test_a_columns_name_never_imports_a_file(tmp_path: Any) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text("raise SystemExit('imported')")
    assert known_metric(f"{evil}@x") is None
    assert known_metric("bleu(order=2)") is not None
    assert known_metric("bleu(order=") is None


def test_costs_are_sums_of_columns_beside_the_scores() -> None:
    rows = [{"system": s, "input": i, "quality": i, "bleu": i, "bleu seconds": 0.5} for s in "AB" for i in range(3)]
    data = load(rows, name="d", human=["quality"], metrics=["bleu"])
    assert "bleu seconds" in data.samples.columns
    cost = next(a for a in answer_all(run_of(data)) if a.section.key == "costs")
    assert cost.found.parts[0].answer == "Total: seconds 3."


def test_costs_of_a_judge_are_the_tokens_of_its_replies_in_the_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NLGAUGE_STORE", str(tmp_path / "store.sqlite"))
    judge = Judge(aspect="coherence", model="m", base_url="http://127.0.0.1:1/v1")
    name = str(judge)
    rows = [
        {"system": s, "input": i, "output": f"{s} says {i}", "source": "long ago", "quality": i, name: i}
        for s in "AB"
        for i in range(3)
    ]
    data = load(rows, name="d", human=["quality"], metrics=[name])
    data = replace(data, signatures={name: judge.signature})
    assert costs_of(data).missing  # nothing kept: nothing known, and no store is made
    assert not (tmp_path / "store.sqlite").exists()
    asked = {r.key: r for r in judge.decided().requests(Batch.of(data))}
    kept = {key: Reply("4", prompt_tokens=1000, completion_tokens=10, seconds=0.5) for key in list(asked)[:5]}
    Replies().keep(kept, asked)
    Replies().remember(judge.signature, judge.spec)
    found = costs_of(data, {"m": Price(2.0, 10.0)})
    assert found.found.parts[0].answer == (
        "Total: replies 5, seconds 2.5, tokens in 5,000, tokens out 50, cost 0.0105."
    )
    assert found.found.lines == [f"{name}: 1 of 6 replies are not in the store of this machine."]
    assert "prices=" in costs_of(data).found.lines[-1]


def costs_of(data: Dataset, prices: dict[str, Price] | None = None) -> Answered:
    run = replace(run_of(data), prices=prices)
    return next(a for a in answer_all(run) if a.section.key == "costs")


def test_missing_scores_are_counted_with_their_metric() -> None:
    data = example()
    holed = data.scores.with_columns(
        pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("random")).alias("random")
    )
    answered = answer_all(run_of(replace(data, scores=holed)))
    first = next(a for a in answered if a.section.key == "evaluated").found.parts[0]
    assert "7 of 960 scores are missing" in first.answer
    assert first.tables[1].rows == [{"metric": "random", "missing": 7, "of": 192, "reasons": "not in the file"}]


def test_one_system_has_an_interval_also_in_a_hurry() -> None:
    rows = [{"system": "A", "input": i, "quality": i % 5, "bleu": (i * 7) % 11 + i % 5} for i in range(40)]
    answered = answer_all(run_of(load(rows, name="d", human=["quality"], metrics=["bleu"])))
    table = next(a for a in answered if a.section.key == "agrees").found.parts[0].tables[0]
    assert table.rows[0]["measure"].startswith("global/") and "[" in table.text(table.rows[0], "value")


def test_the_word_best_is_for_a_metric_that_beats_every_other_one() -> None:
    rng = np.random.default_rng(1)
    quality = rng.normal(0, 1, (9, 1)) + rng.normal(0, 1, (9, 40))
    scores = {"close": quality + rng.normal(0, 0.2, quality.shape), "far": rng.normal(0, 1, quality.shape)}
    rows = [
        {"system": f"s{i}", "input": j, "quality": quality[i, j], **{m: x[i, j] for m, x in scores.items()}}
        for i in range(9)
        for j in range(40)
    ]
    run = run_of(load(rows, name="d", human=["quality"], metrics=["close", "far"]))
    sentence = answer_of(run).aspects[0].sentences[""]
    assert sentence.startswith("Quality: close agrees best with the human ratings: pairwise accuracy 0.9")
    assert " It is significantly better than far." in sentence


def test_of_metrics_that_know_nothing_none_is_called_close() -> None:
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, (8, 30))
    rows = [
        {"system": f"s{i}", "input": j, "quality": int(quality[i, j]), "one": rng.normal(), "two": rng.normal()}
        for i in range(8)
        for j in range(30)
    ]
    sentence = answer_of(run_of(load(rows, name="d", human=["quality"]))).aspects[0].sentences[""]
    assert sentence.startswith("Quality: no metric is shown to agree with the human ratings better than chance; ")
    assert "agrees best" not in sentence and "eliabl" not in sentence


def test_the_page_shows_the_pairs_of_forty_systems_and_says_so() -> None:
    systems = [f"s{k}" for k in range(45)]
    rows = [{"side": "human", "first": a, "second": b, "value": 0.5, "n": 1} for a in systems for b in systems]
    table = Table(title="wins", rows=rows, layout=Layout("first", "second", "value"))
    shown = _of_the_first(table)
    assert (len(table), len(shown)) == (45**2, 40**2)
    assert shown.notes[-1].startswith("The 40 systems with the highest win rates of 45")
    assert {row["first"] for row in shown} == set(systems[:40])
