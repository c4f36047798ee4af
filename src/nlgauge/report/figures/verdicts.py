"""The verdicts of a judge compared with human labels: shares with intervals, and the majority-class baseline."""

from __future__ import annotations

import math

from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, QUIET, framed, key, lanes, marks, plain, upright
from nlgauge.report.figures.plotly_json import Figure
from nlgauge.table import Table

SHARES = {
    "fail_recall": "recall on failures<br>(TNR)",
    "pass_recall": "recall on passes<br>(TPR)",
    "fail_precision": "precision on failures<br>(NPV)",
    "pass_precision": "precision on passes<br>(PPV)",
    "agreement": "accuracy",
    "human_agreement": "agreement of<br>two annotators",
}
INKS = (ACCENT, "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # one per judge; human agreement is grey


@figure("verdicts")
def share_dots(table: Table) -> Figure:
    """One line per share, a dot with its interval per judge; dotted: the majority-class baseline."""
    judges = list(dict.fromkeys(r["metric"] for r in table if r["measure"] == "agreement"))
    shown = [m for m in SHARES if any(r["measure"] == m and not math.isnan(r["value"]) for r in table)]
    drawn = Figure()
    for k, name in enumerate([*judges, "human"]):
        rows = [r for r in table if r["metric"] == name and r["measure"] in SHARES and not math.isnan(r["value"])]
        if rows:
            ink = QUIET if k == len(judges) else INKS[k % len(INKS)]
            shift = 0 if len(judges) == 1 or k == len(judges) else 0.5 * (k / (len(judges) - 1) - 0.5)
            who = plain("humans" if name == "human" else name)
            x, y = [r["value"] for r in rows], [shown.index(r["measure"]) + shift for r in rows]
            tips = [f"{who}: {r['value']:.0%} of {r['n']:,}" for r in rows]
            drawn.add_trace(marks(x, y, ink, rows=rows, texts=tips, name=who, marker={"size": 11}))
    common = [r["value"] for r in table if r["measure"] in ("always_pass", "always_fail")]
    lines = [upright(max(common))] if common else []
    framed(drawn, 110 + 52 * len(shown), margin={"l": 10, "r": 20, "t": 20, "b": 70}, shapes=lines)
    drawn.update_layout(showlegend=len(judges) > 1, legend={"orientation": "h", "y": 1.12})
    lanes(drawn, [SHARES[m] for m in shown])
    drawn.update_xaxes(range=[-0.02, 1.02])
    return key(drawn, "dotted: always giving the more common verdict", -36)
