"""What the plug-ins of evaluation tools compute: a judge's pass/fail verdicts next to human labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from nlgauge.api.questions import analyze
from nlgauge.data.load import load
from nlgauge.errors import NlgaugeError

MEASURES = {
    "agreement": "agreement",
    "kappa": "kappa",
    "fail_recall": "recall_on_failures",
    "pass_recall": "recall_on_passes",
}


def judge_figures(
    judge: Sequence[float | None], human: Sequence[float | None], inputs: Sequence[str]
) -> dict[str, float]:
    """Compute agreement of a judge with human labels; outputs of one input are one cluster.

    Parameters
    ----------
    judge, human : sequence of float or None
        Verdict and label of every output; pass is at least 0.5, None is missing.
    inputs : sequence of str
        The input of every output.

    Returns
    -------
    dict
        agreement (share of equal verdicts), kappa, recall_on_failures and recall_on_passes, each also as _low and
        _high, the ends of its 95% confidence interval, and the number of labels, n. A figure that cannot be computed
        is NaN.

    Examples
    --------
    >>> figures = judge_figures([1, 0, 1, 1] * 15, [1, 0, 1, 0] * 15, [str(k) for k in range(60)])
    >>> figures["agreement"], figures["recall_on_failures"], figures["n"]
    (0.75, 0.5, 60.0)
    """
    pairs = [(j, h, i) for j, h, i in zip(judge, human, inputs, strict=True) if j is not None and h is not None]
    rows = [
        {"system": "system", "input": i, "trial": k, "judge": int(j >= 0.5), "human_label": int(h >= 0.5)}
        for k, (j, h, i) in enumerate(pairs)
    ]
    names = [f"{name}{end}" for name in MEASURES.values() for end in ("", "_low", "_high")]
    figures = dict.fromkeys(names, math.nan) | {"n": float(len(rows))}
    if not rows:
        return figures
    try:
        table = analyze("verdicts", load(rows, human=["human_label"], metrics=["judge"]))
    except NlgaugeError:  # only passes, or only failures: n tells it
        return figures
    for row in table.rows:
        if (name := MEASURES.get(str(row["measure"]))) is not None:
            ends = {f"{name}_low": row["low"], f"{name}_high": row["high"]}
            figures |= {key: math.nan if v is None else float(v) for key, v in ({name: row["value"]} | ends).items()}
    return figures
