"""Sections of a report on one judge: threshold, calibration, slices, repeated trials, labels, changed verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.errors import NeedsMissing
from nlgauge.number import p_text
from nlgauge.options import call
from nlgauge.report.answer_types import RELIABLE_FROM, MetricAnswer
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.report.sections.outputs import reason_columns, verdict
from nlgauge.report.sections.verdicts import pass_or_fail
from nlgauge.report.sections.words import ci, some
from nlgauge.stats.agreement.two_by_two import sign_test
from nlgauge.table import Row, Table, Title

MAX_SLICES = 25  # rows of the table of slices on the page
SIZES = (50, 100, 200, 400, 800)


def judged(run: ReportContext) -> bool:
    """Return whether human labels are pass and fail on every aspect."""
    return pass_or_fail(run) == run.aspects != []


@section(
    "threshold-curve",
    order=12,
    title="Threshold of the judge's score",
    question="From which score on should an output pass?",
    limitations="The threshold may not be the best one for other costs: missing a failure and failing a good output "
    "have the same cost here.",
    applies=judged,
)
def threshold_curve(run: ReportContext) -> Findings:
    """Show recall and precision at every threshold, and the threshold with the lowest cost."""
    chosen = {run.about(t): t for t in run.each("threshold")}
    parts = []
    for table in run.each("threshold", part="curve"):
        summary = chosen.get(run.about(table))
        rows = {} if summary is None else {(r["metric"], r["measure"]): r for r in summary}
        table.facts = {**table.facts, "chosen": {m: r["value"] for (m, name), r in rows.items() if name == "threshold"}}
        words = [
            f"{metric}: the threshold of least cost is {row['value']:.3g} (chosen on one half of the labels); on the "
            f"other half, recall on failures is {_at(rows, metric, 'fail_recall')} and precision on failures "
            f"{_at(rows, metric, 'fail_precision')}."
            for (metric, name), row in rows.items()
            if name == "threshold" and row["value"] == row["value"]
        ]
        parts.append(Finding(run.about(table), " ".join(words), [table, *([summary] if summary else [])]))
    return Findings(parts)


def _at(rows: dict[tuple[str, str], Row], metric: str, measure: str) -> str:
    row = rows.get((metric, measure))
    return "–" if row is None else ci(row["value"], row["low"], row["high"])


@section(
    "slices",
    order=14,
    title="Slices: where the judge is worst",
    question="In which parts of the data does the judge agree least with the human labels?",
    limitations="This does not show why a slice is worse: the cause may be something other than the column that "
    "defines it.",
    cites=("benjamini1995",),
    applies=judged,
)
def slices(run: ReportContext) -> Findings:
    """Show the slices with false discovery control."""
    reasons = reason_columns(run.data)
    names = [c for c in run.data.samples.columns if c not in (*KEY, "control", *reasons)]
    copied = "control" in run.data.samples.columns and not any(
        run.data.samples[c].equals(run.data.samples["control"]) for c in names if c != "control"
    )
    names += ["control"] if copied else []
    if not names:
        raise NeedsMissing("columns that describe the outputs, such as topic or language.", code="unsuited_column")
    parts = []
    for table in run.each("slices", slice_columns=names):
        worse = [r for r in table if r["found"]]
        words = (
            "Significantly worse (false discovery rate 5%): "
            + "; ".join(
                f"{r['column']} = {r['slice']}: accuracy {ci(r['value'], r['low'], r['high'])}, elsewhere "
                f"{r['rest']:.2f}"
                for r in worse[:3]
            )
            + "."
            if worse
            else "No slice is significantly worse than the rest (false discovery rate 5%)."
        )
        parts.append(Finding(run.about(table), words, [table], table_first=True))
    return Findings(parts)


@section(
    "calibration",
    order=16,
    title="Calibration",
    question="Is the judge's score the probability that an output passes?",
    limitations="This does not show the calibration on other data, in which the share of failures may differ.",
    applies=judged,
)
def calibration(run: ReportContext) -> Findings:
    """Show the reliability curve with Brier score and expected calibration error."""
    summary = {run.about(t): t for t in run.each("calibration")}
    parts = []
    curves = {run.about(t): t for t in run.optional("calibration", part="curve")}
    for about, table in summary.items():
        rows = [r for r in table if r["measure"] in ("ece", "ece_mapped")]
        words = " ".join(
            f"{r['metric']}: expected calibration error{' after isotonic mapping' if r['measure'] != 'ece' else ''} "
            f"{ci(r['value'], r['low'], r['high'])}."
            for r in rows
            if r["value"] == r["value"]
        )
        parts.append(Finding(about, words, [*([curves[about]] if about in curves else []), table]))
    return Findings(parts)


@section(
    "trials",
    order=18,
    title="Test–retest reliability",
    question="Does the judge give the same verdict again?",
    limitations="This does not show that a verdict is right: a judge can repeat an error.",
    applies=lambda run: judged(run) or run.one_judge,
)
def trials(run: ReportContext) -> Findings:
    """Show the agreement of repeated trials of the same input."""
    tables = run.each("trials")
    return Findings([Finding(run.about(t), " ".join(t.answers), [t]) for t in tables])


@section(
    "labels",
    order=19,
    title="Labels needed",
    question="How many more labels would decide whether the judge catches failures?",
    limitations="The number assumes that further labels come from the same population, with the same recall and the "
    "same share of failures.",
    applies=lambda run: run.one_judge,
)
def labels(run: ReportContext) -> Findings:
    """State how many more labels are needed for a decision; simulated unless the report is a quick one."""
    answers = [] if run.answer is None else run.answer.aspects
    judges = [(a.about, a.best) for a in answers if a.best is not None]
    if not judges:
        raise NeedsMissing("labels of failures and of passes.", code="too_few_labels")
    goal = f"fail_recall={RELIABLE_FROM}"
    tables: dict[str, Table] = {}
    if not run.quick and any(judge.more_labels != 0 for _, judge in judges):
        for table in run.optional("labels-needed", goal="gate", gate=goal, sizes=list(SIZES), trials=40):
            tables[run.about(table)] = table
    return Findings(
        [Finding(a, _needed(j), [tables[a]] if a in tables else []) for a, j in judges],
        [f"{call('plan FILE')} simulates other goals, and {call('label FILE')} draws the outputs to label."],
    )


def _needed(judge: MetricAnswer) -> str:
    mark = judge.marks.get("catch failures")
    if mark is None or mark.value is None:
        return "Recall on failures is unknown: label failures first."
    if judge.more_labels == 0:
        return f"None: the 95% CI of recall on failures lies on one side of {RELIABLE_FROM:.2f} already."
    if judge.more_labels is None:
        return f"Recall on failures is too close to {RELIABLE_FROM:.2f} for a realistic number of labels to decide."
    return f"About {judge.more_labels:,} more labels (80% power, if recall on failures stays at {mark.value:.2f})."


@section(
    "flips",
    order=4,
    title="Verdicts that changed since the earlier run",
    question="Which verdicts changed, and in which direction?",
    limitations="This does not show why a verdict changed: the judge, its prompt or the outputs may have changed.",
    cites=("mcnemar1947",),
    applies=lambda run: run.earlier is not None and judged(run),
)
def flips(run: ReportContext) -> Findings:
    """Compare the verdicts of two runs, output by output."""
    parts = [Finding(aspect, text, [table], table_first=True) for aspect, text, table in flipped_verdicts(run)]
    if not parts:
        raise NeedsMissing("a judge of the same name in both runs.", code="no_scores")
    return Findings(parts)


def flipped_verdicts(run: ReportContext) -> Iterator[tuple[str, str, Table]]:
    """Yield aspect, conclusion and table of the verdicts that changed, of each judge that is in both runs."""
    names = run.source.metrics or run.data.metrics
    for metric in (m for m in names if run.earlier is not None and m in run.earlier.metrics):
        for aspect in run.aspects:
            rows, outputs = _flipped(run, metric, aspect)
            yield aspect, _flip_words(metric, rows, outputs), _flip_table(run, metric, rows)


def _flipped(run: ReportContext, metric: str, aspect: str) -> tuple[list[Row], int]:
    """Return the outputs whose verdict differs, and the number of outputs with a verdict in both runs."""
    assert run.earlier is not None
    new, old = _verdicts(run.data, metric, "new"), _verdicts(run.earlier, metric, "old")
    labels = (
        run.data.ratings.filter(pl.col("aspect") == aspect).group_by(KEY).agg(pl.col("value").mean().alias("human"))
    )
    both = new.join(old, on=KEY, how="inner", maintain_order="left").drop_nulls(["new", "old"])
    both = both.join(labels, on=KEY, how="left", maintain_order="left")
    flipped = both.filter(pl.col("new") != pl.col("old"))
    return list(flipped.iter_rows(named=True)), both.height


def _verdicts(data: Dataset, metric: str, name: str) -> pl.DataFrame:
    frame = data.scores.select(*KEY, pl.col(metric).cast(pl.Float64).alias(name))
    texts = reason_columns(data)[:1]
    texts_of = data.samples.select(*KEY, *(pl.col(c).alias(f"{name}_reason") for c in texts))
    return frame.join(texts_of, on=KEY, how="left", maintain_order="left")


def _flip_words(metric: str, rows: list[Row], outputs: int) -> str:
    down, up = (sum(r["new"] < r["old"] for r in rows), sum(r["new"] > r["old"] for r in rows))
    labeled = [r for r in rows if r["human"] is not None]
    better = sum(abs(r["new"] - r["human"]) < abs(r["old"] - r["human"]) for r in labeled)
    worse = len(labeled) - better
    text = (
        f"{metric} changed {len(rows):,} of {outputs:,} verdicts ({down:,} from pass to fail, {up:,} from fail to "
        "pass)."
    )
    if not labeled:
        return f"{text} None of these outputs has a human label."
    p = sign_test(worse, len(labeled))
    return (
        f"{text} Of the {len(labeled):,} with a human label, {better:,} are right now and {worse:,} are wrong now "
        f"(McNemar test, {p_text(p)})."
    )


def _flip_table(run: ReportContext, metric: str, rows: list[Row]) -> Table:
    """Return one row per output with a changed verdict, those with a human label first."""
    order = sorted(rows, key=lambda r: (r["human"] is None, r["new"] > r["old"]))
    table_rows: list[Row] = [
        {
            **{k: r[k] for k in KEY if k == "input" or len(run.data.systems) > 1},
            "human": r["human"],
            "old": r["old"],
            "new": r["new"],
            "reason_before": r.get("old_reason"),
            "reason_now": r.get("new_reason"),
        }
        for r in order
    ]
    texts = [c for c in ("reason_before", "reason_now") if any(r[c] for r in table_rows)]
    cells: dict[str, Callable[[Row], str]] = {name: partial(_verdict_cell, name) for name in ("human", "old", "new")}
    columns = [c for c in (table_rows[0] if table_rows else {}) if not c.startswith("reason")]
    return Table(
        Title(run.data.name, f"verdicts of {metric} that changed"),
        table_rows,
        kind="flips",
        shown=[*columns, *texts],
        heads={"old": "before", "new": "now"},
        cells=cells,
        method=f"Outputs with a verdict in both runs, matched by {some(list(KEY))}.",
    )


def _verdict_cell(name: str, row: Row) -> str:
    return "–" if row[name] is None else verdict(row[name])
