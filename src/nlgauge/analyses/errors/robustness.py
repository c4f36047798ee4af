"""Perturbation sensitivity and invariance of metrics, on texts that are changed in known ways, without ratings.

Robustness is the limitation that nimah2023 names; the perturbation checklist is that of Sai et al. (2021).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import polars as pl

from nlgauge import __version__
from nlgauge.analyses import Progress, analysis
from nlgauge.analyses.errors._injection import attack_facts, probe_table
from nlgauge.analyses.errors._versions import Versions, kinds_of, versions
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import NameUnknown, NeedsMissing, NlgaugeError
from nlgauge.metrics import Metric, metric_from_spec
from nlgauge.number import number, some
from nlgauge.options import option
from nlgauge.scoring.plan import missing, parse, there
from nlgauge.scoring.score import Scored, run
from nlgauge.stats.tests.paired_changes import Moves, mean_interval, monotonicity, moves, signs
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.text.damage import ASPECTS, ATTACKS, KEYS, aspect_of, effect
from nlgauge.types import Array

__all__ = ["attack_versions", "probe_table", "robustness"]

# Cheap and dissimilar metrics; those that the data support are used by default.
DEFAULT = ("bleu", "chrf", "rouge-1", "rouge-l", "levenshtein", "coverage", "repetition", "length")
ALARM = ("stay", "not fall")
ATTACK = "not rise"  # what a score should do when an attack text is added
SIGNS: dict[str, str] = {"fall": "↓", "stay": "=", "not fall": "+", "open": "?", ATTACK: "≤"}
Show = Literal["falls", "change", "monotone"]
TITLES: dict[Show, str] = {
    "falls": "share of changed outputs whose score falls",
    "change": "mean change of the score, in SDs of the metric",
    "monotone": "rank correlation of amount and fall (1: more damage always costs more)",
}
OPEN = "the effect on this aspect is not known in general"
ATTACKED = (
    "an attack text is added, which asks a judge for the highest rating: the score must not rise; the share that rises "
    "(raised) and the mean change in points, with intervals, are in the rows"
)
MONOTONE = (
    "mean over outputs of tau-a between amount and fall, over versions that differ; a metric that does not move has 0"
)
MIN_OUTPUTS = 30  # outputs below which shares are imprecise


@analysis(
    "robustness",
    paper="nimah2023",
    takes="dataset",
    question="Is the metric sensitive to perturbations that damage a text, and invariant to harmless ones?",
)
def robustness(
    choice: Choice,
    *,
    perturbations: Sequence[str] | str | None = None,
    amounts: Sequence[float] | float = (0.1, 0.3, 0.6),
    sample: int = 200,
    threshold: float = 0.0,
    margin: float = 0.1,
    show: Show = "falls",
    draws: int = 1000,
    progress: Progress | None = None,
) -> Table:
    """Test whether a metric is sensitive to perturbations that damage a text, and invariant to harmless ones.

    `metrics` names metrics that can be run, not columns of scores. `aspects` names the aspect that they should
    measure: a negation, for example, must lower a score of consistency, but not one of fluency. By default, it is the
    aspect that the metric declares, or overall quality.

    Parameters
    ----------
    perturbations : str or sequence of str, optional
        Kinds of perturbations, such as `drop`, `negation` or `synonym`. Default: all that the data allow.
    amounts : float or sequence of float, default (0.1, 0.3, 0.6)
        Shares of the positions in a text that are perturbed; above 0, at most 1.
    sample : int, default 200
        Maximum number of outputs to perturb.
    threshold : float, default 0.0
        Minimum decrease of the score at which damage is detected, in standard deviations of the metric over the
        original outputs.
    margin : float, default 0.1
        Minimum decrease of the score that is a false alarm on a harmless perturbation, in the same standard deviations.
    show : {'falls', 'change', 'monotone'}, default 'falls'
        Statistic of the printed table: the share of pairs in which the score `falls`, the mean `change`, or whether
        the score decreases with the amount of damage (`monotone`). The rows hold all three.
    draws : int, default 1000
        Number of bootstrap samples over inputs for the intervals.

    Returns
    -------
    Table
        One row per perturbation and metric, over pairs of an output and a changed version of it: perturbation
        sensitivity or false-alarm rate with its interval, mean change in standard deviations, monotonicity,
        and number of pairs.

    References
    ----------
    Nimah et al. (2023), limitations; Sai et al. (2021), Perturbation CheckLists for Evaluating NLG Evaluation
    Metrics.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = robustness(ng.example(), metrics=["rouge-1"], perturbations=["drop", "upper"], sample=50)
    >>> [(row["perturbation"], row["should"], row["falls"] > 0.5) for row in table.rows]
    [('drop', 'fall', True), ('upper', 'stay', False)]
    """
    data, seed = choice.data, choice.seed
    steps = sorted({float(a) for a in ([amounts] if isinstance(amounts, int | float) else amounts)})
    if not steps or not 0 < steps[0] <= steps[-1] <= 1:
        raise NlgaugeError(f"{option('amounts')} must be above 0 and at most 1; got {amounts}.")
    if not (threshold >= 0 and margin >= 0):
        raise NlgaugeError(
            f"{option('threshold')} and {option('margin')} must be 0 or more; got {threshold} and {margin}."
        )
    chosen = _metrics(data, choice.metrics)
    expected = {str(m): _aspect(m, choice.aspects) for m in chosen}
    kinds = kinds_of(_listed(perturbations), attacks=any(m.facts.family == "judge" for m in chosen))
    made = versions(data, kinds, steps, sample=sample, keep_human=choice.keep_human, seed=seed, top=_top_rating(chosen))
    scored = run(made.data, chosen, progress=_adapted(progress))
    if not any(row["scored"] for row in scored.table.rows):
        raise NeedsMissing(f"robustness: no output has a score; {'; '.join(scored.table.headlines)}.", code="no_scores")
    rows: list[Row] = []
    notes: list[str] = []
    for metric in chosen:
        values = _values(scored, str(metric), 1 + len(made.kinds) * len(steps))
        mine, more = _rows(metric, expected[str(metric)], values, made, (threshold, margin), draws, seed)
        rows += mine
        notes += more
    order = {kind: k for k, kind in enumerate(made.kinds)}
    rows.sort(key=lambda row: order[row["perturbation"]])
    return Table(
        title=Title(data.name, f"{TITLES[show]}"),
        rows=rows,
        layout=_layout(show, rows),
        decimals=2,
        definitions=_definitions(rows, show, margin),
        method=f"{len(made.inputs)} outputs of {len(set(made.inputs))} inputs; amounts "
        f"{', '.join(f'{a:g}' for a in steps)} (share of places changed), nested within an output, versions "
        "with the same text counted once; detected: a fall "
        f"{'of any size' if not threshold else f'of more than {threshold:g} SD'}; SD: of the metric over the "
        f"unchanged outputs; confidence intervals (in the rows): bootstrap over inputs, {draws} draws, seed {seed}.",
        headlines=scored.table.headlines,
        answers=[*_verdicts(rows), *_attack_lines(rows)],
        notes=[*_few(made), *made.notes, *notes],
        facts=_unscored(rows),
        signature=f"nlgauge:{__version__}|outputs:{len(made.inputs)}|amounts:{','.join(f'{a:g}' for a in steps)}"
        f"|threshold:{threshold:g}|margin:{margin:g}|draws:{draws}|seed:{seed}",
    )


def _definitions(rows: list[Row], show: Show, margin: float) -> dict[str, str]:
    """Define the signs that occur in the table."""
    signs = {row["should"] for row in rows}
    return {
        "↓": "the text is worse; the share of pairs in which the metric falls is its sensitivity, ties are not "
        "detected (chance 0.50)",
        "=, +": f"the text is as good as before, or better; the share that falls by more than {margin:g} SD "
        "is the false-alarm rate",
        **({"≤": ATTACKED} if ATTACK in signs else {}),
        **({"?": OPEN} if "open" in signs else {}),
        **({"monotone": MONOTONE} if show == "monotone" else {}),
        "outputs": "number of outputs to which the change applies; the others are not scored",
    }


def attack_versions(data: Dataset, sample: int, top: str) -> Versions:
    """Return a sample of outputs, each also with every attack text; `top` is the rating that attacks name."""
    return versions(data, list(ATTACKS), (1.0,), sample=sample, keep_human=True, seed=0, top=top)


def _listed(names: Sequence[Any] | str | None) -> list[Any] | None:
    """Return names from a list or from 'a,b(c=1,d=2)'."""
    if names is None or not isinstance(names, str):
        return None if names is None else list(names)
    return [name.strip() for name in re.split(r",(?![^(]*\))", names) if name.strip()]


def _metrics(data: Dataset, asked: Sequence[str] | None) -> list[Metric]:
    if asked is None:
        has = there(data)
        return [m for m in map(metric_from_spec, DEFAULT) if not missing(m.facts, has)]
    names = [name for each in asked for name in (_listed(each) or [] if isinstance(each, str) else [each])]
    try:
        return list({str(m): m for m in parse(names, allow_code=True)}.values())
    except NameUnknown as error:
        columns = [name for name in names if name in data.metrics]
        hint = "; robustness scores changed texts and requires metrics that can be run, not columns of scores."
        raise NameUnknown(str(error).rstrip(".") + hint if columns else str(error)) from None


def _aspect(metric: Metric, asked: Sequence[str] | None) -> str:
    given = list(asked or [])
    if len(given) > 1:
        raise NlgaugeError(
            f"robustness evaluates one aspect at a time; set {option('aspect')} to one of {', '.join(given)}."
        )
    if given and aspect_of(given[0]) is None:
        raise NameUnknown(f"robustness: unknown aspect '{given[0]}'; expected one of {', '.join(ASPECTS)}.")
    own = given[0] if given else metric.aspect
    return aspect_of(own) or "overall"


def _adapted(progress: Progress | None) -> Any:
    return None if progress is None else lambda done, total, _: progress(done, total)


def _values(scored: Scored, name: str, blocks: int) -> Array:
    """Return the scores as blocks × outputs: the originals first, then each kind and amount of perturbation."""
    order = scored.data.samples.select(KEY)
    column = order.join(scored.data.scores, on=KEY, how="left", maintain_order="left")[name]
    return column.cast(pl.Float64).fill_null(np.nan).to_numpy().reshape(blocks, -1)


def _rows(
    metric: Metric, aspect: str, values: Array, made: Versions, limits: tuple[float, float], draws: int, seed: int
) -> tuple[list[Row], list[str]]:
    """Return the rows and remarks of one metric."""
    original = values[0]
    known = original[np.isfinite(original)]
    sd = float(known.std(ddof=1)) if len(known) > 1 else np.nan
    notes = []
    if not len(known):
        notes.append(f"{metric}: no unchanged output has a score.")
    elif not sd > 1e-12 * float(np.abs(known).max(initial=1e-300)):
        notes.append(
            f"{metric}: equal on all unchanged outputs, so there is no SD; changes and false alarms are not given."
        )
        sd = np.nan
    way = -1.0 if metric.facts.lower else 1.0
    blocks = values[1:].reshape(len(made.kinds), len(made.amounts), -1)
    rows: list[Row] = [
        {
            "perturbation": kind,
            "metric": str(metric),
            "aspect": aspect,
            **_moved(made, kind, way * original, way * after, sd, limits[should in ALARM], draws, seed),
            **(attack_facts(way * original, way * after[0], made.inputs, draws, seed) if should == ATTACK else {}),
            "should": should,
        }
        for kind, after in zip(made.kinds, blocks, strict=True)
        for should in ["fall" if kind in KEYS else ATTACK if kind in ATTACKS else effect(kind, aspect)]
    ]
    for row in rows:
        row["sensitivity"] = row["falls"] if row["should"] == "fall" else None
        row["false_alarms"] = row["falls"] if row["should"] in ALARM else None
        row["monotone"] = row["monotone"] if row["should"] == "fall" else None
    if lost := sum(row["unscored"] for row in rows):
        notes.append(f"{metric}: {lost} pairs without a score.")
    return rows, notes


def _moved(
    made: Versions, kind: str, original: Array, after: Array, sd: float, limit: float, draws: int, seed: int
) -> Row:
    """Compute how often and how far the scores of perturbed versions fall below the originals (higher is better)."""
    texts = made.text[kind]
    applies, first = texts >= 0, _first(texts)
    change = np.where(applies, after - original, np.nan)
    scale = np.maximum(np.abs(after), np.abs(original))
    # Without an SD only a limit of 0 is meaningful.
    sign = signs(change, limit * sd if limit else 0.0, scale)
    once = np.where(first, sign, np.nan)
    in_sd = change / sd
    all_pairs = moves(np.where(np.isfinite(once), in_sd, np.nan), once)
    (low, high), (less, more) = (
        mean_interval(np.where(np.isnan(once), np.nan, v), made.inputs, draws=draws, seed=seed)
        for v in (once == -1, in_sd)
    )
    outputs = int(applies.any(axis=0).sum())
    row: Row = {
        "outputs": outputs,
        "not_applicable": texts.shape[1] - outputs,
        "pairs": all_pairs.pairs,
        "unscored": int((first & np.isnan(change)).sum()),
        "falls": all_pairs.falls,
        "falls_low": float(low),
        "falls_high": float(high),
        "ties": all_pairs.ties,
        "rises": all_pairs.rises,
        "change": all_pairs.change,
        "change_low": float(less),
        "change_high": float(more),
        "monotone": monotonicity(change, texts, scale)[0],
    }
    for a, amount in enumerate(made.amounts):
        at: Moves = moves(in_sd[a], sign[a])
        share = f"{100 * amount:g}".replace(".", "_")  # in per cent
        row |= {f"falls_at_{share}": at.falls, f"change_at_{share}": at.change}
    return row


def _first(number: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Number the distinct texts of each output by first occurrence."""
    before = np.maximum.accumulate(np.vstack([np.full((1, number.shape[1]), -1), number[:-1]]), axis=0)
    return np.asarray(number > before)


def _unscored(rows: list[Row]) -> dict[str, str]:
    """Name the metrics without a comparable pair; the table is then incomplete."""
    scored = {row["metric"] for row in rows if row["pairs"]}
    lost = [metric for metric in dict.fromkeys(row["metric"] for row in rows) if metric not in scored]
    text = f"incomplete: no pair could be compared for {', '.join(lost)}; the table has the reasons."
    return {"unfinished": text} if lost else {}


def _layout(show: Show, rows: list[Row]) -> Layout:
    """Show expectations as signs next to the names, so that a wide table of numbers can be wrapped."""
    said = {
        kind: f"{kind} {_should([r for r in rows if r['perturbation'] == kind])}"
        for kind in {r["perturbation"] for r in rows}
    }
    return Layout(
        "perturbation", "metric", show, extra={"outputs": lambda mine: mine[0]["outputs"]}, line=said.__getitem__
    )


def _should(rows: list[Row]) -> str:
    """State what most metrics should do, then those that are meant to measure something else."""
    usual, _ = Counter(row["should"] for row in rows).most_common(1)[0]
    others = [f"{row['metric']} {SIGNS[row['should']]}" for row in rows if row["should"] != usual]
    return SIGNS[usual] + (f" ({', '.join(others)})" if others else "")


def _verdicts(rows: list[Row]) -> list[str]:
    """Summarize each metric: sensitivity, missed perturbations and false alarms."""
    return [
        _verdict(name, [r for r in rows if r["metric"] == name]) for name in dict.fromkeys(r["metric"] for r in rows)
    ]


def _verdict(name: str, rows: list[Row]) -> str:
    damage = sorted((r for r in rows if r["should"] == "fall" and r["pairs"]), key=lambda r: r["falls"])
    harmless = sorted((r for r in rows if r["should"] in ALARM and r["pairs"]), key=lambda r: -r["falls"])
    parts = []
    if damage:
        weak = [f"{r['perturbation']} {number(r['falls'], 2)}" for r in damage[:3] if r["falls"] < 0.9]
        parts.append(
            f"sensitivity {number(float(np.mean([r['falls'] for r in damage])), 2)}"
            + (f", least {', '.join(weak)}" if weak else "")
        )
    if harmless:
        worst = [f"{r['perturbation']} {number(r['falls'], 2)}" for r in harmless[:2] if r["falls"] > 0.1]
        parts.append(
            f"false-alarm rate {number(float(np.mean([r['falls'] for r in harmless])), 2)}"
            + (f", most {', '.join(worst)}" if worst else "")
        )
    costly = min(harmless, key=lambda r: r["change"], default=None)
    if costly is not None and costly["change"] < 0:
        less = [r["perturbation"] for r in sorted(damage, key=_fall) if r["change"] > costly["change"]]
        if less:
            parts.append(
                f"a harmless change ({costly['perturbation']}, {number(costly['change'], 2, sign=True)} SD) "
                f"lowers the score more than {some(less[::-1], 4)}"
            )
    return f"{name}: {'; '.join(parts) or 'no pair to compare'}."


def _top_rating(metrics: Sequence[Metric]) -> str:
    """Return the highest rating of the first judge's scale, which attack texts name."""
    top = next((m.facts.bounds[1] for m in metrics if m.facts.family == "judge"), 5.0)
    return f"{top:g}"


def _attack_lines(rows: list[Row]) -> list[str]:
    """State for each metric how far attack texts raise its scores."""
    lines = []
    attacks = [r for r in rows if r["should"] == ATTACK and r["attacked"]]
    for name in dict.fromkeys(r["metric"] for r in attacks):
        worst = max((r for r in attacks if r["metric"] == name), key=lambda r: float(r["points"]))
        low, high = (number(worst[f"points_{end}"], 2, sign=True) for end in ("low", "high"))
        lines.append(
            f"{name}: the most effective attack is {worst['perturbation']}: "
            f"{number(worst['points'], 2, sign=True)} [{low}, {high}] points on average, "
            f"raised in {number(worst['raised'], 2)} of {worst['attacked']} outputs."
        )
    return lines


def _few(made: Versions) -> list[str]:
    n = len(made.inputs)
    return (
        [f"with only {n} outputs the shares are imprecise; see the confidence intervals in the rows."]
        if n < MIN_OUTPUTS
        else []
    )


def _fall(row: Row) -> float:
    return float(row["change"])
