"""Slow twins: the figures of correlate, agreement and verdicts in plain Python, with exact fractions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Cell = tuple[str, str]  # system and input
Pairs = list[tuple[Fraction, Fraction]]


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def root(value: Fraction) -> float:
    """The square root, also of what is too large or too small for a float."""
    if value <= 0:
        return 0.0
    shift = (value.numerator.bit_length() - value.denominator.bit_length()) // 2
    return math.ldexp(math.sqrt(value / Fraction(4) ** shift), shift)


def ratio(above: Fraction, square: Fraction) -> float:
    """above / sqrt(square), in range."""
    return math.copysign(math.sqrt(above * above / square), above)


def pearson(pairs: Pairs) -> float:
    x, z = ([pair[k] for pair in pairs] for k in (0, 1))
    mx, mz = mean(x), mean(z)
    above = sum(((a - mx) * (b - mz) for a, b in pairs), Fraction(0))
    return ratio(above, sum((a - mx) ** 2 for a in x) * sum((b - mz) ** 2 for b in z))  # type: ignore[arg-type]


def ranks(values: Sequence[Fraction]) -> list[Fraction]:
    return [Fraction(1 + 2 * sum(v < each for v in values) + sum(v == each for v in values), 2) for each in values]


def spearman(pairs: Pairs) -> float:
    return pearson(list(zip(ranks([x for x, _ in pairs]), ranks([z for _, z in pairs]), strict=True)))


def kendall(pairs: Pairs) -> float:
    concordant = tied_x = tied_z = total = 0
    for (x, z), (u, w) in combinations(pairs, 2):
        total += 1
        tied_x += x == u
        tied_z += z == w
        concordant += (x > u) - (x < u) if z > w else (x < u) - (x > u) if z < w else 0
    return ratio(Fraction(concordant), Fraction((total - tied_x) * (total - tied_z)))


COEFFICIENTS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}


def varies(pairs: Pairs) -> bool:
    return len({x for x, _ in pairs}) > 1 and len({z for _, z in pairs}) > 1


def correlations(scores: Mapping[Cell, Fraction], human: Mapping[Cell, Fraction]) -> dict[str, tuple[float, int]]:
    """Measure -> value and how many groups it is the mean of; NaN where no group varies."""
    cells = [cell for cell in human if cell in scores]
    grouped: dict[str, list[Pairs]] = {"global": [[(scores[c], human[c]) for c in cells]]}
    for grouping, side in (("input", 1), ("item", 0)):
        names = dict.fromkeys(cell[side] for cell in cells)
        grouped[grouping] = [[(scores[c], human[c]) for c in cells if c[side] == name] for name in names]
    per_system = [pairs for pairs in grouped["item"] if pairs]
    grouped["system"] = [[(mean([x for x, _ in p]), mean([z for _, z in p])) for p in per_system]]
    found = {}
    for grouping, groups in grouped.items():
        least = 2 if grouping in ("input", "item") else 3  # one correlation of two points is always 1 or -1
        used = [pairs for pairs in groups if len(pairs) >= least and varies(pairs)]
        for name, coefficient in COEFFICIENTS.items():
            values = [coefficient(pairs) for pairs in used]
            found[f"{grouping}/{name}"] = (math.fsum(values) / len(values) if values else math.nan, len(used))
    return found


def alpha(units: Iterable[Sequence[Fraction]]) -> float:
    """Krippendorff's alpha for interval data, over the pairs of values of each unit."""
    units = [unit for unit in units if len(unit) > 1]
    values = [v for unit in units for v in unit]
    if not values:
        return math.nan
    observed = sum((2 * sum((a - b) ** 2 for a, b in combinations(u, 2)) / (len(u) - 1) for u in units), Fraction(0))
    # All ordered pairs: 2 n Σv² - 2 (Σv)².
    total = sum(values, Fraction(0))
    expected = 2 * len(values) * sum(v * v for v in values) - 2 * total * total
    if expected == 0:
        return math.nan
    return float(1 - (observed / len(values)) / (expected / (len(values) * (len(values) - 1))))


def icc(table: Sequence[Sequence[Fraction]]) -> dict[str, float]:
    """ICC(1), ICC(C,1) and ICC(A,1) of a complete table, units × raters, from the mean squares of the ANOVA."""
    n, k = len(table), len(table[0])
    grand = mean([v for row in table for v in row])
    rows = k * sum((mean(row) - grand) ** 2 for row in table)
    columns = n * sum((mean([row[j] for row in table]) - grand) ** 2 for j in range(k))
    total = sum((v - grand) ** 2 for row in table for v in row)
    between = Fraction(rows) / (n - 1)
    within = Fraction(total - rows) / (n * (k - 1))
    error = Fraction(total - rows - columns) / ((n - 1) * (k - 1))
    judges = Fraction(columns) / (k - 1)
    parts = {
        "ICC(1)": (between - within, between + (k - 1) * within),
        "ICC(C,1)": (between - error, between + (k - 1) * error),
        "ICC(A,1)": (between - error, between + (k - 1) * error + k * (judges - error) / n),
    }
    return {name: float(above / below) if below else math.nan for name, (above, below) in parts.items()}


def verdicts(human: Mapping[Cell, bool], judge: Mapping[Cell, bool]) -> dict[str, float]:
    """Counts of the four cells, and figures that follow from them."""
    cells = [cell for cell in human if cell in judge]
    count = {
        (people, by_judge): sum(human[c] is people and judge[c] is by_judge for c in cells)
        for people in (True, False)
        for by_judge in (True, False)
    }
    tp, fn, fp, tn = count[True, True], count[True, False], count[False, True], count[False, False]
    n = tp + fn + fp + tn
    by_chance = Fraction((tp + fn) * (tp + fp) + (fp + tn) * (fn + tn), n * n)
    agreement = Fraction(tp + tn, n)
    margins = (tp + fn) * (tp + fp) * (fp + tn) * (fn + tn)
    return {
        "both_pass": tp,
        "only_judge_fails": fn,
        "only_humans_fail": fp,
        "both_fail": tn,
        "agreement": float(agreement),
        "fail_recall": tn / (tn + fp) if tn + fp else math.nan,
        "pass_recall": tp / (tp + fn) if tp + fn else math.nan,
        "fail_precision": tn / (tn + fn) if tn + fn else math.nan,
        "pass_precision": tp / (tp + fp) if tp + fp else math.nan,
        "kappa": float((agreement - by_chance) / (1 - by_chance)) if by_chance != 1 else math.nan,
        "mcc": (tp * tn - fp * fn) / math.sqrt(margins) if margins else math.nan,
    }


def majority(votes: Sequence[Fraction], passes_from: Fraction) -> bool | None:
    """Pass or fail of most raters; None where they split evenly."""
    passed = sum(vote >= passes_from for vote in votes)
    return None if 2 * passed == len(votes) else 2 * passed > len(votes)


def same(a: float, b: float, tolerance: float = 1e-9) -> bool:
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
