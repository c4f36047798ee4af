"""Bar charts: inter-annotator agreement, replacement of annotators, agreement of judges, and predictors of ratings."""

from __future__ import annotations

from nlgauge.number import number
from nlgauge.report.figures import figure
from nlgauge.report.figures.look import ACCENT, COLORS, LEGEND, QUIET, bars, distinct, framed, plain, there, whiskers
from nlgauge.report.figures.plotly_json import PlotlyFigure, bar
from nlgauge.table import Table

FEATURE_COLORS = {"best metric": QUIET, "automatic": COLORS[0], "human": COLORS[1], "both": COLORS[2]}


@figure("agreement")
def agreement_bars(table: Table) -> PlotlyFigure:
    """Show one bar per coefficient with its interval; undefined coefficients are omitted, with reasons in the table."""
    rows = [row for row in table if there(row["value"])]
    drawn = bars(
        [row["value"] for row in rows],
        [row["coefficient"] for row in rows],
        "agreement<br>(1: perfect, 0: chance)",
        text=[number(row["value"]) for row in rows],
        textposition="inside",
        insidetextanchor="start",
        error_x=whiskers(rows, thickness=2),
    )
    low = min([0.0, *(row["value"] for row in rows)])
    return drawn.update_xaxes(range=[low - 0.02 if low < 0 else 0, 1.02])


@figure("replacement")
def replacement_bars(table: Table) -> PlotlyFigure:
    """Show how often each metric is at least as close to the annotators as one of them; filled bars pass the test."""
    rows = [row for row in table if there(row["advantage"])]
    drawn = bars(
        [row["advantage"] for row in rows],
        [row["metric"] for row in rows],
        "advantage: how often it is as close as the rater left out",
        [ACCENT if row["passes"] else QUIET for row in rows],
        hovertemplate="%{y}: %{text}<extra></extra>",
        text=[
            f"{number(row['advantage'])}, ω {number(row['winning_rate'])}{' passes' if row['passes'] else ''}"
            for row in rows
        ],
    )
    return drawn.update_xaxes(range=[0, 1.15])


@figure("judges")
def judge_bars(table: Table) -> PlotlyFigure | None:
    """Show the agreement of each judge (input τ, or the global correlation), best on top, without undefined values."""
    measured = {row["quantity"] for row in table}
    kind = next((k for k in ("input/kendall", "global/spearman", "global/pearson") if k in measured), None)
    if kind is None:
        return None
    rows = sorted((r for r in table if r["quantity"] == kind and there(r["value"])), key=lambda r: -r["value"])
    values = [r["value"] for r in rows]
    drawn = bars(
        values,
        [table.line_name(r) for r in rows],
        f"agreement with human ratings ({kind})",
        [ACCENT if v > 0 else QUIET for v in values],
        text=[number(v) for v in values],
    )
    return drawn.update_xaxes(range=[min([0.0, *values]) * 1.25, max([0.1, *values]) * 1.2])


@figure("aspect-preference")
def level_gaps(table: Table) -> PlotlyFigure:
    """Show the difference in scores between high and low levels; filled bars have the human order of the levels."""
    rows = [row for row in table if there(row["high_minus_low"])]
    return bars(
        [row["high_minus_low"] for row in rows],
        [row["metric"] for row in rows],
        "high minus low, in standard deviations (blue: the human order)",
        [ACCENT if row["value"] == 1 else QUIET for row in rows],
        text=[plain(table.text(row, "order")) for row in rows],
        textposition="none",
        hovertemplate="%{y}: %{x:.3f}<br>%{text}<extra></extra>",
    )


@figure("predictability")
def prediction_bars(table: Table) -> PlotlyFigure:
    """Show the predictors of human ratings for each aspect, with intervals over folds (Fig. 3)."""
    drawn = PlotlyFigure()
    for name in distinct(table, "predictors"):
        rows = [row for row in table if row["predictors"] == name and there(row["value"])]
        drawn.add_trace(
            bar(
                x=[plain(row["aspect"]) for row in rows],
                y=[row["value"] for row in rows],
                name=name,
                marker={"color": FEATURE_COLORS.get(name, ACCENT)},
                error_y=whiskers(rows),
                hovertemplate="%{x}, " + name + ": %{y:.3f}<extra></extra>",
            )
        )
    framed(drawn, 430, barmode="group", bargap=0.25, **LEGEND)
    drawn.update_yaxes(title=f"{plain(table.rows[0]['measure'])} on held-out data")
    return drawn.update_xaxes(
        type="category",
        showgrid=False,
        categoryorder="array",
        categoryarray=[plain(a) for a in distinct(table, "aspect")],
    )
