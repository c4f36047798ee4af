"""Accuracy of a judge's classes or sets of labels: `verdicts` for aspects without an order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nlgauge.analyses._common import human_note, reference, signature
from nlgauge.analyses.verdicts._labeled import cluster_notes, figure_row, missing_notes, requested_judges
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import number, row_interval, share_text, some
from nlgauge.stats.agreement.classes import chance_corrected, class_share, confusion_counts, macro, paired_gain
from nlgauge.stats.agreement.label_sets import (
    alpha_of_counts,
    code_counts,
    judge_agreement,
    judge_alpha,
    pair_agreement,
    set_distances,
)
from nlgauge.stats.agreement.proportion import KINDS
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.agreement.verdict_changes import JudgeDeviations, may_be_best
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array, Ints

CEILING = "human"  # in the column `metric` of the rows that compare annotators with each other
CLASS_LABELS = {
    "agreement": "accuracy",
    "majority_baseline": "baseline: majority class",
    "gain_over_majority": "improvement over the majority-class baseline",
    "kappa": "Cohen's kappa",
    "alpha": "Krippendorff's alpha",
    "ac1": "Gwet's AC1",
    "alpha_masi": "Krippendorff's alpha, MASI distance",
    "alpha_jaccard": "Krippendorff's alpha, Jaccard distance",
    "macro_recall": "macro recall (balanced accuracy)",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "annotator_agreement": "agreement with single annotators",
    "human_agreement": "human ceiling: agreement of two annotators",
    "human_alpha": "human ceiling: Krippendorff's alpha of the annotators",
}
OF_CLASS = ("recall", "precision", "f1")  # measures as in `recall:Location`
SHARES = {"agreement", "majority_baseline", "human_agreement", "annotator_agreement"}
COEFFICIENTS = {"nominal": ("kappa", "alpha", "ac1"), "multilabel": ("alpha_masi", "alpha_jaccard")}
MAIN = {"nominal": "kappa", "multilabel": "alpha_masi"}  # orders the judges, and is tested and quoted
MAX_CONFUSIONS = 5


class ClassRows(NamedTuple):
    """Outputs with a human class and one of the judge: codes, cluster, and flat index of each output."""

    judge: str
    human: Ints
    given: Ints
    clusters: Ints | None
    flat: Ints  # index of each output in systems × inputs


def class_words(measure: str) -> str:
    """Return the printed name of a measure.

    >>> class_words("recall:Location")
    'recall of Location'
    """
    kind, _, name = measure.partition(":")
    return f"{'F1' if kind == 'f1' else kind} of {name}" if name else CLASS_LABELS[measure]


def class_verdicts(panel: Panel, judge: str | None, level: float) -> Table:
    """Evaluate the classes of judges against the human ones."""
    scale = panel.scale
    rows: list[Row] = []
    judged = [coded for name in requested_judges(panel, judge) if (coded := class_rows(panel, name)) is not None]
    if not judged:
        raise NeedsMissing(
            "no output has both a human class and one of a judge.",
            code="no_scores_of_rated" if panel.names else "no_scores",
        )
    best = _may_be_best(panel, judged, level)
    facts: dict[str, Any] = {"classes": list(scale.labels), "confusion": {}, "scale": scale.kind}
    for each in judged:
        counts = {"n_systems": len(np.unique(each.flat // panel.n_inputs))}
        for measure, figure in _figures(panel, each, level).items():
            row = {**figure_row(each.judge, panel.aspect, measure, figure), **counts}
            if measure == MAIN[scale.kind]:
                row["may_be_best"] = best[each.judge]
            rows.append({**row, "class": measure.partition(":")[2] or None})
        facts["confusion"][each.judge] = _confusion(panel, each)
    rows += [{**row, "class": None} for row in _ceiling(panel, level)]
    tied = int((np.isnan(panel.human) & np.isfinite(_cube(panel)).any(axis=0).reshape(panel.human.shape)).sum())
    order = list(dict.fromkeys([*CLASS_LABELS, *(r["measure"] for r in rows)]))
    answers = _answers(rows, facts, scale.kind)
    return Table(
        title=Title(panel.name, f"judge's classes compared with {reference(panel, 'labels')}, {panel.aspect}"),
        rows=sorted(rows, key=lambda row: order.index(row["measure"])),
        layout=Layout("measure", "metric", "value", line=class_words),
        cells={"value": _cell},
        answers=answers,
        method=f"{level:.0%} confidence intervals over {'clusters of outputs' if panel.clusters else 'outputs'}. "
        f"Proportions: {KINDS['lean']}, with a design effect; coefficients: score interval of the disagreement with "
        "the "
        "effective sample size of its jackknife variance.",
        notes=[
            *([f"{tied:,} outputs on which two classes are equally frequent are excluded."] if tied else []),
            *cluster_notes(panel, panel.row_units(judged[0].flat % panel.n_inputs)),
            *missing_notes(rows, {r["measure"]: class_words(r["measure"]) for r in rows}, 6),
            *human_note(panel),
        ],
        facts=facts,
        signature=signature(panel, level=number(level, 2)),
    )


def class_rows(panel: Panel, judge: str) -> ClassRows | None:
    """Return the outputs with a human class and one of this judge; None if there is none."""
    values = panel.metrics[judge].reshape(-1)
    human = panel.human.reshape(-1)
    both = np.flatnonzero(np.isfinite(values) & np.isfinite(human))
    if not len(both):
        return None
    clusters = panel.row_codes(both % panel.n_inputs)
    return ClassRows(judge, human[both].astype(np.int64), values[both].astype(np.int64), clusters, both)


def _figures(panel: Panel, each: ClassRows, level: float) -> dict[str, Figure]:
    """Return every measure of a judge."""
    scale = panel.scale
    rows = np.arange(len(each.human)) if each.clusters is None else each.clusters
    right = _sums((each.human == each.given).astype(np.float64), rows)
    majority = int(np.bincount(each.human).argmax())
    base = _sums((each.human == majority).astype(np.float64), rows)
    figures = {
        "agreement": class_share(right[:, 0], right[:, 1], level),
        "majority_baseline": class_share(base[:, 0], base[:, 1], level),
        "gain_over_majority": paired_gain(right, base, level),
    }
    members = scale.members()
    if scale.kind == "multilabel":
        for name in ("masi", "jaccard"):
            distances = set_distances(members, name)  # type: ignore[arg-type]
            figures[f"alpha_{name}"] = judge_alpha(each.human, each.given, distances, each.clusters, level)
    else:
        counts = confusion_counts(each.human, each.given, len(scale.names), each.clusters)
        used = counts.sum(axis=(0, 1)) + counts.sum(axis=(0, 2)) > 0
        counts = counts[:, used][:, :, used]
        figures |= {name: chance_corrected(counts, name, level) for name in COEFFICIENTS["nominal"]}
    z, x = members[each.human], members[each.given]
    hits, human, judge = (_by_cluster(part, rows) for part in (z * x, z, x))
    figures["macro_recall"] = macro(hits, human, level)
    figures["macro_f1"] = macro(hits, human + judge - hits, level, f1=True)
    if scale.kind == "multilabel":
        figures["micro_f1"] = class_share(hits.sum(axis=1), (human + judge - hits).sum(axis=1), level, f1=True)
    below = {"recall": human, "precision": judge, "f1": human + judge - hits}
    for k, label in enumerate(scale.labels):
        if human[:, k].any() or judge[:, k].any():
            for name in OF_CLASS:
                figures[f"{name}:{label}"] = class_share(hits[:, k], below[name][:, k], level, f1=name == "f1")
    if panel.aspect in panel.raters:
        counts = code_counts(panel.raters[panel.aspect].reshape(len(panel.raters[panel.aspect]), -1), len(scale.names))
        distances = set_distances(members, "jaccard" if scale.kind == "multilabel" else "nominal")
        figures["annotator_agreement"] = judge_agreement(each.given, counts[each.flat], distances, each.clusters, level)
    return figures


def _sums(hits: Array, clusters: Ints) -> Array:
    """Return hits and rows of each cluster."""
    return np.column_stack([np.bincount(clusters, hits), np.bincount(clusters)]).astype(np.float64)


def _by_cluster(rows: Array, clusters: Ints) -> Array:
    sums = np.zeros((int(clusters.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(sums, clusters, rows)
    return sums


def _cube(panel: Panel) -> Array:
    """Return the ratings of the annotators, or the one rating of each output."""
    cube = panel.raters.get(panel.aspect)
    return panel.human.reshape(1, -1) if cube is None else cube.reshape(len(cube), -1)


def annotator_counts(panel: Panel) -> tuple[Array, Ints | None]:
    """Return the ratings of each code per output (units × codes), and the cluster of each output."""
    counts = code_counts(_cube(panel), len(panel.scale.names))
    return counts, panel.row_codes(np.arange(counts.shape[0]) % panel.n_inputs)


def _ceiling(panel: Panel, level: float) -> list[Row]:
    """Compare annotators with each other."""
    if panel.aspect not in panel.raters:
        return []
    counts, clusters = annotator_counts(panel)
    several = panel.scale.kind == "multilabel"
    members = panel.scale.members()
    distances = set_distances(members, "jaccard" if several else "nominal")
    alpha = alpha_of_counts(counts, set_distances(members, "masi" if several else "nominal"), clusters, level)
    return [
        figure_row(CEILING, panel.aspect, "human_agreement", pair_agreement(counts, distances, clusters, level)),
        figure_row(CEILING, panel.aspect, "human_alpha", alpha),
    ]


def _confusion(panel: Panel, each: ClassRows) -> dict[str, Any]:
    """Count outputs by human and judge's class; for sets of labels, outputs with a label in both or one of the sets."""
    scale = panel.scale
    if scale.kind == "multilabel":
        members = scale.members()
        z, x = members[each.human], members[each.given]
        only = (z.T @ (1 - x), (1 - z).T @ x)
        return {
            "both": (z * x).sum(axis=0).astype(int).tolist(),
            "human_only": np.diag(only[0]).astype(int).tolist(),
            "judge_only": np.diag(only[1]).astype(int).tolist(),
        }
    total = confusion_counts(each.human, each.given, len(scale.names)).sum(axis=0).astype(int)
    return {"counts": total.tolist()}


def largest_confusions(facts: dict[str, Any], judge: str, most: int = MAX_CONFUSIONS) -> list[tuple[str, str, int]]:
    """Return the pairs (human class, judge's class, outputs) that a judge confuses most often."""
    if "counts" not in facts["confusion"][judge]:
        return []
    counts, names = facts["confusion"][judge]["counts"], facts["classes"]
    pairs = [(names[i], names[j], n) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))[:most]


def _may_be_best(panel: Panel, judged: Sequence[ClassRows], level: float) -> dict[str, bool]:
    """Return the judges that no other one is significantly better than, by the main coefficient on shared outputs."""
    shared = set(judged[0].flat.tolist()).intersection(*(each.flat.tolist() for each in judged[1:]))
    if len(judged) < 2 or len(shared) < 2:
        return {each.judge: True for each in judged}
    deviations, values = [], []
    members = panel.scale.members()
    distances = set_distances(members, "masi" if panel.scale.kind == "multilabel" else "nominal")
    for each in judged:
        inside = np.isin(each.flat, list(shared))
        rows = np.arange(int(inside.sum())) if each.clusters is None else each.clusters[inside]
        jackknife, value = _leave_one_out(each.human[inside], each.given[inside], rows, distances)
        values.append(value)
        deviations.append(np.sqrt((len(jackknife) - 1) / len(jackknife)) * (jackknife - jackknife.mean()))
    n = np.array([len(shared)] * len(judged))
    units = np.array([len(deviations[0]) - 1] * len(judged))
    # One discordant row each, as for verdicts: rounding does not distinguish two judges that never differ.
    prior = np.eye(len(judged)) / len(shared)
    table = JudgeDeviations(np.array(values), np.hstack([np.array(deviations), prior]), units, n, [""] * len(judged))
    return {each.judge: bool(b) for each, b in zip(judged, may_be_best(table, level), strict=True)}


def _leave_one_out(human: Ints, judge: Ints, clusters: Ints, distances: Array) -> tuple[Array, float]:
    """Return kappa (weighted by a distance) without each cluster in turn, and of all outputs."""
    code = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    k = len(distances)
    disagreement = np.bincount(code, distances[human, judge])
    n = np.bincount(code).astype(np.float64)
    z, x = (np.bincount(code * k + v, minlength=len(n) * k).reshape(-1, k) for v in (human, judge))

    def kappa(observed: Array, n: Array, z: Array, x: Array) -> Array:
        expected = ((z @ distances) * x).sum(axis=-1) / n
        return np.asarray(1 - np.divide(observed, expected, out=np.ones_like(expected), where=expected > 0))

    total = disagreement.sum()
    without = kappa(total - disagreement, n.sum() - n, z.sum(axis=0) - z, x.sum(axis=0) - x)
    whole = kappa(total[None], n.sum()[None], z.sum(axis=0)[None], x.sum(axis=0)[None])
    return without, float(whole[0])


def _answers(rows: list[Row], facts: dict[str, Any], kind: str) -> list[str]:
    """State which judge agrees best, compared with the baseline and the human ceiling, and its largest confusions."""
    main = [r for r in rows if r["measure"] == MAIN[kind] and np.isfinite(r["value"])]
    if not main:
        return []
    first = max(main, key=lambda r: r["value"])
    name, of = first["metric"], {r["measure"]: r for r in rows if r["metric"] == first["metric"]}
    lead = f"{name} agrees best with the human labels" if len(main) > 1 else f"{name} and the human labels"
    text = f"{lead}: {CLASS_LABELS[MAIN[kind]]} {row_interval(first)}."
    people = next((r for r in rows if r["measure"] == "human_agreement" and np.isfinite(r["value"])), None)
    if people is not None and "annotator_agreement" in of:
        text += f" Agreement with a single annotator {row_interval(of['annotator_agreement'])}, of two annotators "
        text += f"{row_interval(people)} (human ceiling)."
    accuracy, base, gain = (of[m] for m in ("agreement", "majority_baseline", "gain_over_majority"))
    better, worse = gain["low"] > 0, gain["high"] < 0
    how = (
        "significantly better than"
        if better
        else "significantly worse than"
        if worse
        else "not significantly better than"
    )
    how = f"is {how}" if np.isfinite(gain["low"]) else "compared with"
    baseline = f"the majority-class baseline ({number(base['value'], 2)})"
    answers = [text, f"Accuracy {row_interval(accuracy)} {how} {baseline}."]
    equal = [r["metric"] for r in main if r["may_be_best"] and r is not first]
    if equal:
        answers.append(f"{name} is not significantly better than {some(equal, 4)}.")
    if pairs := largest_confusions(facts, name):
        confusions = "; ".join(f"{human} → {given} ({n:,})" for human, given, n in pairs[:3])
        answers.append(f"Largest confusions of {name} (human label → judge): {confusions}.")
    return answers


def _cell(row: Row) -> str:
    measure = row["measure"].partition(":")[0]
    if measure in SHARES or measure in ("recall", "precision"):
        return share_text(row)
    return row_interval(row)
