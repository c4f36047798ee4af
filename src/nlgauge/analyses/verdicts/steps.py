"""Steps, turns and claims: the first wrong one, the share that is right, and the verdict on the whole output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, signature
from nlgauge.analyses.verdicts._labeled import figure_row, missing_notes
from nlgauge.analyses.verdicts._output_parts import OutputParts, complete_outputs, first_failures, output_parts
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.number import number, row_interval, share_text
from nlgauge.stats.agreement.classes import class_share
from nlgauge.stats.agreement.distributions import clustered_mean
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.table import Layout, Row, Table, Title
from nlgauge.types import Ints, Mask

LABELS = {
    "part_agreement": "parts: same verdict (accuracy)",
    "part_majority": "parts: always the commoner human verdict",
    "part_recall": "parts: recall on failures",
    "part_precision": "parts: precision on failures",
    "first_failure": "outputs: same first failed part, or none",
    "first_failure_found": "outputs with a failure: same first failed part",
    "first_failure_near": "outputs with a failure: at most one part away",
    "first_failure_distance": "parts between the first failures (both fail one)",
    "whole_agreement": "outputs: all parts pass, same verdict",
    "whole_recall": "outputs: recall on those with a failed part",
    "whole_precision": "outputs: precision on those with a failed part",
    "human_share": "share of passed parts, human",
    "judge_share": "share of passed parts, judge",
    "share_difference": "share of passed parts, judge less human",
    "overall_follows": "outputs: overall verdict is that of all parts together",
    "overall_agreement": "outputs: human overall verdict and the judge's parts",
}
MEANS = {"first_failure_distance", "human_share", "judge_share", "share_difference"}
HUMANS = "human"


@analysis("steps", question="Does the judge find the wrong step or claim?", classes=True, declared=True)
def steps(
    panel: Panel,
    *,
    overall: str | None = None,
    human_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    level: float = 0.95,
) -> Table:
    """Evaluate verdicts on the parts of outputs: first wrong step, precision and recall, and share of supported claims.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect of parts (steps, turns, claims).
    overall : str, optional
        Aspect of the whole output, with two values, to test whether it follows from the parts.

    Returns
    -------
    Table
        One row per judge and figure. Figures of outputs use those of which each part has both verdicts. The share of
        passed parts is the factual score where parts are claims.

    Notes
    -----
    Parts of one output are one cluster, and so are outputs of one input. Intervals of shares: Clopper-Pearson with .7
    of the count's own probability in each tail and a design effect; of means, Student's t over clusters.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rows = [{"id": f"q{i}", "step": k, "human_label": "pass" if k < 3 else "fail", "judge": "pass"}
    ...         for i in range(12) for k in range(1, 5)]
    >>> {r["measure"]: r["value"] for r in ng.analyze("steps", ng.load(rows, name="mine"))}["part_recall"]
    0.0

    $ nlgauge analyze steps agent.csv --columns part=step
    """
    parts = output_parts(panel, "steps", human_pass_from, judge_pass_from)
    rows: list[Row] = []
    for judge in parts.judges:
        figures = {**_of_parts(parts, judge, level), **_of_outputs(parts, judge, level)}
        if overall is not None:
            figures |= _of_whole(panel, parts, overall, judge, level)
        rows += [figure_row(judge, panel.aspect, name, figure) for name, figure in figures.items()]
    if overall is not None:
        follows = _of_whole(panel, parts, overall, None, level)
        rows += [figure_row(HUMANS, panel.aspect, name, figure) for name, figure in follows.items()]
    return Table(
        title=Title(panel.name, f"parts of outputs on {panel.aspect}"),
        rows=sorted(rows, key=lambda row: list(LABELS).index(row["measure"])),
        layout=Layout("measure", "metric", "value", line=LABELS.__getitem__),
        cells={"value": _cell},
        answers=_answers(rows),
        method=f"{level:.0%} intervals over {len(np.unique(parts.clusters)):,} clusters: parts of one output, and "
        "outputs of one input, are not independent.",
        notes=[*missing_notes(rows, LABELS), *human_note(panel)],
        signature=signature(panel, level=number(level, 2)),
    )


def _of_parts(parts: OutputParts, judge: str, level: float) -> dict[str, Figure]:
    both = np.isfinite(parts.human) & np.isfinite(parts.judges[judge])
    z, x = parts.human[both] > 0.5, parts.judges[judge][both] > 0.5
    units = parts.clusters[parts.outputs[both]]
    if not len(z):
        raise NeedsMissing(
            f"no step has both a human verdict and a verdict of {judge}; check the column roles.",
            code="no_scores_of_rated",
            metric=judge,
        )
    usual = z.mean() >= 0.5
    return {
        "part_agreement": _share(z == x, units, level),
        "part_majority": _share(z == usual, units, level),
        "part_recall": _share(~x[~z], units[~z], level),
        "part_precision": _share(~z[~x], units[~x], level),
    }


def _of_outputs(parts: OutputParts, judge: str, level: float) -> dict[str, Figure]:
    chosen = complete_outputs(parts, judge)
    units = parts.clusters[chosen]
    human, given = (first_failures(v, parts)[chosen] for v in (parts.human, parts.judges[judge]))
    failed, flagged = np.isfinite(human), np.isfinite(given)
    both = failed & flagged
    with np.errstate(invalid="ignore"):
        distance = np.abs(human - given)
    shares = [
        np.bincount(parts.outputs, v, parts.many)[chosen] / np.bincount(parts.outputs, minlength=parts.many)[chosen]
        for v in (parts.human, parts.judges[judge])
    ]
    near = np.nan_to_num(distance[failed], nan=np.inf) <= 1
    return {
        "first_failure": _share(human == given, units, level),
        "first_failure_found": _share((human == given)[failed], units[failed], level),
        "first_failure_near": _share(near, units[failed], level),
        "first_failure_distance": Figure(float(distance[both].mean()) if both.any() else np.nan, n=int(both.sum())),
        "whole_agreement": _share(failed == flagged, units, level),
        "whole_recall": _share(flagged[failed], units[failed], level),
        "whole_precision": _share(failed[flagged], units[flagged], level),
        "human_share": clustered_mean(shares[0], units, level),
        "judge_share": clustered_mean(shares[1], units, level),
        "share_difference": clustered_mean(shares[1] - shares[0], units, level),
    }


def _of_whole(panel: Panel, parts: OutputParts, overall: str, judge: str | None, level: float) -> dict[str, Figure]:
    """Return whether the human verdict on the whole output equals that of its parts, by the human or by the judge."""
    if panel.data is None or overall not in panel.humans:
        raise NeedsMissing(f"no aspect '{overall}'; there are {', '.join(panel.humans)}.", code="unknown_name")
    values = panel.humans[overall]
    levels = np.unique(values[np.isfinite(values)])
    if len(levels) != 2:
        raise NeedsMissing(
            f"{overall} has {len(levels)} values; the verdict on the whole output needs two.", code="not_binary"
        )
    place = {name: k for k, name in enumerate(panel.inputs)}
    row = {name: k for k, name in enumerate(panel.systems)}
    of_part = np.array([values[row[s], place[i]] for s, i in parts.samples.select("system", "input").iter_rows()])
    rated = np.bincount(parts.outputs, np.isfinite(of_part), parts.many)
    total = np.bincount(parts.outputs, np.nan_to_num(of_part), parts.many)
    whole = np.divide(total, rated, out=np.full(parts.many, np.nan), where=rated > 0)
    verdicts = parts.human if judge is None else parts.judges[judge]
    complete = np.bincount(parts.outputs, ~np.isfinite(verdicts), parts.many) == 0
    chosen = np.flatnonzero(complete & np.isin(whole, levels))
    passes = ~np.isfinite(first_failures(verdicts, parts)[chosen])
    same = passes == (whole[chosen] == levels[1])
    name = "overall_follows" if judge is None else "overall_agreement"
    return {name: _share(same, parts.clusters[chosen], level)}


def _share(hits: Mask, clusters: Ints, level: float) -> Figure:
    if not len(hits):
        return Figure(np.nan, reason="no row")
    code = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    sums, rows = np.bincount(code, hits).astype(np.float64), np.bincount(code).astype(np.float64)
    return class_share(sums, rows, level)


def _cell(row: Row) -> str:
    return row_interval(row) if row["measure"] in MEANS else share_text(row)


def _answers(rows: Sequence[Row]) -> list[str]:
    lines = []
    for judge in dict.fromkeys(r["metric"] for r in rows if r["metric"] != HUMANS):
        of = {r["measure"]: r for r in rows if r["metric"] == judge}
        recall, found = of["part_recall"], of["first_failure_found"]
        text = f"{judge}: recall on failed parts {row_interval(recall)}, precision {row_interval(of['part_precision'])}"
        text += f"; same first failed part in {row_interval(found)} of the outputs with one." if found["n"] else "."
        lines.append(text)
    return lines
