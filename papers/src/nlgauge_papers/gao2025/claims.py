"""Takeaways of Gao et al. (2025), each as a number of statements that hold or do not hold.

`claims` tests them on the simulation (sections 4.3 and 4.4) and on the paper's own printed Tables 2, 3 and 7 (section
5). `claims-sets` tests published sets with the metrics published with them: the same questions for other metrics than
the paper's. A statement of an order is each pair of it: "global < input < item < system" are six.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from nlgauge import Dataset, analyze
from nlgauge.plugins import NeedsMissing, Row, number
from nlgauge.stats import SimulationParams
from nlgauge_papers import Key, Ours, Sources, all_studies, study, why_absent
from nlgauge_papers.compare import published
from nlgauge_papers.gao2025.simulation import relation, scale

TIE_TOLERANCE = 0.05  # tolerance of ≈
STILL = 0.02  # a series with smaller changes "hardly moves"
NOISE = 0.005  # falls up to this are noise: about the standard error of a mean over draws of thresholds
ORDERS = {
    "DP by level": "global < input < item < system",
    "DP by coefficient": "pearson < spearman < kendall",
    "RC by level": "input ≈ global > item > system",
    "RC by coefficient": "pearson > kendall > spearman",
}
LEVELS, COEFFICIENTS = ("system", "input", "global", "item"), ("pearson", "spearman", "kendall")
STILL_WITH_SCALE = ("system/spearman", "system/kendall")
UP_AND_DOWN = ("input/kendall", "global/kendall", "item/kendall")
SIZES = {"simulation, 15 systems × 200 inputs": (15, 200), "simulation, 5 systems × 100 inputs": (5, 100)}
TRIALS, REDRAWS = 50, 10
SETS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "SummEval": ("summeval", {}, ("coherence", "consistency", "fluency", "relevance")),
    "REALSumm": ("realsumm", {}, ("litepyramid_recall",)),
    "USR Persona-Chat": ("usr-persona", {}, ()),
    "USR Topical-Chat": ("usr-topical", {}, ()),
    "HANNA": ("hanna", {}, ()),
    "WMT23 zh-en news": ("wmt23-zh-en", {"domain": "news"}, ("mqm",)),
}
DRAWS = 50

Values = Mapping[str, float]


def statements_of(order: str) -> list[tuple[str, str, str]]:
    """Return each pair of an order with its sign.

    >>> statements_of("input ≈ global > item")
    [('input', '≈', 'global'), ('input', '>', 'item'), ('global', '>', 'item')]
    """
    words = order.split()
    names, signs = words[::2], words[1::2]
    return [
        (a, next((s for s in signs[i:j] if s != "≈"), "≈"), names[j])
        for i, a in enumerate(names)
        for j in range(i + 1, len(names))
    ]


def statements(order: str, values: Values) -> tuple[int, list[str]]:
    """Count the pairs of an order that hold, and list those that do not; ≈ means within .05.

    >>> statements("input ≈ global > item", {"input": 0.7, "global": 0.9, "item": 0.8})
    (1, ['input 0.700 not ≈ global 0.900', 'input 0.700 not > item 0.800'])
    """
    held, broken = 0, []
    for a, sign, b in statements_of(order):
        x, y = values[a], values[b]
        if {"<": x < y, ">": x > y, "≈": abs(x - y) <= TIE_TOLERANCE}[sign]:
            held += 1
        else:
            broken.append(f"{a} {number(x)} not {sign} {b} {number(y)}")
    return held, broken


class ClaimCounts:
    """Counts the statements of each claim that hold, and lists those that do not."""

    def __init__(self) -> None:
        self.values: dict[Key, float] = {}
        self.reasons: dict[Key, str] = {}

    def add(self, claim: str, on: str, held: int, broken: Sequence[str]) -> None:
        """Count the statements of a claim that hold, and keep those that do not as the reason."""
        self.values[claim, on] = held
        if broken:
            self.reasons[claim, on] = "; ".join(broken)

    def orders(self, kind: str, on: str, value: Mapping[tuple[str, str], float]) -> None:
        """Add both orders of DP or RC by the mean over the other side."""
        means = {
            "level": {g: fmean(value[g, c] for c in COEFFICIENTS) for g in LEVELS},
            "coefficient": {c: fmean(value[g, c] for g in LEVELS) for c in COEFFICIENTS},
        }
        for side, values in means.items():
            order = ORDERS[f"{kind} by {side}"]
            self.add(f"{kind} by {side}: {order}", on, *statements(order, values))

    def series(
        self, claim: str, on: str, all_: Mapping[str, Sequence[float]], holds: Callable[[Sequence[float]], bool]
    ) -> None:
        """Count the series for which a claim holds."""
        broken = [f"{name}: " + " ".join(map(number, values)) for name, values in all_.items() if not holds(values)]
        self.add(claim, on, len(all_) - len(broken), broken)


def rises(values: Sequence[float]) -> bool:
    """Return whether a series rises from the first to the last value, without a fall beyond noise."""
    highest = values[0]
    for value in values:
        if value < highest - NOISE:
            return False
        highest = max(highest, value)
    return values[-1] > values[0]


def still(values: Sequence[float]) -> bool:
    """Return whether a series hardly changes."""
    return max(values) - min(values) <= STILL


def rises_then_falls(values: Sequence[float]) -> bool:
    """Return whether the highest value lies between the first and the last."""
    return values[0] < max(values) > values[-1]


def _lines(rows: Iterable[Row], lines: str) -> dict[str, list[float]]:
    """Return the values of each measure along the grid."""
    results: dict[str, list[float]] = {}
    for row in rows:
        results.setdefault(row["measure"], []).append(row["value"])
    return {f"{name} over {lines}": values for name, values in results.items()}


@study("gao2025", "claims", title="Takeaways: on the simulation and on the paper's own tables", sets=[], claims=True)
def claims(sources: Sources) -> Ours:
    """Count the statements that hold in the simulation, and in Tables 2, 3 and 7 as printed."""

    result = ClaimCounts()
    for on, (systems, inputs) in SIZES.items():
        params = replace(SimulationParams(), N=systems, M=inputs)
        capable, within = (
            _lines(t.rows, name) for t, name in zip(relation(params, trials=TRIALS), ("ρ_sys", "μ_ρ"), strict=True)
        )
        both = {k: v for k, v in (capable | within).items() if k.startswith(("input/", "global/"))}
        result.series("raising ρ_sys or μ_ρ raises input and global level", on, both, rises)
        sizes = _lines(scale(params, trials=TRIALS, redraws=REDRAWS).rows, "scale size")
        first = {k: next(v for n, v in sizes.items() if n.startswith(k)) for k in STILL_WITH_SCALE}
        result.series("system Spearman and Kendall hardly move with scale size", on, first, still)
        peak = {k: v for k, v in sizes.items() if k.startswith(UP_AND_DOWN)}
        result.series("input, global and item Kendall rise, then fall with scale size", on, peak, rises_then_falls)
        rest = {k: v for k, v in sizes.items() if k not in peak and not k.startswith(STILL_WITH_SCALE)}
        result.series("the other measures rise with scale size", on, rest, rises)
    for table, kind in (("2", "DP"), ("7", "DP"), ("3", "RC")):
        cells = published(all_studies()[f"gao2025/{table}"])[1]
        by = _by_measure((cell.key, cell.value) for cell in cells)
        result.orders(kind, f"Table {table}, mean of D1 to D30", by)
        worst = _system_worst(((cell.key, cell.value) for cell in cells), low=kind == "DP")
        words = f"system level is worst on {worst} of 30 sets"
        result.add(
            f"{kind}: system level is worst on most sets",
            f"Table {table}",
            int(worst > 15),
            [words] if worst <= 15 else [],
        )
    return Ours(
        result.values,
        result.reasons,
        notes=[
            f"simulation: {TRIALS} trials (paper: 1000 for the relation, 100 × 100 for the scale; here {TRIALS} × "
            f"{REDRAWS}), seed 0; hardly moves: at most {STILL}; rises: never more than {NOISE} below what it had "
            f"reached; ≈: within {TIE_TOLERANCE}."
        ],
    )


def _by_measure(cells: Iterable[tuple[Key, float]]) -> dict[tuple[str, str], float]:
    """Compute the means over D1 … D30 by level and coefficient."""
    gathered: dict[tuple[str, str], list[float]] = {}
    for (_, level, function), value in cells:
        gathered.setdefault((level.lower(), function.lower()), []).append(value)
    return {key: fmean(values) for key, values in gathered.items()}


def _system_worst(cells: Iterable[tuple[Key, float]], low: bool) -> int:
    """Return the number of sets on which the mean over coefficients is worst at system level."""
    sets: dict[str, dict[str, list[float]]] = {}
    for (name, level, _), value in cells:
        sets.setdefault(name, {}).setdefault(level.lower(), []).append(value)
    worst = max if low else min
    return sum(worst(levels, key=lambda g: fmean(levels[g])) == "system" for levels in sets.values())


@study(
    "gao2025",
    "claims-sets",
    title="Takeaways of section 5 on published sets with other metrics",
    sets=[name for name, _, _ in SETS.values()],
    slow=True,
    claims=True,
)
def claims_on_sets(sources: Sources) -> Ours:
    """Count the statements about DP and RC that hold with the metrics published with six sets."""
    result = ClaimCounts()
    notes = []
    for on, (name, options, aspects) in SETS.items():
        try:
            data = sources(name, **options)
        except NeedsMissing as error:
            result.reasons |= {(f"{kind}: {order}", on): why_absent(error) for kind, order in ORDERS.items()}
            continue
        sources.tell(f"{on}: DP and RC of {len(data.metrics)} metrics")
        values = stability_of(data, aspects or tuple(data.aspects))
        for kind in ("DP", "RC"):
            result.orders(kind, on, values[kind])
        notes.append(f"{on}: {len(data.metrics)} metrics published with it, {len(aspects or data.aspects)} aspects")
    return Ours(
        result.values,
        result.reasons,
        notes=[
            "the metrics are others than the paper's 32, whose scores were never published: this asks whether the "
            "claims hold beyond them, not whether the paper counted right. People stay among the systems, as in the "
            f"paper; means over aspects; {DRAWS} draws and splits (paper: 1000), seed 0.",
            *notes,
        ],
    )


def stability_of(data: Dataset, aspects: Sequence[str]) -> dict[str, dict[tuple[str, str], float]]:
    """Compute DP and RC by (level, coefficient) as means over the aspects."""
    gathered: dict[str, dict[tuple[str, str], list[float]]] = {"DP": {}, "RC": {}}
    for aspect in aspects:
        for row in analyze("stability", data.panel(aspect, keep_human=True), draws=DRAWS, trials=DRAWS).rows:
            level, coefficient = row["measure"].split("/")
            for kind, values in gathered.items():
                values.setdefault((level, coefficient), []).append(row[kind.lower()])
    return {kind: {key: fmean(v) for key, v in values.items()} for kind, values in gathered.items()}
