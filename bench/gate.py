"""How often is a gate wrong, and how often does it decide? Writes docs/gate.md's tables: `python -m bench.gate --write`.

People's and a judge's verdicts are drawn from a population whose figures are known; the limit is the true value itself
(there whatever is decided is as often wrong as it can be), or lies below or above it. The same for the change between
two judges on the same rows, and for the pass rate or mean rating estimated from few labels with a judge's help.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from bench import _estimate_worlds as estimates
from bench._cells import between
from bench._trust_page import table
from bench._verdict_worlds import JUDGES, cells_of, true_values
from nlgauge.door.gate import FAILED, PASSED, decided
from nlgauge.stats.agreement.two_by_two import cell_counts, figures_of
from nlgauge.stats.agreement.verdict_changes import NEW, OLD, VALUES, change_of
from nlgauge.stats.estimation.means import mean_estimate

PAGE = Path("docs/gate.md")
FIGURES = ("kappa", "fail_recall", "agreement")
APART = {"minimum": 0.15, "change": 0.1, "pass rate": 0.1, "mean rating": 0.3}


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
    f"{old} → {new}, people pass {p:g}": eight(p, JUDGES[old], JUDGES[new], alike)
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


def heads(*first: str, apart: str) -> list[str]:
    return [*first, "true", "limit there: passed", "limit there: failed", f"limit {apart} below: passed",
            f"limit {apart} above: failed"]  # fmt: skip


def tables() -> dict[str, list[str]]:
    return {
        "minimum": table(heads("labels", "people pass", "judge", "figure", apart=".15"), [
            row for n in (30, 100, 300, 1000) for p in (0.5, 0.9) for j in ("good", "lenient") for row in minimum(n, p, j)
        ]),
        "change": table(heads("labels", "judges", "figure", apart=".1"), [
            row for n in (30, 100, 300, 1000) for world in EIGHT for row in change(n, world)
        ]),
        "estimate": table(heads("labels", "judge", "figure", apart=".1 (.3 of a rating)"), [
            row for n in (30, 100, 300) for j in estimates.JUDGES for p in (0.5, 0.9, None) for row in estimate(n, j, p)
        ]),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.gate", description=(__doc__ or "").split("\n", maxsplit=1)[0]
    )
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE}")
    asked = parser.parse_args()
    found = tables()
    if asked.write:
        between(PAGE, {f"gate {name}": "\n".join(lines) for name, lines in found.items()})
    else:
        print("\n".join(line for lines in found.values() for line in lines))


if __name__ == "__main__":
    main()
