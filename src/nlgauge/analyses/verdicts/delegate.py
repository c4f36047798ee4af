"""Which verdicts may the judge decide alone, with an error rate that is guaranteed, and what goes to humans?"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, signature
from nlgauge.analyses.verdicts._labeled import human_pass
from nlgauge.analyses.verdicts.delegate_words import answers, cell_texts
from nlgauge.analyses.verdicts.policy import Policy, Signal
from nlgauge.data.panel import Panel
from nlgauge.data.units import KEY, unit_by_input
from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.stats.agreement.selective import (
    SelectiveRule,
    both_thresholds,
    labels_for_rule,
    labels_without_error,
    selective_rule,
)
from nlgauge.stats.agreement.two_by_two import cell_counts, share_figures
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array, Bounds, Mask

Decide = Literal["both", "pass", "fail"]
SIDES: dict[Decide, tuple[str, ...]] = {"both": ("pass", "fail"), "pass": ("pass",), "fail": ("fail",)}
FAR = 50  # times the existing labels, beyond which a number of labels is not named
MOST_SIGNALS = 6  # among which delta is split
DRAW = re.compile(r"(.+)#\d+$")  # the column of one draw of a judge


@dataclass(frozen=True)
class RuleRequest:
    """Requested options. `delta` is the error probability of each test, after the split over verdicts and signals."""

    error: float
    confidence: float
    delta: float
    sides: tuple[str, ...]
    level: float
    seed: int
    costs: tuple[float, float]  # of a human label, and of the judge for one output


@dataclass(frozen=True)
class ScoredOutputs:
    """All outputs with a score of the signal, labeled or not: scores, and the unit of each where units are clusters."""

    value: Array
    units: list[str] | None


@dataclass(frozen=True)
class SignalLabels:
    """Labeled outputs with a score of the signal, in canonical order."""

    passed: Mask
    value: Array
    units: list[str] | None

    def side(self, side: str) -> tuple[Array, Mask]:
        """Return how sure the judge is of this verdict on each output, and whether the verdict would be wrong."""
        return (self.value, ~self.passed) if side == "pass" else (-self.value, self.passed)


@analysis("delegate", question="Which verdicts may the judge decide alone?", declared=True)
def delegate(
    panel: Panel,
    *,
    error: Annotated[float, Bounds(0.001, 0.5)] = 0.05,
    confidence: Annotated[float, Bounds(0.5, 0.999)] = 0.9,
    decide: Decide = "both",
    human_pass_from: float | None = None,
    human_cost: float = 1.0,
    judge_cost: float = 0.0,
    policy: str | Path | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Table:
    """Find a rule that lets a judge decide outputs alone within an error limit; humans label the other outputs.

    With probability `confidence`, at most the share `error` of the judge's automatic passes and at most that share of
    its automatic fails disagree with the human label. This guarantee holds for any judge and any number of labels, for
    outputs from the same population as the labeled ones. If there are too few labels for a rule, the answer gives the
    number of labels needed.

    Parameters
    ----------
    error : float, default 0.05
        Maximum error rate of the judge's automatic verdicts, separately for passes and for fails.
    confidence : float, default 0.9
        Confidence level of the error limit (1 − delta).
    decide : {'both', 'pass', 'fail'}, default 'both'
        Verdicts that the judge may give alone. One kind of verdict needs fewer labels, because delta is not split.
    human_cost : float, default 1.0
        Cost of one human label.
    judge_cost : float, default 0.0
        Cost of the judge for one output.
    policy : path, optional
        JSON file to which the rule is written, for use with `gate`, `judge` and `label`.

    Returns
    -------
    Table
        One row per signal (a judge's score, or the mean of several) and verdict: share of all scored outputs that it
        decides, threshold, labels that it decides with the errors among them, p-value, and labels needed; `decided`
        holds both verdicts and the cost of 100 outputs. The signal that decides the largest share is chosen.

    Notes
    -----
    Learn then Test (Angelopoulos et al. 2021) with fixed-sequence testing, as in Trust or Escalate (Jung et al. 2025).
    Thresholds are tested in order, from the most confident verdict down, with exact binomial p-values, each at
    delta / (verdicts × signals); the first test that does not reject "the error rate is above the limit" ends the
    sequence. `stats.selective_rule` has the formulas and the treatment of clusters; docs/delegate.md has the simulated
    error rates.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.delegate(ng.example(), metrics="unigram_f1", human_pass_from=4)
    >>> [row["measure"] for row in table], table.rows[-1]["to_humans"]
    (['pass', 'fail', 'decided'], 192)

    $ nlgauge analyze delegate answers.csv --error 0.05 --policy policy.json

    $ nlgauge label answers.csv --policy policy.json -o queue.csv   (what goes to humans)

    $ nlgauge gate next_week.csv --policy policy.json   (is the error rate still within the limit?)
    """
    people = human_pass(panel, human_pass_from)
    columns, units = _scored_columns(panel)
    signals = _signals(panel, columns)
    delta = (1 - confidence) / (len(SIDES[decide]) * len(signals))
    request = RuleRequest(error, confidence, delta, SIDES[decide], level, seed, (human_cost, judge_cost))
    made: dict[str, tuple[list[Row], Policy]] = {}
    for signal in signals:
        value = signal.value(columns)
        there = np.isfinite(value)
        scored = ScoredOutputs(value[there], None if units is None else units[there].tolist())
        labels = _labeled(panel, people.passed, signal)
        rules = {side: _rule(labels, side, request) for side in request.sides}
        rule = _policy(panel, signal, labels, rules, request, human_pass_from)
        made[signal.name] = _rows(panel.aspect, rule, rules, labels, scored, request), rule
    chosen = max(made, key=lambda name: _merit(made[name][0]))
    rows = [{**row, "chosen": name == chosen} for name, (each, _) in made.items() for row in each]
    best = made[chosen][1]
    written = []
    if policy is not None:
        best.write(policy)
        written = [f"written: {policy}; {option('policy', str(policy))} of gate, judge and label applies it"]
    clusters = (
        []
        if panel.row_units(np.zeros(1, np.int64)) is None
        else [
            f"outputs of one '{panel.cluster_column or 'input'}' are not independent: the guarantee is for an output "
            f"of a new one (test: {made[chosen][0][0]['test']})."
        ]
    )
    return Table(
        title=Title(panel.name, f"verdicts that the judge may decide alone, on {panel.aspect}"),
        rows=rows,
        shown=["metric", "measure", "threshold", "value", "decided_labels", "errors", "labels_needed"],
        heads={
            "metric": "judge",
            "measure": "decision",
            "value": "share of outputs",
            "errors": "errors among them",
            "decided_labels": "labels decided",
            "labels_needed": "labels needed",
        },
        cells=cell_texts(best),
        method=f"Fixed-sequence tests (Learn then Test) from the most confident verdict down, each at {delta:.4g} = "
        f"{1 - confidence:.2g} / ({len(request.sides)} kinds of verdict × {len(signals)} signals); {level:.0%} "
        "intervals of shares. Labels needed: about, at the error rate seen so far.",
        answers=answers(rows, best, {"labels": made[chosen][0][-1]["labels"], "delta": delta, "signals": len(signals)}),
        notes=[*people.notes, *clusters, *written, *human_note(panel)],
        facts={"error": error, "confidence": confidence, "delta": delta, "chosen": chosen},
        signature=signature(panel, error=f"{error:g}", confidence=f"{confidence:g}", decide=decide, seed=seed),
    )


def _scored_columns(panel: Panel) -> tuple[dict[str, Array], NDArray[np.str_] | None]:
    """Return the scores of all outputs of these systems, labeled or not, and the cluster of each output."""
    panel.require_metrics()
    if panel.data is None:
        inputs = np.tile(np.arange(panel.n_inputs), panel.n_systems)
        return {name: values.reshape(-1) for name, values in panel.metrics.items()}, panel.row_units(inputs)
    frame = panel.data.samples.select(KEY).join(panel.data.scores, on=KEY, how="left", maintain_order="left")
    frame = frame.filter(pl.col("system").is_in(list(panel.systems)))
    columns = {name: frame[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in panel.metrics}
    if not panel.clusters and panel.n_systems == 1:
        return columns, None
    units = unit_by_input(panel.data)
    return columns, np.array([units[name] for name in frame["input"].to_list()])


def _signals(panel: Panel, columns: dict[str, Array]) -> list[Signal]:
    """Return each judge's score (the mean of its draws), and the mean of several judges."""
    groups: dict[str, list[str]] = {}
    for name in panel.names:
        draw = DRAW.match(name)
        groups.setdefault(draw[1] if draw else name, []).append(name)
    judges = {name: [name] if name in each else each for name, each in groups.items()}
    several = len(judges) > 1
    if len(judges) + several > MOST_SIGNALS:
        raise NeedsMissing(
            f"delta would be split over {len(judges) + 1} signals; name at most {MOST_SIGNALS - 1} judges: "
            f"{option('metrics', choice=True)}.",
            code="unsuited_option",
        )
    signals = [Signal.of(name, {c: columns[c] for c in each}, panel.lower) for name, each in judges.items()]
    if several:
        every = {c: columns[c] for each in judges.values() for c in each}
        signals.append(Signal.of(f"mean of {len(judges)} judges", every, panel.lower))
    return signals


def _labeled(panel: Panel, passed: Array, signal: Signal) -> SignalLabels:
    value = signal.value(panel.metrics)
    both = np.isfinite(value) & np.isfinite(passed)
    if not both.any():
        raise NeedsMissing(
            f"no output has a human verdict and a score of {signal.name}.",
            metric=signal.name,
            code="no_scores_of_rated",
        )
    units = panel.row_units(np.nonzero(both)[1])
    return SignalLabels(passed[both] > 0.5, value[both], None if units is None else units.tolist())


def _rule(labels: SignalLabels, side: str, request: RuleRequest) -> SelectiveRule:
    score, wrong = labels.side(side)
    return selective_rule(
        score, wrong, error=request.error, delta=request.delta, clusters=labels.units, seed=request.seed
    )


def _policy(
    panel: Panel,
    signal: Signal,
    labels: SignalLabels,
    rules: dict[str, SelectiveRule],
    request: RuleRequest,
    human_pass_from: float | None,
) -> Policy:
    """Return one policy with the rules of both verdicts."""
    above = rules["pass"].above if "pass" in rules and rules["pass"].holds else None
    below = -rules["fail"].above if "fail" in rules and rules["fail"].holds else None
    if len(rules) == 2:
        above, below = both_thresholds(labels.value, labels.passed, rules["pass"], rules["fail"])
    return Policy(
        signal=signal,
        aspect=panel.aspect,
        pass_above=above,
        fail_below=below,
        error=request.error,
        confidence=request.confidence,
        lowest=float(labels.value.min()),
        highest=float(labels.value.max()),
        data=panel.name,
        systems=panel.systems if panel.given is None else panel.given[0],
        human_pass_from=human_pass_from,
        facts={
            "labels": len(labels.passed),
            **{side: {"test": r.test, "p": r.p} for side, r in rules.items() if r.holds},
        },
    )


def _rows(
    aspect: str,
    rule: Policy,
    rules: dict[str, SelectiveRule],
    labels: SignalLabels,
    scored: ScoredOutputs,
    request: RuleRequest,
) -> list[Row]:
    """Return one row per verdict and one for both: the share of all outputs that is decided, and its basis."""
    decision = rule.decide(scored.value)
    total = len(labels.passed)
    shared = {"metric": rule.signal.name, "aspect": aspect, "n": len(decision), "labels": total, "limit": request.error}
    rows = []
    for side, each in rules.items():
        threshold = rule.pass_above if side == "pass" else rule.fail_below
        holds = threshold is not None
        given, wrong = rule.decide(labels.value) == side, labels.side(side)[1]
        own = (threshold or 0.0) * rule.signal.sign
        rows.append(
            {
                **shared,
                "measure": side,
                **_share(decision == side, scored.units, request.level),
                "p": each.p if holds else np.nan,
                "threshold": own if holds and math.isfinite(own) else np.nan,
                "decided_labels": int(given.sum()),
                "errors": int((given & wrong).sum()),
                "labels_needed": np.nan if holds else _needed(labels, side, request),
                "test": each.test,
                "reason": None if holds else _reason(labels, side, each, rule),
            }
        )
    whole = _share(decision != "human", scored.units, request.level)
    human, judge = request.costs
    left = float((decision == "human").sum())
    cost = 100 * (judge + human * left / max(len(decision), 1))
    return [
        *rows,
        {**shared, "measure": "decided", **whole, "p": np.nan, "to_humans": int(left), "cost": cost, "reason": None},
    ]


def _merit(rows: list[Row]) -> tuple[float, float]:
    """Return the sort key of a signal: the share that it decides, then the number of labels that it requires."""
    needed = [row["labels_needed"] for row in rows if np.isfinite(row.get("labels_needed", np.nan))]
    return rows[-1]["value"], -min(needed, default=np.inf)


def _share(decided: Mask, units: list[str] | None, level: float) -> Row:
    """Compute a share of outputs with its interval."""
    if not decided.any():
        return {"value": 0.0, "low": np.nan, "high": np.nan}
    figure = share_figures(cell_counts(decided, decided, units), clustered=units is not None, level=level)["judge_pass"]
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def _reason(labels: SignalLabels, side: str, rule: SelectiveRule, policy: Policy) -> str:
    """Return the reason why the judge may not give this verdict alone."""
    if rule.holds:
        return "both rules cover the same scores, and this one fewer"
    independent = len(labels.passed) if labels.units is None else len(set(labels.units))
    unit = "labels" if labels.units is None else "independent inputs with labels"
    if independent < rule.start:
        return f"at least {rule.start} {unit} are needed, found {independent}"
    return f"the labels do not show an error rate of at most {policy.error:g} at any threshold"


def _needed(labels: SignalLabels, side: str, request: RuleRequest) -> float:
    """Estimate the number of labels that a rule requires, at the lowest error rate, shrunk towards 1/2."""
    score, wrong = labels.side(side)
    order = np.argsort(-score, kind="stable")
    ends = np.append(np.diff(score[order]) != 0, True)
    n, errors = np.arange(1, len(order) + 1)[ends], np.cumsum(wrong[order])[ends]
    needed = [
        labels_for_rule(float(rate), request.error, request.delta) * len(order) / rows
        for rate, rows in zip((errors + 0.5) / (n + 1), n, strict=True)
    ]
    least = min(needed, default=math.inf)
    least = max(least, labels_without_error(request.error, request.delta))
    ratio = 1.0 if labels.units is None else len(order) / len(set(labels.units))
    labels_in_all = least * ratio
    return float(np.ceil(labels_in_all)) if labels_in_all <= FAR * len(order) else np.nan
