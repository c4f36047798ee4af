"""How often is a gate wrong, how often does it decide, and do the labels that it names decide? The tables of docs/gate.md:
`python -m bench.coverage --write docs/gate.md`.

People's and a judge's verdicts are drawn from a population whose figures are known; the limit is the true value itself
(there whatever is decided is as often wrong as it can be), or lies below or above it. The same for the change between
two judges on the same rows, for correlations of several systems and their change, and for the pass rate or mean rating
estimated from few labels with a judge's help. Two more tables are about gates with several limits, and about gates that
run again and again as labels come in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bench import _estimate_worlds as estimates
from bench._trust_page import table
from bench._verdict_worlds import JUDGES, cells_of, true_values
from bench._worlds import World, panel, truth
from nlgauge.api.limits import (
    FAILED,
    LEVEL,
    PASSED,
    UNDECIDED,
    correct_failures,
    decided,
    level_of_look,
    limit_row,
    verdict_row,
)
from nlgauge.stats.agreement.proportion import proportion_interval
from nlgauge.stats.agreement.two_by_two import SHARES, Figure, cell_counts, figure_of, figures_of
from nlgauge.stats.agreement.verdict_changes import NEW, OLD, VALUES, change_of
from nlgauge.stats.estimation.means import mean_estimate
from nlgauge.stats.resampling.jackknife import change_intervals, intervals

FIGURES = ("kappa", "fail_recall", "agreement")
LONG = 30_000  # labels named beyond which nobody labels: too near the limit
APART = {"minimum": 0.15, "change": 0.1, "pass rate": 0.1, "mean rating": 0.3}
LIMITS = (1, 5, 30)  # of one gate
MOST_LABELS = 1000  # at the last look
APART_LOOKS = {"kappa": 0.05, "agreement": 0.025}


def eight(prevalence: float, old: tuple[float, float], new: tuple[float, float], alike: float) -> np.ndarray:
    """Probabilities of people, old and new verdict. `alike`: share of the rows where both are right or wrong together
    as far as their rates allow; the others are independent."""
    cells = np.zeros(8)
    for people, share in ((0, 1 - prevalence), (1, prevalence)):
        a, b = old[people], new[people]
        both = alike * min(a, b) + (1 - alike) * a * b
        for right, p in (((1, 1), both), ((1, 0), a - both), ((0, 1), b - both), ((0, 0), 1 - a - b + both)):
            said = [people if r else 1 - people for r in right]
            cells[4 * people + 2 * said[0] + said[1]] += share * p
    return cells


EIGHT = {
    f"{old} → {new}, human pass rate {p:g}": eight(p, JUDGES[old], JUDGES[new], alike)
    for p in (0.5, 0.9)
    for old, new, alike in (("good", "good", 0.7), ("good", "lenient", 0.7))
}


def true_change(cells: np.ndarray, figure: str) -> float:
    of = VALUES[figure]
    return float(of(cells @ NEW) - of(cells @ OLD))


class Tally:
    """Verdicts where the limit is the true value, or lies below or above it."""

    def __init__(self, apart: float) -> None:
        self.apart, self.n = apart, 0
        self.said = dict.fromkeys([(0, PASSED), (0, FAILED), (-1, PASSED), (1, FAILED)], 0)

    def add(self, value: float, low: float, high: float, truth: float) -> None:
        self.n += 1
        for side, verdict in self.said:
            self.said[side, verdict] += decided(value, low, high, truth + side * self.apart) == verdict

    def shares(self) -> list[float]:
        return [count / self.n for count in self.said.values()]


def figure(kind: np.ndarray, name: str) -> Figure:
    """Of rows: both fail, only people fail, only the judge fails, both pass."""
    return figures_of(cell_counts(kind >= 2, (kind == 1) | (kind == 3), None), clustered=False)[name]


def labels_to_decide(found: Figure, limit: float, n: int) -> int | None:
    """Of an undecided figure of n labels; None where it is decided, has no interval, or lies at the limit."""
    row = {"metric": "", "aspect": "", "measure": "", "value": found.value, "low": found.low, "high": found.high}
    alone = decided(found.value, found.low, found.high, limit)
    labels: int | None = verdict_row(limit_row(row, limit, n), alone == FAILED, LEVEL, LEVEL)["labels"]
    return labels


def labels_named(
    judge: str, prevalence: float, n: int, name: str, off: float, trials: int = 200
) -> tuple[float, float]:
    """Of undecided gates that named a number of labels: how many are decided once there are as many, how many rightly."""
    cells = cells_of(prevalence, *JUDGES[judge])
    limit = true_values(cells)[name] + off
    rng = np.random.default_rng([n, int(100 * prevalence), list(JUDGES).index(judge), round(1000 * (1 + off)), 7])
    named = done = right = 0
    while named < trials:
        kind = rng.choice(4, size=n, p=cells)
        labels = labels_to_decide(figure(kind, name), limit, n)
        if labels is None or labels > LONG:
            continue
        named += 1
        found = figure(np.concatenate([kind, rng.choice(4, size=labels - n, p=cells)]), name)
        said = decided(found.value, found.low, found.high, limit)
        done += said != UNDECIDED
        right += said == (PASSED if off < 0 else FAILED)
    return done / named, right / max(done, 1)


def labels(n: int, prevalence: float, judge: str) -> list[list[object]]:
    """A line per figure of one judge: the limit .1 below and .1 above the true value."""
    return [
        [
            n,
            prevalence,
            judge,
            name,
            *labels_named(judge, prevalence, n, name, -0.1),
            *labels_named(judge, prevalence, n, name, 0.1 if name == "kappa" else 0.07),
        ]
        for name in FIGURES
    ]


def correlations(n: int, m: int, trials: int = 500) -> list[list[object]]:
    """A line per measure: its value, and its change from one judge to another one on the same outputs."""
    rows: list[list[object]] = []
    worlds = (World(), replace(World(), rho_sys=0.9, mu_rho=0.6))
    for measure in ("input/kendall", "global/pearson", "system/pearson"):
        true = [float(truth(w, (measure,), n, m)[0]) for w in worlds]
        rng = np.random.default_rng([n, m, 8])
        value, change, equal = Tally(APART["minimum"]), Tally(APART["change"]), Tally(APART["change"])
        for _ in range(trials):
            x, z = panel([worlds[0], worlds[0], worlds[1]], n, m, rng)
            found = intervals(x[:1], z, [measure])
            value.add(*(float(a[0, 0]) for a in (found.value, found.low, found.high)), true[0])
            for other, tally, gap in ((1, equal, 0.0), (2, change, true[1] - true[0])):
                moved = change_intervals(x[0], x[other], z, [measure])
                tally.add(*(float(a[0, 0]) for a in (moved.value, moved.low, moved.high)), gap)
        size = f"{n} × {m}"
        rows += [
            [size, measure, "value", true[0], *value.shares()],
            [size, measure, "change, equal judges", 0.0, *equal.shares()],
            [size, measure, "change, a better judge", true[1] - true[0], *change.shares()],
        ]
    return rows


def minimum(n: int, prevalence: float, judge: str, trials: int = 500) -> list[list[object]]:
    """A line per figure of one judge."""
    cells = cells_of(prevalence, *JUDGES[judge])
    truth = true_values(cells)
    rng = np.random.default_rng([n, int(100 * prevalence), list(JUDGES).index(judge)])
    found = {name: Tally(APART["minimum"]) for name in FIGURES}
    for _ in range(trials):
        kind = rng.choice(4, size=n, p=cells)  # both fail, only people fail, only the judge fails, both pass
        figures = figures_of(cell_counts(kind >= 2, (kind == 1) | (kind == 3), None), clustered=False)
        for name, tally in found.items():
            tally.add(figures[name].value, figures[name].low, figures[name].high, truth[name])
    return [[n, prevalence, judge, name, truth[name], *tally.shares()] for name, tally in found.items()]


def change(n: int, world: str, trials: int = 1000) -> list[list[object]]:
    """A line per figure of two judges on the same rows."""
    cells = EIGHT[world]
    counts = np.random.default_rng([n, list(EIGHT).index(world), 5]).multinomial(n, cells, size=trials)
    rows: list[list[object]] = []
    for name in FIGURES:
        truth, tally = true_change(cells, name), Tally(APART["change"])
        for c in counts.astype(float):
            found = change_of(c[None], name)
            tally.add(found.value, found.low, found.high, truth)
        rows.append([n, world, name, truth, *tally.shares()])
    return rows


def estimate(n: int, judge: str, p: float | None, trials: int = 1000) -> list[list[object]]:
    """The pass rate (p) or mean rating of 1,000 outputs of which n are labelled."""
    rng = np.random.default_rng([n, list(estimates.JUDGES).index(judge), round(100 * (p or 0)), 6])
    what, truth = ("mean rating", estimates.TRUTH) if p is None else ("pass rate", p)
    tally = Tally(APART[what])
    for _ in range(trials // estimates.AT_ONCE):
        y = estimates.people(rng, estimates.AT_ONCE, p, 0.0)
        f = estimates.judged(rng, y, estimates.RATING if p is None else "verdict", judge)
        found = mean_estimate(estimates.drawn(rng, y, f, n, "random"), "ppi++", equal_tails=True)
        for value, low, high in zip(*(np.ravel(a) for a in (found.value, found.low, found.high)), strict=True):
            tally.add(float(value), float(low), float(high), truth)
    return [[n, judge, what, truth, *tally.shares()]]


def interval_ends(counts: np.ndarray, name: str, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of a figure from counts of the four cells (… × 4)."""
    if name in SHARES:
        share = SHARES[name]
        return proportion_interval(share.over(counts), share.below(counts), level)
    found = [figure_of(c[None], name, level=level) for c in counts.reshape(-1, 4)]
    low, high = (np.reshape([getattr(f, end) for f in found], counts.shape[:-1]) for end in ("low", "high"))
    return low, high


class Checked:
    """Figures that are checked together in one gate, with their upper ends at any level, computed when needed."""

    def __init__(self, counts: list[np.ndarray], names: list[str]) -> None:
        self.counts, self.names = counts, names
        self.highs: dict[tuple[int, float], float] = {}

    def high(self, k: int, level: float) -> float:
        """Upper end of figure k."""
        if (k, level) not in self.highs:
            self.highs[k, level] = float(interval_ends(self.counts[k], self.names[k], level)[1])
        return self.highs[k, level]

    def failures(self, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of the first limits are failed without and with the correction."""
        alone = np.array([self.high(k, LEVEL) < limit for k, limit in enumerate(limits)])

        def lies_below(level: float) -> np.ndarray:
            return np.array([b and self.high(k, level) < limits[k] for k, b in enumerate(alone)])

        return alone, correct_failures(lies_below, len(limits), LEVEL)[0]


def several(judge: str, own_labels: bool, n: int = 150, trials: int = 2000) -> list[list[object]]:
    """A line per number of limits: kappa in groups with labels of their own, or three figures of judges on one set."""
    cells = cells_of(0.5, *JUDGES[judge])
    rng = np.random.default_rng([n, list(JUDGES).index(judge), own_labels, 21])
    names = ["kappa"] * 30 if own_labels else list(FIGURES) * 10
    truth = np.array([true_values(cells)[name] for name in names])
    human_named = np.stack([cells[:2] / cells[:2].sum(), cells[2:] / cells[2:].sum()])
    at_truth, one_fails, all_fail = ({k: [] for k in LIMITS} for _ in range(3))
    for trial in range(trials):
        if own_labels:
            counts = list(rng.multinomial(n, cells, 30).astype(float))
        else:  # all judges judge the same rows
            people = rng.binomial(n, 0.5)
            drawn = [rng.multinomial(m, human_named[k], 10) for k, m in enumerate((n - people, people))]
            counts = [c for c in np.concatenate(drawn, axis=1).astype(float) for _ in FIGURES]
        gate = Checked(counts, names)
        for k in LIMITS:
            mine = truth[:k]
            at_truth[k].append([f.any() for f in gate.failures(mine)])
            limits = mine - APART["minimum"]
            limits[0] = mine[0] + APART["minimum"]
            one_fails[k].append([f[0] for f in gate.failures(limits)])
            if trial < trials // 5:
                all_fail[k].append([f.mean() for f in gate.failures(mine + APART["minimum"])])
    what = "kappa of groups, own labels" if own_labels else "three figures of judges, same labels"
    return [
        [what, judge, k, *(float(v) for found in (at_truth, one_fails, all_fail) for v in np.mean(found[k], axis=0))]
        for k in LIMITS
    ]


def looks(judge: str, name: str, growing: bool, trials: int = 1000) -> list[list[object]]:
    """A line per number of looks: at a label set that grows by as many labels each time, or at new labels each time."""
    cells, rows = cells_of(0.5, *JUDGES[judge]), []
    truth = true_values(cells)[name]
    for number_of_looks in (5, 20):
        rng = np.random.default_rng([number_of_looks, list(JUDGES).index(judge), FIGURES.index(name), growing, 22])
        each = MOST_LABELS // number_of_looks if growing else 200
        counts = rng.multinomial(each, cells, (trials, number_of_looks)).astype(float)
        counts = counts.cumsum(axis=1) if growing else counts
        found = [interval_ends(counts, name, level) for level in (LEVEL, level_of_look(number_of_looks))]
        shares: list[object] = [float(((low >= truth) | (high < truth)).any(axis=1).mean()) for low, high in found]
        for side in (-1, 1) if growing else ():
            limit = truth + side * APART_LOOKS[name]
            for (low, high), chosen in zip(found, (slice(-1, None), slice(None)), strict=True):
                right = low >= limit if side < 0 else high < limit
                shares.append(float(right[:, chosen].any(axis=1).mean()))
        sizes = f"{each} to {MOST_LABELS}, growing" if growing else f"{each} new ones each time"
        rows.append([number_of_looks, sizes, judge, name, *shares, *["–"] * (6 - len(shares))])
    return rows


def heads(*first: str, apart: str) -> list[str]:
    return [
        *first,
        "true",
        "limit there: passed",
        "limit there: failed",
        f"limit {apart} below: passed",
        f"limit {apart} above: failed",
    ]


JUDGED = [(p, judge) for p in (0.5, 0.9) for judge in ("good", "lenient")]


def cells() -> dict[str, Callable[[], Any]]:
    """Name of each cell → what computes its lines."""
    work: dict[str, Callable[[], Any]] = {}
    for n in (50, 150):
        work |= {f"labels/{n}/{p}/{j}": lambda n=n, p=p, j=j: labels(n, p, j) for p, j in JUDGED}
    work |= {f"correlations/{n}": lambda n=n: correlations(n, 100) for n in (12, 30)}
    for units, own, j in (("groups", True, "good"), ("groups", True, "lenient"), ("judges", False, "lenient")):
        work[f"several/{units}/{j}"] = lambda own=own, j=j: several(j, own)
    for labels_are, grow in (("growing", True), ("new", False)):
        work |= {f"looks/{labels_are}/{name}": lambda name=name, g=grow: looks("good", name, g) for name in APART_LOOKS}
    for n in (30, 100, 300, 1000):
        work |= {f"minimum/{n}/{p}/{j}": lambda n=n, p=p, j=j: minimum(n, p, j) for p, j in JUDGED}
        work |= {f"change/{n}/{world}": lambda n=n, w=world: change(n, w) for world in EIGHT}
    for n in (30, 100, 300):
        work |= {
            f"estimate/{n}/{j}/{p}": lambda n=n, j=j, p=p: estimate(n, j, p)
            for j in estimates.JUDGES
            for p in (0.5, 0.9, None)
        }
    return work


def tables(kept: dict[str, Any]) -> dict[str, list[str]]:
    """Name of the place in docs/gate.md → lines."""
    named = [
        "labels",
        "human pass rate",
        "judge",
        "figure",
        "limit .1 below: decided",
        "of these rightly passed",
        "limit .1 (shares: .07) above: decided",
        "of these rightly failed",
    ]
    columns = {
        "labels": named,
        "correlations": heads("systems × inputs", "measure", "of what", apart=".15 (change: .1)"),
        "several": [
            "what the limits are for",
            "judge",
            "limits",
            "all limits there: failed, uncorrected",
            "Holm",
            "one limit .15 above: it is failed, uncorrected",
            "Holm",
            "all limits .15 above: share failed, uncorrected",
            "Holm",
        ],
        "looks": [
            "looks",
            "labels",
            "judge",
            "figure",
            "limit there: any decision, no `--looks`",
            "`--looks`",
            "limit .05 (agreement: .025) below: passed, one look at the end",
            "`--looks`",
            "limit as far above: failed, one look at the end",
            "`--looks`",
        ],
        "minimum": heads("labels", "human pass rate", "judge", "figure", apart=".15"),
        "change": heads("labels", "judges", "figure", apart=".1"),
        "estimate": heads("labels", "judge", "figure", apart=".1 (.3 of a rating)"),
    }
    return {
        f"gate {name}": table(head, [r for cell, rows in kept.items() if cell.startswith(f"{name}/") for r in rows])
        for name, head in columns.items()
    }
