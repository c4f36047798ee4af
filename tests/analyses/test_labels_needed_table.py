"""Labels needed: the curve holds what a study of that size then finds."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.errors import NlgaugeError


def made(noise: float, outputs: int = 400, labels: int = 400) -> ng.Dataset:
    rng = np.random.default_rng(3)
    quality = rng.normal(3, 1, outputs)
    rows = [
        {"system": "AB"[i % 2], "id": f"q{i // 2}", "judge": quality[i] + noise * rng.normal(),
         "human": quality[i] + 0.3 * (i % 2) if i < labels else None}
        for i in range(outputs)
    ]  # fmt: skip
    return ng.load(rows, human=["human"], metrics=["judge"], name="made")


def at(table: ng.Table, metric: str, labels: int) -> float:
    return next(row["value"] for row in table if row["metric"] == metric and row["labels"] == labels)


def test_widths_are_those_of_the_formula_and_a_good_judge_needs_fewer_labels():
    data = made(0.5)
    table = ng.analyse("labels-needed", data, width=0.2, sizes=[50, 100, 200], trials=40)
    sd = data.ratings["value"].std()
    assert at(table, "people", 100) == pytest.approx(2 * 1.984 * sd / 10, rel=0.05)
    assert at(table, "judge", 100) < 0.8 * at(table, "people", 100)
    assert at(table, "people", 200) == pytest.approx(at(table, "people", 50) / 2, rel=0.06)


def test_the_number_asked_for_lies_where_the_curve_meets_the_width():
    data = made(5.0, outputs=2000)
    said = ng.analyse("labels-needed", data, width=0.25, trials=40).answers[0]
    needed = int(said.split()[1].replace(",", ""))
    sd = data.ratings["value"].std()
    assert needed == pytest.approx((2 * 1.96 * sd / 0.25) ** 2, rel=0.1)


def test_power_to_tell_two_systems_apart_is_that_of_the_t_test():
    from scipy.stats import nct, t

    data = made(1.0)
    table = ng.analyse("labels-needed", data, goal="compare", sizes=[60, 120], trials=400)
    wide = data.ratings.pivot(on="system", index="input", values="value")
    gaps = (wide["B"] - wide["A"]).to_numpy()
    for row in table:
        n = row["labels"] // 2
        expected = 1 - nct.cdf(t.ppf(0.975, n - 1), n - 1, np.sqrt(n) * abs(gaps.mean()) / gaps.std(ddof=1))
        assert row["value"] == pytest.approx(expected, abs=0.08)


def test_a_gate_that_is_far_is_decided_with_few_labels_and_one_that_is_near_is_not():
    rng = np.random.default_rng(1)
    passed = rng.random(300) < 0.6
    judged = np.where(rng.random(300) < 0.1, ~passed, passed)
    rows = [{"id": i, "human": int(p), "judge": int(j)} for i, (p, j) in enumerate(zip(passed, judged, strict=True))]
    data = ng.load(rows, human=["human"], metrics=["judge"], name="verdicts")
    kappa = next(r["value"] for r in ng.verdicts(data) if r["measure"] == "kappa")
    far = ng.analyse("labels-needed", data, goal="gate", gate="kappa=.2", sizes=[80], trials=30)
    near = ng.analyse("labels-needed", data, goal="gate", gate=f"kappa={kappa:.2f}", sizes=[80], trials=30)
    for written in ("tnr=.2", "fail_recall=.2"):  # the names that `gate` takes
        assert len(ng.analyse("labels-needed", data, goal="gate", gate=written, sizes=[80], trials=2)) == 1
    assert at(far, "judge", 80) > 0.9 and at(near, "judge", 80) < 0.2


def test_few_raters_of_more_outputs_need_fewer_ratings():
    said = ng.analyse("labels-needed", ng.example(), metrics="unigram_f1", sizes=[60], trials=10).answers[-1]
    assert "1 rating each of" in said and "2 ratings each of" in said


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        (made(1.0, labels=12), {}, "12 labels are too few"),
        (made(1.0), {"goal": "gate"}, "not pass and fail"),
        (made(1.0), {"goal": "compare", "systems": ["A", "Z"]}, "no system 'Z'"),
        (made(1.0), {"width": -1.0}, "width must be above 0"),
        (made(1.0), {"goal": "gate", "gate": "kappa"}, "such as kappa=.6"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(data, options, said):
    with pytest.raises(NlgaugeError, match=said) as error:
        ng.analyse("labels-needed", data, **options)
    assert "\n" not in str(error.value)
