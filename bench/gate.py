"""How often is a gate wrong, and how often does it decide? Writes docs/gate.md's table: `python -m bench.gate`.

People's and a judge's verdicts are drawn from a population whose figures are known; the limit is the true value itself
(there whatever is decided is as often wrong as it can be), or lies .15 below or above it.
"""

from __future__ import annotations

import numpy as np

from bench._trust_page import table
from bench._verdict_worlds import JUDGES, cells_of, true_values
from nlgauge.door.gate import PASSED, UNDECIDED, decided
from nlgauge.stats.agreement.two_by_two import cell_counts, figures_of

FIGURES = ("kappa", "fail_recall", "agreement")
APART = 0.15


def rates(n: int, prevalence: float, judge: str, trials: int = 500) -> list[list[object]]:
    """A line per figure: passed and failed at the limit, passed and undecided with the limit below, failed above."""
    cells = cells_of(prevalence, *JUDGES[judge])
    truth = true_values(cells)
    rng = np.random.default_rng([n, int(100 * prevalence), list(JUDGES).index(judge)])
    said: dict[tuple[str, float], list[str]] = {}
    for _ in range(trials):
        kind = rng.choice(4, size=n, p=cells)  # both fail, only people fail, only the judge fails, both pass
        found = figures_of(cell_counts(kind >= 2, (kind == 1) | (kind == 3), None), clustered=False)
        for name in FIGURES:
            for shift in (0.0, -APART, APART):
                figure = found[name]
                verdict = decided(figure.value, figure.low, figure.high, truth[name] + shift)
                said.setdefault((name, shift), []).append(verdict)

    def share(name: str, shift: float, verdict: str) -> float:
        return said[name, shift].count(verdict) / trials

    return [
        [n, prevalence, judge, name, truth[name], share(name, 0, PASSED), 1 - share(name, 0, PASSED) - share(name, 0, UNDECIDED),
         share(name, -APART, PASSED), 1 - share(name, APART, PASSED) - share(name, APART, UNDECIDED)]
        for name in FIGURES
    ]  # fmt: skip


def main() -> None:
    heads = ["labels", "people pass", "judge", "figure", "true", "limit there: passed", "limit there: failed",
             "limit .15 below: passed", "limit .15 above: failed"]  # fmt: skip
    rows = [
        row for n in (30, 100, 300, 1000) for p in (0.5, 0.9) for j in ("good", "lenient") for row in rates(n, p, j)
    ]
    print("\n".join(table(heads, rows)))


if __name__ == "__main__":
    main()
