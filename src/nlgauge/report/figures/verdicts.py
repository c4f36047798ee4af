"""The verdicts of a judge compared with human labels: shares with intervals, and the majority-class baseline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, QUIET, framed, plain
from nlgauge.table import Row, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go

SHARES = {
    "fail_recall": "recall on failures<br>(TNR)",
    "pass_recall": "recall on passes<br>(TPR)",
    "fail_precision": "precision on failures<br>(NPV)",
    "pass_precision": "precision on passes<br>(PPV)",
    "agreement": "accuracy",
    "people_agreement": "agreement of<br>two annotators",
}
INKS = (ACCENT, "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # one per judge; human agreement is grey


@figure("verdicts")
def share_dots(table: Table) -> go.Figure:
    """One line per share, a dot with its interval per judge; dotted: the majority-class baseline."""
    import plotly.graph_objects as go

    judges = list(dict.fromkeys(r["metric"] for r in table if r["measure"] == "agreement"))
    shown = [m for m in SHARES if any(r["measure"] == m and not math.isnan(r["value"]) for r in table)]
    drawn = go.Figure()
    for k, name in enumerate([*judges, "people"]):
        rows = [r for r in table if r["metric"] == name and r["measure"] in SHARES and not math.isnan(r["value"])]
        if rows:
            ink = QUIET if k == len(judges) else INKS[k % len(INKS)]
            shift = 0 if len(judges) == 1 or k == len(judges) else 0.5 * (k / (len(judges) - 1) - 0.5)
            drawn.add_trace(_dots("humans" if name == "people" else name, rows, shown, ink, shift))
    common = [r["value"] for r in table if r["measure"] in ("always_pass", "always_fail")]
    lines = [
        {
            "type": "line",
            "x0": v,
            "x1": v,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": QUIET, "width": 1, "dash": "dot"},
        }
        for v in ([max(common)] if common else [])
    ]
    framed(drawn, 110 + 52 * len(shown), margin={"l": 10, "r": 20, "t": 20, "b": 70}, shapes=lines)
    drawn.update_layout(showlegend=len(judges) > 1, legend={"orientation": "h", "y": 1.12})
    drawn.update_yaxes(
        tickvals=list(range(len(shown))),
        ticktext=[SHARES[m] for m in shown],
        zeroline=False,
        range=[len(shown) - 0.5, -0.5],
    )
    drawn.update_xaxes(range=[-0.02, 1.02])
    drawn.add_annotation(
        text="dotted: always giving the more common verdict",
        xref="paper",
        yref="paper",
        x=0,
        y=0,
        yshift=-36,
        yanchor="top",
        xanchor="left",
        showarrow=False,
        font={"size": 12},
    )
    return drawn


def _dots(name: str, rows: list[Row], shown: list[str], ink: str, shift: float) -> go.Scatter:
    import plotly.graph_objects as go

    ends = [[_end(r["high"] - r["value"]) for r in rows], [_end(r["value"] - r["low"]) for r in rows]]
    return go.Scatter(
        x=[r["value"] for r in rows],
        y=[shown.index(r["measure"]) + shift for r in rows],
        mode="markers",
        name=plain(name),
        marker={"color": ink, "size": 11},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": ends[0],
            "arrayminus": ends[1],
            "color": ink,
            "thickness": 2,
            "width": 0,
        },
        text=[f"{r['value']:.0%} of {r['n']:,}" for r in rows],
        hovertemplate=f"{plain(name)}: %{{text}}<extra></extra>",
    )


def _end(length: float) -> float:
    return 0.0 if math.isnan(length) else length
