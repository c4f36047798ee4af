"""How often each interval of the analyses of verdicts holds the population's value. One function a kind of figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit, ndtr

from nlgauge.stats.agreement.curves import area_figures, average_precision, cheapest, halves, sweep
from nlgauge.stats.agreement.proportion import proportion_interval
from nlgauge.stats.agreement.reliability import BINS, calibration_figures
from nlgauge.stats.agreement.two_by_two import (
    SHARES,
    Figure,
    balanced_accuracy,
    cell_counts,
    f1_of_jaccard,
    figures_of,
    gain,
    kappa,
    mcc,
    youden,
)
from nlgauge.stats.tests.corrections import benjamini_hochberg
from nlgauge.stats.tests.two_shares import fisher_exact_test

Row = dict[str, Any]
# Share of people's fails that the judge fails, and of people's passes that it passes.
JUDGES = {"lenient": (0.6, 0.95), "good": (0.9, 0.9), "weak": (0.6, 0.6)}
PREVALENCES = (0.02, 0.1, 0.5, 0.9, 0.98)
SIZES = (20, 50, 100, 300, 2000)
WHOLE = 100_000_000.0  # rows of a population


def cells_of(prevalence: float, fails: float, passes: float) -> np.ndarray:
    """Probabilities of the four cells: people pass `prevalence` of the rows."""
    bad = 1 - prevalence
    return np.array([bad * fails, bad * (1 - fails), prevalence * (1 - passes), prevalence * passes])


def true_values(cells: np.ndarray) -> dict[str, float]:
    """Every figure in the population."""
    found = {name: float(share.value(cells)) for name, share in SHARES.items()}
    found |= {f"{v}_f1": float(f1_of_jaccard(np.array(found.pop(f"{v}_jaccard")))) for v in ("fail", "pass")}
    found |= {
        "balanced_accuracy": float(balanced_accuracy(cells)),
        "youden": float(youden(cells)),
        "kappa": float(kappa(cells)),
        "mcc": float(mcc(cells)),
    }
    return found | {f"gain_over_always_{v}": float(gain(cells, v)) for v in ("pass", "fail")}


def rarer(row: Row) -> float:
    """Expected rows of the rarer outcome behind a figure: what makes counts coarse."""
    cells = row["n"] * cells_of(row["prevalence"], *JUDGES[row["judge"]])
    name = row["figure"].replace("_f1", "_jaccard")
    if share := SHARES.get(name):
        hits = float(share.over(cells))
        return min(hits, float(share.below(cells)) - hits)
    return float(min(cells[0], cells[2]) if name.startswith("gain") else cells.min())


class Tally:
    """Counts of data sets in which an interval was given, and in which it held the value."""

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}

    def add(self, name: str, figure: Figure, true: float, times: int = 1) -> None:
        at = self.counts.setdefault(name, [0, 0])
        if np.isfinite(figure.low):
            at[0] += times
            at[1] += times * bool(figure.low - 1e-12 <= true <= figure.high + 1e-12)

    def rows(self, trials: int, **facts: object) -> list[Row]:
        return [
            {"figure": name, **facts, "given": given / trials, "coverage": held / given if given else float("nan"),
             "wrong": (given - held) / trials, "data sets": trials}
            for name, (given, held) in self.counts.items()
        ]  # fmt: skip


def verdict_coverage(n: int, prevalence: float, judge: str, trials: int, seed: int = 31) -> list[Row]:
    """Independent rows."""
    cells = cells_of(prevalence, *JUDGES[judge])
    true = true_values(cells)
    rng = np.random.default_rng([seed, n, round(100 * prevalence), list(JUDGES).index(judge)])
    tally = Tally()
    tables, times = np.unique(rng.multinomial(n, cells, trials), axis=0, return_counts=True)
    for table, many in zip(tables, times, strict=True):
        for name, figure in figures_of(table[None].astype(float)).items():
            if name != "gain_over_always_fail":  # given where people happen to fail more than half
                tally.add(name, figure, true[name], int(many))
    return tally.rows(trials, n=n, prevalence=prevalence, judge=judge)


def clustered_coverage(
    clusters: int, prevalence: float, judge: str, trials: int, alike: float = 0.3, seed: int = 32
) -> list[Row]:
    """Conversations of 1 to 8 rows; people's verdicts and the judge's errors are alike within one (correlation
    `alike`).
    Beside: the share of data sets in which intervals that take rows as independent hold."""
    fails, passes = JUDGES[judge]
    true = true_values(cells_of(prevalence, fails, passes))
    rng = np.random.default_rng([seed, clusters, round(100 * prevalence), list(JUDGES).index(judge)])
    tally, plain = Tally(), Tally()
    more = 1 / alike - 1
    for _ in range(trials):
        code = np.repeat(np.arange(clusters), rng.integers(1, 9, clusters))
        rates = [rng.beta(more * p, more * (1 - p), clusters)[code] for p in (prevalence, fails, passes)]
        people = rng.random(len(code)) < rates[0]
        judged = rng.random(len(code)) < np.where(people, rates[2], 1 - rates[1])
        counts = cell_counts(people, judged, code.tolist())
        found = figures_of(counts, clustered=True)
        beside = figures_of(counts.sum(axis=0)[None])
        for name, figure in found.items():
            if name != "gain_over_always_fail":
                tally.add(name, figure, true[name])
                if np.isfinite(figure.low):
                    plain.add(name, beside[name], true[name])
    rows = tally.rows(trials, n=clusters, prevalence=prevalence, judge=judge)
    before = {row["figure"]: row["coverage"] for row in plain.rows(trials)}
    return [{**row, "as independent": before.get(row["figure"], float("nan"))} for row in rows]


def scores(
    n: int, prevalence: float, apart: float, spread: float, steps: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A judge's numbers: normal, those of fails lower by `apart`; in five steps or not."""
    passed = rng.random(n) < prevalence
    x = np.where(passed, rng.normal(0, 1, n), rng.normal(-apart, spread, n))
    return (np.searchsorted([-1.5, -0.9, -0.3, 0.3], x).astype(float) if steps else x), passed


def area_coverage(
    n: int, prevalence: float, apart: float, spread: float, steps: bool, trials: int, seed: int = 33
) -> list[Row]:
    """ROC area and average precision."""
    rng = np.random.default_rng([seed, n, round(100 * prevalence), round(10 * apart), int(steps)])
    x, z = scores(1_000_000, prevalence, apart, spread, steps, rng)
    ranked = np.sort(x[~z])
    above = (np.searchsorted(ranked, x[z], "left") + np.searchsorted(ranked, x[z], "right")) / 2 / len(ranked)
    true = {"roc_area": float(above.mean()), "average_precision": average_precision(x, z)}
    tally = Tally()
    for _ in range(trials):
        x, z = scores(n, prevalence, apart, spread, steps, rng)
        for name, figure in area_figures(x, z).items():
            tally.add(name, figure, true[name])
    kind = f"apart {apart:g}{', five steps' if steps else ''}{', fails spread more' if spread > 1 else ''}"
    return tally.rows(trials, n=n, prevalence=prevalence, judge=kind)


# Sureness of the rows (concentration of a beta), and slope and shift of the judge's logit beside the right one.
CALIBRATIONS = {"right": (1, 1, 0), "too sure": (2, 2, 0), "too mild": (1, 0.5, 0), "too kind": (3, 1, 1)}


def calibration_coverage(n: int, prevalence: float, kind: str, trials: int, seed: int = 34) -> list[Row]:
    """Brier's score and ECE."""
    sure, slope, shift = CALIBRATIONS[kind]
    rng = np.random.default_rng([seed, n, round(100 * prevalence), list(CALIBRATIONS).index(kind)])

    def draw(rows: int) -> tuple[np.ndarray, np.ndarray]:
        right = np.clip(rng.beta(prevalence * sure, (1 - prevalence) * sure, rows), 1e-6, 1 - 1e-6)
        return expit(slope * logit(right) + shift), right

    x, right = draw(1_000_000)
    place = np.clip(np.ceil(x * BINS) - 1, 0, BINS - 1).astype(int)
    true = {
        "brier": float((right * (1 - x) ** 2 + (1 - right) * x**2).mean()),
        "ece": float(np.abs(np.bincount(place, weights=right - x)).sum() / len(x)),
    }
    tally = Tally()
    for _ in range(trials):
        x, right = draw(n)
        found = calibration_figures(x, rng.random(n) < right)
        for name, value in true.items():
            tally.add(name, found[name], value)
    return tally.rows(trials, n=n, prevalence=prevalence, judge=kind)


def threshold_honesty(n: int, prevalence: float, trials: int, apart: float = 1.2, seed: int = 35) -> list[Row]:
    """Shares at the chosen threshold: on the other half, and on the half that chose it (which flatters)."""
    rng = np.random.default_rng([seed, n, round(100 * prevalence)])
    tally = Tally()
    for trial in range(trials):
        x, z = scores(n, prevalence, apart, 1.0, False, rng)
        first = halves(z, None, trial)
        swept = sweep(x[first], z[first])
        cut = float(swept.thresholds[cheapest(swept)])
        agreed = prevalence * ndtr(-cut) + (1 - prevalence) * ndtr(cut + apart)
        for name, part in (("other half", ~first), ("same half", first)):
            hits = int(((x[part] >= cut) == z[part]).sum())
            low, high = proportion_interval(hits, int(part.sum()))
            tally.add(name, Figure(hits / part.sum(), float(low), float(high)), float(agreed))
    return tally.rows(trials, n=n, prevalence=prevalence, judge=f"apart {apart:g}")


def slice_discoveries(n: int, slices: int, bad: int, trials: int, seed: int = 36) -> Row:
    """Slices of equal size, `bad` of them with agreement .6 instead of .85: false discoveries, and how many are found."""
    rng = np.random.default_rng([seed, n, slices, bad])
    shares, found, any_false = [], 0, 0
    for _ in range(trials):
        of = rng.multinomial(n, np.full(slices, 1 / slices))
        hits = rng.binomial(of, np.where(np.arange(slices) < bad, 0.6, 0.85))
        p = [
            fisher_exact_test(int(h), int(k), int(hits.sum() - h), int(of.sum() - k))
            for h, k in zip(hits, of, strict=True)
        ]
        worse = hits / of < (hits.sum() - hits) / (of.sum() - of)
        marked = (benjamini_hochberg(p) < 0.05) & worse
        wrong = int(marked[bad:].sum())
        shares.append(wrong / max(1, int(marked.sum())))
        any_false += wrong > 0
        found += int(marked[:bad].sum())
    return {
        "n": n, "slices": slices, "bad slices": bad, "false share of the marks": float(np.mean(shares)),
        "any false mark": any_false / trials, "bad slices found": found / (trials * bad) if bad else float("nan"),
        "data sets": trials,
    }  # fmt: skip


Cell = tuple[str, Callable[[], list[Row]]]
