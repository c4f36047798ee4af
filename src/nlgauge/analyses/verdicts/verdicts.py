"""Accuracy of a judge's pass/fail verdicts: confusion matrix, recall, precision, kappa, baseline and human ceiling."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, reference, signature
from nlgauge.analyses.estimates.system_labels import MARGIN, SystemLabels, panel_labels, transfer_texts
from nlgauge.analyses.verdicts._labeled import (
    HumanPass,
    LabeledScores,
    cluster_notes,
    figure_row,
    human_pass,
    judge_deviations,
    judge_verdicts,
    judges_across,
    missing_notes,
    no_verdicts,
)
from nlgauge.analyses.verdicts.class_verdicts import class_verdicts
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import number, p_text, row_interval, share_text
from nlgauge.options import call
from nlgauge.stats.agreement.proportion import KINDS, Kind
from nlgauge.stats.agreement.two_by_two import Figure, cell_counts, figures_of
from nlgauge.stats.agreement.verdict_changes import may_be_best
from nlgauge.stats.estimation.means import PartlyLabeled
from nlgauge.stats.estimation.systems import PROBE_LABELS, audit_transfer
from nlgauge.table import Row, Table, Title
from nlgauge.types import Mask

LABELS = {
    "fail_recall": "recall on failures (TNR)",
    "pass_recall": "recall on passes (TPR)",
    "fail_precision": "precision on failures (NPV)",
    "pass_precision": "precision on passes (PPV)",
    "agreement": "accuracy",
    "always_pass": "baseline: always pass",
    "always_fail": "baseline: always fail",
    "gain_over_always_pass": "improvement over always pass",
    "gain_over_always_fail": "improvement over always fail",
    "human_agreement": "human ceiling: agreement of two annotators",
    "human_pass_rate": "human pass rate",
    "judge_pass": "judge's pass rate",
    "balanced_accuracy": "balanced accuracy",
    "youden": "Youden's J",
    "kappa": "Cohen's kappa",
    "human_kappa": "human ceiling: Cohen's kappa of two annotators",
    "mcc": "Matthews correlation coefficient",
    "fail_f1": "F1 on failures",
    "pass_f1": "F1 on passes",
    "both_fail": "true negatives: both fail",
    "only_humans_fail": "false positives: human label fail, verdict pass",
    "only_judge_fails": "false negatives: human label pass, verdict fail",
    "both_pass": "true positives: both pass",
}
CELLS = ("both_fail", "only_humans_fail", "only_judge_fails", "both_pass")
COEFFICIENTS = {"balanced_accuracy", "youden", "kappa", "human_kappa", "mcc", "fail_f1", "pass_f1"}
CEILING = "human"  # in the column `metric` of the rows that compare annotators with each other
# Standard names of the measures, where pass is the positive class.
SYNONYMS = {
    "tnr": "fail_recall", "specificity": "fail_recall", "tpr": "pass_recall", "sensitivity": "pass_recall",
    "recall": "pass_recall", "ppv": "pass_precision", "precision": "pass_precision", "npv": "fail_precision",
    "accuracy": "agreement", "f1": "pass_f1",
}  # fmt: skip


@analysis(
    "verdicts",
    question="How accurate are a judge's pass and fail verdicts?",
    also=("threshold", "calibration"),
    either=True,
    declared=True,
    classes=True,
)
def verdicts(
    panel: Panel,
    *,
    judge: str | None = None,
    human_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    level: float = 0.95,
    interval: Kind = "lean",
    margin: float = MARGIN,
) -> Table:
    """Evaluate a judge's pass and fail verdicts against human labels: recall, precision, kappa, baseline and ceiling.

    Parameters
    ----------
    interval : {'lean', 'midp', 'wilson', 'exact'}, default 'lean'
        Method for the confidence interval of a proportion: `exact` (Clopper–Pearson), `midp` and `lean`
        (Clopper–Pearson with a full or partial mid-p correction), or `wilson`.
    margin : float, default 0.05
        Equivalence margin for the difference between two systems in the judge's mean error (judge pass rate minus
        human pass rate). It is used if the systems have unequal shares of labeled outputs.

    Returns
    -------
    Table
        One row per judge with two values and measure: counts, proportions and coefficients with confidence intervals,
        next to the baselines (always pass, always fail) and the human ceiling (agreement of two annotators).
        `n_failures`, `n_passes` and `n_systems` count the human labels; `may_be_best` (at balanced accuracy) marks
        the judges that no other judge is significantly better than.

    Notes
    -----
    For classes without an order or sets of labels, the measures are kappa, Krippendorff's alpha, AC1, recall, precision
    and F1 of each class (`recall:CLASS`), macro and micro averages, and the majority-class baseline; `facts` has the
    confusion matrices. For sets of labels, alpha has the MASI and the Jaccard distance.

    Intervals of coefficients are melded from the intervals of the underlying proportions (Fay, Proschan and Brittain
    2015). The test of the improvement over the baseline is McNemar's (mid-P).

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.verdicts(ng.example(), metrics="unigram_f1", human_pass_from=4, judge_pass_from=0.5)
    >>> table.kind
    'verdicts'

    $ nlgauge analyze verdicts answers.csv

    $ nlgauge analyze verdicts answers.csv --by topic --cluster conversation_id
    """
    if panel.scale.unordered:
        return class_verdicts(panel, judge, level)
    people = human_pass(panel, human_pass_from)
    by_system = panel_labels(panel)
    rows: list[Row] = []
    judged: dict[str, tuple[LabeledScores, np.ndarray]] = {}
    notes = list(people.notes)
    clustered: list[str] = []
    of_all, refused = judge_verdicts(panel, people, judge, judge_pass_from)
    for labeled, passed, text in of_all:
        name = labeled.judge
        judged[name] = labeled, np.asarray(passed, np.float64)
        counts = cell_counts(labeled.passed, passed, labeled.names)
        figures = figures_of(counts, clustered=labeled.clusters is not None, level=level, kind=interval)
        of_judge = _judge_rows(name, panel.aspect, counts.sum(axis=0), figures)
        rows += [{**row, **labeled.label_counts()} for row in of_judge]
        notes += [f"{name}: {text}", *_transfer_notes(panel, by_system, labeled, passed, margin)]
        clustered = cluster_notes(panel, labeled.clusters)
    if not rows:
        remedy = f" For scores, use {call('analyze threshold FILE')}."
        raise NeedsMissing(
            no_verdicts(refused) + remedy * any(r.code == "not_binary" for r in refused) or "no judge has verdicts.",
            metric=refused[0].metric if len(refused) == 1 else "",
            code=refused[0].code if refused else "no_scores",
        )
    inside = may_be_best(judge_deviations(panel, people, judged, "balanced_accuracy"), level).tolist()
    best = dict(zip(judged, inside, strict=True))
    rows = [{**r, "may_be_best": best[r["metric"]]} if r["measure"] == "balanced_accuracy" else r for r in rows]
    rows += _ceiling_rows(panel, people, level, interval)
    notes += [f"excluded: {no_verdicts(refused)}"] if refused else []
    return Table(
        title=Title(panel.name, f"judge's verdicts compared with {reference(panel, 'labels')}, {panel.aspect}"),
        rows=sorted(rows, key=lambda row: list(LABELS).index(row["measure"])),
        layout=judges_across(panel, LABELS),
        cells={"value": _cell},
        method=f"{level:.0%} confidence intervals. Proportions and F1: {KINDS[interval]}; kappa, Matthews correlation, "
        "balanced accuracy, Youden's J and the improvement over the baseline: melded. p of the improvement: McNemar's "
        "test (mid-P).",
        notes=[*by_system.notes("figures"), *notes, *clustered, *missing_notes(rows, LABELS), *human_note(panel)],
        facts={"left_out": {r.metric: r.reason for r in refused}} if refused else {},
        signature=signature(panel, interval=interval, level=number(level, 2)),
    )


def _transfer_notes(panel: Panel, counts: SystemLabels, rows: LabeledScores, passed: Mask, margin: float) -> list[str]:
    """Test whether the judge's mean error is equal on systems with unequal shares of labels."""
    if not counts.unequal:
        return []
    samples = {}
    for name in counts.covered:
        inside = rows.index[0] == panel.systems.index(name)
        if inside.sum() < PROBE_LABELS:
            continue
        cluster = None if panel.clusters is None else np.asarray(panel.clusters)[rows.index[1][inside]]
        codes = None if cluster is None else np.unique(cluster, return_inverse=True)[1].reshape(-1)
        human, judge = (np.asarray(v[inside], np.float64) for v in (rows.passed, passed))
        samples[name] = PartlyLabeled(human, judge, clusters=codes, share=True)
    if len(samples) < 2:
        return []
    size = dict(zip(counts.names, counts.rows, strict=True))
    return [f"{rows.judge}: {text}" for text in transfer_texts(*audit_transfer(samples, margin), margin, size)]


def _judge_rows(name: str, aspect: str, counts: np.ndarray, figures: dict[str, Figure]) -> list[Row]:
    n = int(counts.sum())
    passes = figures["human_pass_rate"]
    figures = {**figures, "always_pass": passes}
    if "gain_over_always_fail" in figures:
        hits = passes.n - (passes.hits or 0)
        figures["always_fail"] = Figure(
            1 - passes.value, 1 - passes.high, 1 - passes.low, passes.n, hits, reason=passes.reason
        )
    rows = [figure_row(name, aspect, measure, figure) for measure, figure in figures.items()]
    return rows + [
        figure_row(name, aspect, measure, Figure(float(count), n=n))
        for measure, count in zip(CELLS, counts, strict=True)
    ]


def _ceiling_rows(panel: Panel, people: HumanPass, level: float, kind: Kind) -> list[Row]:
    """Compare annotators with each other: all pairs on the outputs that both labeled, clustered by output."""
    if people.by_rater is None:
        return []
    votes = people.by_rater.reshape(len(people.by_rater), -1)
    firsts, seconds, outputs = [], [], []
    for a, b in combinations(votes, 2):
        both = np.flatnonzero(np.isfinite(a) & np.isfinite(b))
        firsts.append(a[both])
        seconds.append(b[both])
        outputs.append(both)
    if not firsts or not sum(map(len, firsts)):
        return []
    z, x, unit = (np.concatenate(part) for part in (firsts, seconds, outputs))
    if panel.clusters:
        unit = panel.unit_codes(unit.astype(np.int64) % panel.n_inputs)
    several = len(np.unique(unit)) < len(unit)
    if several:  # the order of two annotators is arbitrary: each pair counts in both orders
        z, x, unit = np.concatenate([z, x]), np.concatenate([x, z]), np.concatenate([unit, unit])
    counts = cell_counts(z > 0.5, x > 0.5, unit.tolist() if several else None)
    figures = figures_of(counts, clustered=several, level=level, kind=kind)
    agreed = figures["agreement"]
    pairs = len(unit) // 2 if several else len(unit)
    hits = (agreed.hits or 0) // 2 if several else agreed.hits
    same = Figure(agreed.value, agreed.low, agreed.high, pairs, hits, reason=agreed.reason)
    kappa = figures["kappa"]
    return [
        figure_row(CEILING, panel.aspect, "human_agreement", same),
        figure_row(
            CEILING, panel.aspect, "human_kappa", Figure(kappa.value, kappa.low, kappa.high, pairs, reason=kappa.reason)
        ),
    ]


def _cell(row: Row) -> str:
    measure = row["measure"]
    if measure in CELLS:
        return f"{row['value']:,.0f}"
    if measure in COEFFICIENTS:
        return row_interval(row)
    if measure.startswith("gain"):
        return _points(row) + (f", {p_text(row['p'])}" if np.isfinite(row["p"]) else "")
    return share_text(row)


def _points(row: Row) -> str:
    """Return percentage points with their sign."""
    if not np.isfinite(row["value"]):
        return "–"
    ends = f" [{100 * row['low']:+.0f}, {100 * row['high']:+.0f}]" if np.isfinite(row["low"]) else ""
    return f"{100 * row['value']:+.0f} points{ends}"
