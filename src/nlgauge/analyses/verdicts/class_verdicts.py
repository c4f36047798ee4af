"""Verdicts that are classes or sets of labels: what `verdicts` answers where the aspect has no order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from nlgauge.analyses._common import people_note, signature
from nlgauge.analyses.verdicts._labelled import asked, cluster_notes, figure_row, share_text
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, RowNote
from nlgauge.number import number, row_interval, some
from nlgauge.stats.agreement.classes import chance_corrected, class_share, confusion_counts, macro, paired_gain
from nlgauge.stats.agreement.label_sets import (
    alpha_of_counts,
    code_counts,
    judge_agreement,
    judge_alpha,
    pair_agreement,
    set_distances,
)
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.stats.agreement.verdict_changes import JudgeDeviations, may_be_best
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Array, Ints

CEILING = "people"  # in the column `metric` of the rows that hold annotators next to each other
CLASS_WORDS = {
    "agreement": "agreement with the human class (accuracy)",
    "majority_baseline": "always the commonest human class",
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
    "people_agreement": "agreement of two annotators",
    "people_alpha": "Krippendorff's alpha of the annotators",
}
OF_CLASS = ("recall", "precision", "f1")  # measures as in `recall:Location`
SHARES = {"agreement", "majority_baseline", "people_agreement", "annotator_agreement"}
COEFFICIENTS = {"nominal": ("kappa", "alpha", "ac1"), "multilabel": ("alpha_masi", "alpha_jaccard")}
MAIN = {"nominal": "kappa", "multilabel": "alpha_masi"}  # orders the judges, is tested and quoted
MOST_CONFUSIONS = 5


class ClassRows(NamedTuple):
    """Rows with a human class and one of the judge: both codes, the cluster, and the unit of each row."""

    judge: str
    human: Ints
    given: Ints
    clusters: Ints | None
    flat: Ints  # place of each row in systems × inputs


def class_words(measure: str) -> str:
    """Return what a measure is, in words.

    >>> class_words("recall:Location")
    'recall of Location'
    """
    kind, _, name = measure.partition(":")
    return f"{'F1' if kind == 'f1' else kind} of {name}" if name else CLASS_WORDS[measure]


def class_verdicts(panel: Panel, judge: str | None, level: float) -> Table:
    """Evaluate the classes that judges name against the human ones."""
    scale = panel.scale
    rows: list[Row] = []
    judged = [found for name in asked(panel, judge) if (found := class_rows(panel, name)) is not None]
    if not judged:
        raise NeedsMissing(
            "no output has both a human class and one of a judge.",
            data=panel.name,
            aspect=panel.aspect,
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
    order = list(dict.fromkeys([*CLASS_WORDS, *(r["measure"] for r in rows)]))
    answers = _answers(rows, facts, scale.kind)
    return Table(
        title=Title(panel.name, f"classes named by the judge and by {panel.rated_by} on {panel.aspect}"),
        rows=sorted(rows, key=lambda row: order.index(row["measure"])),
        layout=Layout("measure", "metric", "value", line=class_words),
        cells={"value": _cell},
        answers=answers,
        method=f"{level:.0%} intervals over {'clusters of outputs' if panel.clusters else 'outputs'}, no random draws: "
        "of shares, Clopper-Pearson with .7 of the count's own probability in each tail and a design effect; of "
        "coefficients, the interval of the disagreement with as many rows as give its jackknife variance.",
        notes=[
            *([f"{tied:,} outputs on which two classes are equally common are left out."] if tied else []),
            *cluster_notes(panel, panel.row_units(judged[0].flat % panel.n_inputs)),
            *_missing(rows),
            *people_note(panel),
        ],
        facts=facts,
        signature=signature(panel, level=number(level, 2)),
    )


def class_rows(panel: Panel, judge: str) -> ClassRows | None:
    """Return the rows that have a human class and one of this judge; None where there is none."""
    values = panel.metrics[judge].reshape(-1)
    human = panel.human.reshape(-1)
    both = np.flatnonzero(np.isfinite(values) & np.isfinite(human))
    if not len(both):
        return None
    units = panel.row_units(both % panel.n_inputs)
    clusters = None if units is None else np.unique(units, return_inverse=True)[1].reshape(-1)
    return ClassRows(judge, human[both].astype(np.int64), values[both].astype(np.int64), clusters, both)


def _figures(panel: Panel, each: ClassRows, level: float) -> dict[str, Figure]:
    """Every figure of one judge."""
    scale = panel.scale
    rows = np.arange(len(each.human)) if each.clusters is None else each.clusters
    right = _sums((each.human == each.given).astype(np.float64), rows)
    usual = int(np.bincount(each.human).argmax())
    base = _sums((each.human == usual).astype(np.float64), rows)
    found = {
        "agreement": class_share(right[:, 0], right[:, 1], level),
        "majority_baseline": class_share(base[:, 0], base[:, 1], level),
        "gain_over_majority": paired_gain(right, base, level),
    }
    members = scale.members()
    if scale.kind == "multilabel":
        for name in ("masi", "jaccard"):
            distances = set_distances(members, name)  # type: ignore[arg-type]
            found[f"alpha_{name}"] = judge_alpha(each.human, each.given, distances, each.clusters, level)
    else:
        counts = confusion_counts(each.human, each.given, len(scale.names), each.clusters)
        used = counts.sum(axis=(0, 1)) + counts.sum(axis=(0, 2)) > 0
        counts = counts[:, used][:, :, used]
        found |= {name: chance_corrected(counts, name, level) for name in COEFFICIENTS["nominal"]}
    z, x = members[each.human], members[each.given]
    hits, human, judge = (_by_cluster(part, rows) for part in (z * x, z, x))
    found["macro_recall"] = macro(hits, human, level)
    found["macro_f1"] = macro(hits, human + judge - hits, level, f1=True)
    if scale.kind == "multilabel":
        found["micro_f1"] = class_share(hits.sum(axis=1), (human + judge - hits).sum(axis=1), level, f1=True)
    below = {"recall": human, "precision": judge, "f1": human + judge - hits}
    for k, label in enumerate(scale.labels):
        if human[:, k].any() or judge[:, k].any():
            for name in OF_CLASS:
                found[f"{name}:{label}"] = class_share(hits[:, k], below[name][:, k], level, f1=name == "f1")
    if panel.aspect in panel.raters:
        counts = code_counts(panel.raters[panel.aspect].reshape(len(panel.raters[panel.aspect]), -1), len(scale.names))
        distances = set_distances(members, "jaccard" if scale.kind == "multilabel" else "nominal")
        found["annotator_agreement"] = judge_agreement(each.given, counts[each.flat], distances, each.clusters, level)
    return found


def _sums(hits: Array, clusters: Ints) -> Array:
    """Hits and rows of each cluster."""
    return np.column_stack([np.bincount(clusters, hits), np.bincount(clusters)]).astype(np.float64)


def _by_cluster(rows: Array, clusters: Ints) -> Array:
    found = np.zeros((int(clusters.max(initial=-1)) + 1, rows.shape[1]))
    np.add.at(found, clusters, rows)
    return found


def _cube(panel: Panel) -> Array:
    """Ratings of the annotators, or the one rating of each output."""
    cube = panel.raters.get(panel.aspect)
    return panel.human.reshape(1, -1) if cube is None else cube.reshape(len(cube), -1)


def annotator_counts(panel: Panel) -> tuple[Array, Ints | None]:
    """Return the ratings of each code per output (units × codes), and the cluster of each output."""
    counts = code_counts(_cube(panel), len(panel.scale.names))
    units = panel.row_units(np.arange(counts.shape[0]) % panel.n_inputs)
    return counts, None if units is None else np.unique(units, return_inverse=True)[1].reshape(-1)


def _ceiling(panel: Panel, level: float) -> list[Row]:
    """Two annotators next to each other."""
    if panel.aspect not in panel.raters:
        return []
    counts, clusters = annotator_counts(panel)
    several = panel.scale.kind == "multilabel"
    members = panel.scale.members()
    near = set_distances(members, "jaccard" if several else "nominal")
    alpha = alpha_of_counts(counts, set_distances(members, "masi" if several else "nominal"), clusters, level)
    return [
        figure_row(CEILING, panel.aspect, "people_agreement", pair_agreement(counts, near, clusters, level)),
        figure_row(CEILING, panel.aspect, "people_alpha", alpha),
    ]


def _confusion(panel: Panel, each: ClassRows) -> dict[str, Any]:
    """Counts by human and judge's class; of sets of labels, rows with a label of the human that lack it, by label."""
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


def largest_confusions(facts: dict[str, Any], judge: str, most: int = MOST_CONFUSIONS) -> list[tuple[str, str, int]]:
    """Return the pairs (human class, judge's class, rows) that a judge confuses most often."""
    if "counts" not in facts["confusion"][judge]:
        return []
    counts, names = facts["confusion"][judge]["counts"], facts["classes"]
    pairs = [(names[i], names[j], n) for i, row in enumerate(counts) for j, n in enumerate(row) if i != j and n]
    return sorted(pairs, key=lambda pair: (-pair[2], pair[0], pair[1]))[:most]


def _may_be_best(panel: Panel, judged: Sequence[ClassRows], level: float) -> dict[str, bool]:
    """Judges that no other one is significantly better than, by the main coefficient on the rows that all judged."""
    shared = set(judged[0].flat.tolist()).intersection(*(each.flat.tolist() for each in judged[1:]))
    if len(judged) < 2 or len(shared) < 2:
        return {each.judge: True for each in judged}
    deviations, values = [], []
    members = panel.scale.members()
    distances = set_distances(members, "masi" if panel.scale.kind == "multilabel" else "nominal")
    for each in judged:
        inside = np.isin(each.flat, list(shared))
        rows = np.arange(int(inside.sum())) if each.clusters is None else each.clusters[inside]
        left, value = _left_out(each.human[inside], each.given[inside], rows, distances)
        values.append(value)
        deviations.append(np.sqrt((len(left) - 1) / len(left)) * (left - left.mean()))
    n = np.array([len(shared)] * len(judged))
    units = np.array([len(deviations[0]) - 1] * len(judged))
    # One discordant row each, as for verdicts: rounding does not distinguish two judges that never differ.
    prior = np.eye(len(judged)) / len(shared)
    table = JudgeDeviations(np.array(values), np.hstack([np.array(deviations), prior]), units, n, [""] * len(judged))
    return {each.judge: bool(b) for each, b in zip(judged, may_be_best(table, level), strict=True)}


def _left_out(human: Ints, judge: Ints, clusters: Ints, distances: Array) -> tuple[Array, float]:
    """Kappa (weighted by a distance) without each cluster, and of all."""
    code = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    k = len(distances)
    apart = np.bincount(code, distances[human, judge])
    n = np.bincount(code).astype(np.float64)
    z, x = (np.bincount(code * k + v, minlength=len(n) * k).reshape(-1, k) for v in (human, judge))

    def kappa(apart: Array, n: Array, z: Array, x: Array) -> Array:
        expected = ((z @ distances) * x).sum(axis=-1) / n
        return np.asarray(1 - np.divide(apart, expected, out=np.ones_like(expected), where=expected > 0))

    left = kappa(apart.sum() - apart, n.sum() - n, z.sum(axis=0) - z, x.sum(axis=0) - x)
    whole = kappa(apart.sum()[None], n.sum()[None], z.sum(axis=0)[None], x.sum(axis=0)[None])
    return left, float(whole[0])


def _answers(rows: list[Row], facts: dict[str, Any], kind: str) -> list[str]:
    """Who agrees best, next to the baseline and to two annotators, and what it confuses."""
    main = [r for r in rows if r["measure"] == MAIN[kind] and np.isfinite(r["value"])]
    if not main:
        return []
    first = max(main, key=lambda r: r["value"])
    name, of = first["metric"], {r["measure"]: r for r in rows if r["metric"] == first["metric"]}
    lead = f"{name} agrees best with the human classes" if len(main) > 1 else f"{name} and the human classes"
    text = f"{lead}: {CLASS_WORDS[MAIN[kind]]} {row_interval(first)}"
    people = next((r for r in rows if r["measure"] == "people_agreement" and np.isfinite(r["value"])), None)
    text += "."
    if people is not None and "annotator_agreement" in of:
        text += f" It agrees with a single annotator in {row_interval(of['annotator_agreement'])} of the outputs, two "
        text += f"annotators with each other in {row_interval(people)}."
    accuracy, base, gain = (of[m] for m in ("agreement", "majority_baseline", "gain_over_majority"))
    if not np.isfinite(gain["low"]):
        how = f"next to always naming the commonest class ({number(base['value'], 2)})"
    else:
        better = gain["low"] > 0
        worse = gain["high"] < 0
        how = f"is {'better than' if better else 'worse than' if worse else 'not shown to be better than'} always "
        how += f"naming the commonest class ({number(base['value'], 2)})"
    answers = [text, f"Accuracy {row_interval(accuracy)} {how}."]
    equal = [r["metric"] for r in main if r["may_be_best"] and r is not first]
    if equal:
        answers.append(f"{name} is not significantly better than {some(equal, 4)}.")
    if pairs := largest_confusions(facts, name):
        told = "; ".join(f"{human} named {given} ({n:,})" for human, given, n in pairs[:3])
        answers.append(f"Largest confusions of {name}: {told}.")
    return answers


def _missing(rows: list[Row]) -> list[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["reason"]:
            lacking = "no interval" if np.isfinite(row["value"]) else "not given"
            found.setdefault((lacking, str(row["reason"])), []).append(class_words(row["measure"]))
    return [
        RowNote(f"{lacking}: {some(list(dict.fromkeys(names)), 6)} ({why}).") for (lacking, why), names in found.items()
    ]


def _cell(row: Row) -> str:
    measure = row["measure"].partition(":")[0]
    if measure in SHARES or measure in ("recall", "precision"):
        return share_text(row)
    return row_interval(row)
