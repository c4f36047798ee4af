"""Accuracy of relative rankings: does a metric order two outputs as humans do? (Novikova et al. 2017, Table 12)"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from nlgauge import Dataset, Table
from nlgauge.plugins import Choice, NeedsMissing, Panel, Row, Title, analysis, counted, flipped_words, panels_of
from nlgauge.stats import order_tests
from nlgauge_papers.common import Array, Mask, Outputs, Steps
from nlgauge_papers.novikova2017.quantize import quantize, scale_levels

SHUFFLES = 499


@analysis(
    "relative-ranking",
    trials="mean",
    paper="novikova2017",
    takes="groups",
    question="Does a metric order two outputs of an input as humans do?",
)
def relative_ranking(
    choice: Choice,
    *,
    levels: int | None = None,
    draws: int = 100,
    level: float = 0.05,
    outputs: Outputs = "clustered",
    progress: Steps | None = None,
) -> Table:
    """Compute the share of pairs of outputs of the same input that a metric orders as the human ratings do.

    Parameters
    ----------
    levels : int, optional
        Number of equal-width bins into which scores are divided for the column `quantized`. Default: the number of
        distinct ratings.
    draws : int, default 100
        Number of random scores with which the metric is compared.

    Returns
    -------
    Table
        One row per part, aspect and metric: per cent of pairs ordered alike (a tie is an order too), the same with cut
        scores (`quantized`) and of random scores (`random`), and p.

    Notes
    -----
    Table 12 of Novikova et al. (2017). Pairs of one input share outputs, and inputs share systems: p is from shuffling
    whole systems and inputs. With outputs='independent' it is the paper's, the median over the draws of Wilcoxon's
    signed rank test on right and wrong pairs, and `better_in` the share of draws that the metric beats significantly.
    """
    data, seed = choice.data, choice.seed
    parts = choice.parts
    wanted = choice.wanted
    ends = {m: _ends(data, m) for m in (choice.metrics or data.metrics)}
    rows: list[Row] = []
    lost: list[str] = []
    for part, aspect in counted([(part, aspect) for part in parts for aspect in wanted], progress):
        for _, panel in panels_of([part], aspect, lost):
            if panel.n_systems < 2:
                lost.append(f"{part.name}, {aspect}: one system only")
                continue
            steps = levels or scale_levels(_ratings(data, aspect, choice.aggregate, panel))
            rows += _rows(part, panel, steps, ends, draws, level, outputs, seed)
    if not rows:
        raise NeedsMissing(
            f"no pairs of outputs of one input ({'; '.join(dict.fromkeys(lost))}).",
            data=data.name,
            code="too_few_outputs",
        )
    columns = choice.columns
    return Table(
        title=Title(data.name, f"which of two outputs is better? Per cent ordered as {data.rated_by} order them"),
        rows=rows,
        shown=[
            *columns,
            "aspect",
            "metric",
            "accuracy",
            "quantized",
            "random",
            "p",
            *(["better_in"] if outputs == "independent" else []),
            "p_quantized",
            "significant",
            "pairs",
        ],
        decimals=2,
        method="Pairs of outputs of one input by two systems; ties are allowed on both sides. Quantized: "
        f"{_steps(rows)} bins of equal width, as many as the ratings have steps. Random: scores drawn evenly from 0 "
        f"to 1, mean of {draws} draws, seed {seed}. p: {_test_words(outputs)}; significant: above random, p < "
        f"{level:g}.",
        notes=_notes(rows, lost, data),
        signature=f"by:{','.join(columns) or 'none'}|levels:{levels or 'ratings'}"
        f"|aggregate:{choice.aggregate}|draws:{draws}|seed:{seed}",
    )


@dataclass(frozen=True)
class Orders:
    """Which of each pair is higher (-1, 0, 1), and where both values are there."""

    sign: NDArray[np.int8]
    there: Mask


def orders(values: Array) -> Orders:
    """Return the order of each pair of systems × inputs for one table of scores (systems × inputs)."""
    pairs = list(combinations(range(len(values)), 2))
    gap = np.concatenate([values[i] - values[j] for i, j in pairs])
    there = np.isfinite(gap)
    return Orders(np.sign(np.where(there, gap, 0.0)).astype(np.int8), there)


def signed_rank_p(ours: Mask, theirs: Mask) -> Array:
    """Compute the p-value of Wilcoxon's signed-rank test of correct and incorrect pairs against every row of `theirs`.

    All differences are 1 or -1, so all ranks are equal and the test statistic is (b - c)/sqrt(b + c).

    >>> signed_rank_p(np.array([True] * 9 + [False]), np.zeros((1, 10), bool)).round(4).tolist()
    [0.0027]
    """
    wins, losses = (ours & ~theirs).sum(axis=1), (~ours & theirs).sum(axis=1)
    apart = wins + losses
    z = np.abs(wins - losses) / np.sqrt(np.maximum(apart, 1))
    return np.asarray(np.where(apart > 0, 2 * ndtr(-z), 1.0))


def _rows(
    part: Choice,
    panel: Panel,
    steps: int,
    ends: dict[str, tuple[float, float]],
    draws: int,
    level: float,
    outputs: Outputs,
    seed: int,
) -> list[Row]:
    people = orders(panel.human)
    # The same random scores for every aspect: a row does not depend on the other aspects.
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    chance = rng.random((max(draws, 1), *panel.human.shape))
    right = {
        "accuracy": np.stack([orders(c).sign == people.sign for c in chance]),
        "quantized": np.stack([orders(quantize(c, steps, (0.0, 1.0))).sign == people.sign for c in chance]),
    }
    rows: list[Row] = []
    for metric, scores in panel.metrics.items():
        sign = -1.0 if metric in panel.lower else 1.0
        # Scores are quantized before the sign is flipped: a score on an edge belongs to the lower bin.
        forms = {"accuracy": sign * scores, "quantized": sign * quantize(scores, steps, ends[metric])}
        row: Row = {**part.group, "part": part.name, "aspect": panel.aspect, "metric": metric, "levels": steps}
        for name, values in forms.items():
            row |= _against(name, orders(values), people, right[name], level)
            if outputs == "clustered":
                row |= _shuffled(name, values, panel.human, row, level, seed)
        rows.append(row)
    return rows


def _shuffled(name: str, values: Array, human: Array, row: Row, level: float, seed: int) -> Row:
    """Return the columns of the test that accounts for systems and inputs."""
    more = "" if name == "accuracy" else "_quantized"
    [p] = order_tests(values[None], human, draws=SHUFFLES, seed=seed)
    above = bool(row[name] > row[f"random{more}"] and p < level)
    return {f"p{more}": float(p), f"better_in{more}": float("nan"), f"significant{more}": above}


def _test_words(outputs: Outputs) -> str:
    if outputs == "clustered":
        return f"whole systems and whole inputs of the ratings shuffled, {SHUFFLES} draws, two-sided"
    return (
        "Wilcoxon's signed rank test on right and wrong pairs, taken as independent, against each draw of random "
        "scores, two-sided, median of the draws"
    )


def _against(name: str, ours: Orders, people: Orders, right: Mask, level: float) -> Row:
    """Return the columns of one form of the scores; those of the raw scores have the plain names."""
    there = ours.there & people.there
    n = int(there.sum())
    more = "" if name == "accuracy" else "_quantized"
    columns = [name, f"random{more}", f"p{more}", f"better_in{more}", f"significant{more}"]
    if not n:
        return {**dict.fromkeys(columns[:4], float("nan")), columns[4]: False, "pairs": 0}
    correct = (ours.sign == people.sign)[there]
    chance = right[:, there]
    p = signed_rank_p(correct, chance)
    above = correct.sum() > chance.sum(axis=1)
    share = float((above & (p < level)).mean())
    middle = float(np.median(p))
    wins = correct.mean() > chance.mean() and middle < level
    values = [100 * float(correct.mean()), 100 * float(chance.mean()), middle, share, bool(wins)]
    return {**dict(zip(columns, values, strict=True)), "pairs": n}


def _ends(data: Dataset, metric: str) -> tuple[float, float]:
    """Return the range of a metric over all outputs of the data, not only of one part."""
    if metric not in data.metrics:
        data.only_metrics([metric])  # says what there is
    column = data.scores[metric].cast(float).drop_nulls().drop_nans()
    return (float(column.min()), float(column.max())) if len(column) else (0.0, 0.0)  # type: ignore[arg-type]


def _ratings(data: Dataset, aspect: str, aggregate: str, panel: Panel) -> Array:
    """Return ratings that show the levels of the scale: those of the whole data if there is one rating per output."""
    if panel.raters.get(aspect) is not None:
        return panel.human
    return data.ratings.filter(data.ratings["aspect"] == aspect)["value"].to_numpy()


def _steps(rows: list[Row]) -> str:
    result = sorted({r["levels"] for r in rows})
    return str(result[0]) if len(result) == 1 else f"{result[0]}–{result[-1]}"


def _notes(rows: list[Row], lost: list[str], data: Dataset) -> list[str]:
    notes = [f"left out: {'; '.join(dict.fromkeys(lost))}."] if lost else []
    if any(0.05 < r["better_in"] < 0.95 for r in rows):
        notes.append("better in: where it is neither 0 nor 1, significance depends on which random scores are drawn.")
    if empty := [f"{r['metric']} ({r['part']})" for r in rows if not r["pairs"]]:
        notes.append(f"no pairs with scores: {', '.join(dict.fromkeys(empty))}.")
    return [*notes, *flipped_words(data.lower & {r["metric"] for r in rows})]
