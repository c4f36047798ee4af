"""The score file of judges, and what the study of measures says of made scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.errors import DataError, NlgaugeError
from nlgauge.stats.correlation.measure import TWELVE, evaluate
from nlgauge.stats.design.stability import discriminative_power
from nlgauge_papers.gao2025.judge_families import Family
from nlgauge_papers.gao2025.judge_measures import (
    EVERY,
    HOLDS,
    NOT,
    UNSURE,
    as_stated,
    jackknifed,
    paper_rows,
    printed_rows,
    stability_of_family,
    statement_rows,
    statements_table,
    verdict,
    without_documents,
)
from nlgauge_papers.gao2025.judge_scales import means_of, resampled
from nlgauge_papers.gao2025.judge_scores import FIELDS, Score, read_scores, score_rows, shipped_files, write_scores

ROW = ["m", "T=0_1_5", "1-5", "T=0", "M1", "d1", "coherence", "4"]


def file(folder: Path, *rows: list[str], name: str = "a.csv", fields: tuple[str, ...] = FIELDS) -> Path:
    path = folder / name
    path.write_text("\n".join([",".join(fields), *(",".join(row) for row in rows)]) + "\n")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    scores = [Score(*ROW[:4], "M1", "d1", "coherence", 4.0), Score(*ROW[:4], "M2", "d1", "coherence", None)]
    write_scores(scores, tmp_path / "a.csv")
    assert read_scores([tmp_path / "a.csv"]) == scores
    lines = [json.dumps(dict(zip(FIELDS, ROW, strict=True))), ""]
    (tmp_path / "b.jsonl").write_text("\n".join(lines))
    assert read_scores([tmp_path / "a.csv", tmp_path / "b.jsonl"]) == scores  # the same score twice counts once


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([*ROW[:7], "6"], "line 2: value 6 is outside the scale 1-5"),
        ([*ROW[:7], "good"], "value 'good' is not a number"),
        ([*ROW[:7], "nan"], "outside the scale"),
        (["", *ROW[1:]], "judge is empty"),
    ],
)
def test_a_bad_row_is_one_clear_line(tmp_path: Path, row: list[str], says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_scores([file(tmp_path, row)])


def test_what_is_missing_and_what_contradicts_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no field aspect, value; found judge, setting"):
        read_scores([file(tmp_path, ROW[:6], fields=FIELDS[:6])])
    with pytest.raises(DataError, match="has another value for M1, d1, coherence"):
        read_scores([file(tmp_path, ROW), file(tmp_path, [*ROW[:7], "3"], name="b.csv")])
    with pytest.raises(NlgaugeError, match=r"\.csv or a \.jsonl"):
        read_scores([tmp_path / "scores.txt"])
    (tmp_path / "c.jsonl").write_text("[1]\n")
    with pytest.raises(DataError, match="line 1: found list"):
        read_scores([tmp_path / "c.jsonl"])


def test_a_column_of_the_judge_verb_becomes_rows() -> None:
    rows = [{"system": f"M{k}", "input": "d1", "output": f"text {k}", "house": k + 0.5} for k in (1, 2)]
    data = ng.load(rows, metrics=["house"])
    found = score_rows(data, "house", judge="m", setting="s", scale="1-5", sampling="T=0", aspect="coherence")
    assert [(s.system, s.value) for s in found] == [("M1", 1.5), ("M2", 2.5)]


def test_the_shipped_scores_are_whole_documents_without_texts() -> None:
    (path,) = shipped_files()
    assert path.stat().st_size < 300_000
    scores = read_scores([path])
    by_scorer: dict[str, set[tuple[str, str]]] = {}
    for score in scores:
        by_scorer.setdefault(score.setting, set()).add((score.system, score.input))
    assert len(by_scorer) == 9 and len({frozenset(outputs) for outputs in by_scorer.values()}) == 1
    outputs = next(iter(by_scorer.values()))
    assert len(outputs) == 12 * len({i for _, i in outputs})
    assert all(len(score.input) < 60 and " " not in score.input for score in scores)


# --- the study's parts on made scores ---


def made(skills: list[float], systems: int = 8, inputs: int = 30, seed: int = 1) -> Family:
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs))
    scores = np.stack([skill * human + rng.normal(size=human.shape) for skill in skills])
    return Family("made", tuple(f"j{k}" for k in range(len(skills))), {"a": (scores, human)})


def test_dp_is_the_mean_over_pairs_and_aspects() -> None:
    family = made([0.1, 0.5, 1.0, 2.0])
    (x, z), other = family.panels["a"], made([0.1, 0.5, 1.0, 2.0], seed=2).panels["a"]
    both = Family("both", family.scorers, {"a": (x, z), "b": other})
    one, two, mean = (stability_of_family(f, 100) for f in (family, Family("b", family.scorers, {"b": other}), both))
    np.testing.assert_allclose(mean.dp, (one.dp + two.dp) / 2)
    np.testing.assert_allclose(mean.rc, (one.rc + two.rc) / 2)
    np.testing.assert_allclose(discriminative_power(one.p), one.dp)
    np.testing.assert_allclose(one.kept.mean(axis=0), one.rc, atol=0.02)


def test_what_is_too_small_to_be_compared_says_why() -> None:
    assert made([0.5, 1.0]).too_small == "2 scorers; 3 are needed"
    assert made([0.5, 1.0, 2.0], inputs=4).too_small == "4 documents; 6 are needed"
    assert made([0.5, 1.0, 2.0], inputs=6).too_small == ""


def test_statements_are_the_papers_eighteen_and_verdicts_follow_the_interval() -> None:
    family = made([0.1, 0.4, 0.8, 1.2, 2.0])
    rows = statement_rows(family, stability_of_family(family, 50), without_documents(family, 50))
    assert len(rows) == len(EVERY) == 18
    for row in rows:
        sign = row["statement"].split()[1]
        assert row["verdict"] == verdict(sign, row["low"], row["high"])
        assert row["low"] <= row["value"] <= row["high"]
        if row["verdict"] == HOLDS:
            assert as_stated(row)
    said = statements_table(rows)
    assert "of 18 differences lie as the paper states" in said.answers[0]


@pytest.mark.parametrize(
    ("sign", "low", "high", "says"),
    [
        ("<", -0.2, -0.1, HOLDS),
        ("<", 0.1, 0.2, NOT),
        ("<", -0.1, 0.1, UNSURE),
        (">", 0.1, 0.2, HOLDS),
        (">", -0.2, -0.1, NOT),
        ("≈", -0.04, 0.05, HOLDS),
        ("≈", 0.06, 0.2, NOT),
        ("≈", 0.0, 0.2, UNSURE),
        ("<", float("nan"), float("nan"), UNSURE),
    ],
)
def test_a_verdict_is_a_function_of_the_interval(sign: str, low: float, high: float, says: str) -> None:
    assert verdict(sign, low, high) == says


def test_the_jackknife_of_a_mean_is_its_t_interval() -> None:
    from scipy.stats import t

    values = np.random.default_rng(0).normal(size=10)
    left = [(values.sum() - v) / 9 for v in values]
    low, high = jackknifed(float(values.mean()), left, 0.95)
    ends = t.interval(0.95, 9, loc=values.mean(), scale=values.std(ddof=1) / np.sqrt(10))
    np.testing.assert_allclose((low, high), ends)
    assert np.isnan(jackknifed(1.0, [1.0, 2.0], 0.95)).all()


def test_verdicts_about_equal_measures_are_seldom_wrong() -> None:
    """Left-out documents: the stated error rate on a difference whose truth is known."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(400):
        groups = rng.normal(size=(10, 10)).mean(axis=1)
        left = [(groups.sum() - g) / 9 for g in groups]
        wrong += verdict("<", *jackknifed(float(groups.mean()), left, 0.95)) != UNSURE
    assert wrong <= 400 * 0.05 + 3 * np.sqrt(400 * 0.05 * 0.95)


def test_the_papers_own_cells() -> None:
    rows = {row["measure"]: row for row in printed_rows()}
    # Table 2, D1 to D4: .074 .054 .148 .150; Table 3: .890 .949 .944 .857.
    assert rows["system/pearson"]["dp"] == pytest.approx((0.074 + 0.054 + 0.148 + 0.150) / 4)
    assert rows["input/pearson"]["rc"] == pytest.approx((0.890 + 0.949 + 0.944 + 0.857) / 4)
    assert len(paper_rows()) == 18 and sum(map(as_stated, paper_rows())) == 17


def test_resampled_begins_with_the_measures_themselves() -> None:
    family = made([0.5, 1.0, 1.5])
    found = resampled(family, seed=0, draws=20)
    x, z = family.panels["a"]
    np.testing.assert_allclose(found[:, :, 0], evaluate(x, z, TWELVE).value, atol=1e-12)
    assert found.shape == (3, 12, 21) and np.ptp(found[0, 0]) > 0


def test_means_are_over_every_choice() -> None:
    family = made([0.5, 1.0, 1.5])
    pairs = means_of(family, 2)
    x, _ = family.panels["a"]
    np.testing.assert_allclose(pairs.panels["a"][0][1], (x[0] + x[2]) / 2)
    assert len(pairs.scorers) == 3
