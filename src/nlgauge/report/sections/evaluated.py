"""First and last sections of the report: the evaluated data, reproducibility and cost."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

import polars as pl

from nlgauge import __version__, registry
from nlgauge.bibliography import bibliography, cited
from nlgauge.data.dataset import Dataset
from nlgauge.data.units import trials_text
from nlgauge.errors import NeedsMissing
from nlgauge.options import option
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.report.sections.words import count, some
from nlgauge.scoring.costs import COST, known_costs
from nlgauge.scoring.plan import known_metric
from nlgauge.stats.correlation.measure import Measure, evaluate
from nlgauge.table import Row, Table, Title

PACKAGES = ("numpy", "scipy", "polars", "plotly")


@section(
    "evaluated",
    order=10,
    order_for_judge=115,
    title="Data",
    question="What was evaluated?",
    limitations="This does not show that the systems, inputs and annotators represent those of your application: "
    "results generalize only to the population from which they were sampled.",
    of_choices=True,
)
def evaluated(run: ReportContext) -> Findings:
    """State what was evaluated, and show the systems and the missing scores."""
    data = run.data
    people = [s for s in data.systems if s in data.human_systems]
    one = len(people) == 1
    treatment = "kept among the systems" if run.source.keep_human else "left out of the comparisons"
    answer = f"The data contain {size_text(data)}, {judged_words(run)}." + (
        f" {some(people)} {'looks' if one else 'look'} human-written and {'is' if one else 'are'} {treatment}."
        if people
        else ""
    )
    return Findings(parts=[Finding("", answer, [_systems(run), *_gaps(data)])], lines=run.source.card[1:])


def size_text(data: Dataset) -> str:
    """Return the counts as in `240 outputs of 4 systems for 60 inputs`."""
    inputs = trials_text(data.samples) or count(len(data.inputs), "input")
    return f"{count(len(data), 'output')} of {count(len(data.systems), 'system')} for {inputs}"


def judged_words(run: ReportContext) -> str:
    """Describe the ratings and scores, or the pairwise comparisons if the data contain nothing else."""
    data = run.data
    if without_humans(data):
        metrics = count(len(run.source.metrics or data.metrics), "metric")
        return f"scored by {metrics}, without human judgments; {_holes(data)}"
    if not data.aspects:
        people, models = (data.voted(human=p).height for p in (True, False))
        by = [f"{n:,} times by {who}" for n, who in ((people, data.rated_by), (models, some(sorted(data.models)))) if n]
        return f"compared pairwise: {' and '.join(by)}"
    return (
        f"rated by {raters(data)} on {some(run.aspects, 6)}, scored by "
        f"{count(len(run.source.metrics or data.metrics), 'metric')}; {_holes(data)}"
    )


def raters(data: Dataset) -> str:
    """Return who rated the outputs."""
    human = count(len(data.raters), "human annotator") if data.raters else "human annotators"
    who = human if data.rated_by == "humans" else data.rated_by
    return f"{who} (assumed)" if data.assumed else who


def _holes(data: Dataset) -> str:
    cells = len(data) * len(data.metrics)
    empty = sum(data.scores[m].null_count() + len(data) - data.scores.height for m in data.metrics)
    return f"{empty:,} of {cells:,} scores are missing" if empty else "no score is missing"


def _systems(run: ReportContext) -> Table:
    """Return one row per system with its number of outputs and its mean rating on each aspect."""
    data, aspects = run.data, run.aspects
    outputs = dict(data.samples.group_by("system").len().iter_rows())
    means = data.ratings.group_by("system", "aspect").agg(pl.col("value").mean())
    at = {(s, a): v for s, a, v in means.iter_rows()}
    rows: list[Row] = [
        {
            "system": s,
            "outputs": outputs[s],
            **{a: at.get((s, a)) for a in aspects},
            "written_by": "human" if s in data.human_systems else "system",
        }
        for s in data.systems
    ]
    if aspects:
        rows.sort(key=lambda r: -(r[aspects[0]] if r[aspects[0]] is not None else float("-inf")))
    if not data.human_systems:
        rows = [{k: v for k, v in row.items() if k != "written_by"} for row in rows]
    return Table(
        Title(data.name, "systems by mean rating"),
        rows,
        heads={aspect: aspect for aspect in aspects},
        method="Mean over all ratings of a system.",
        decimals=2,
        kind="systems",
    )


def _gaps(data: Dataset) -> list[Table]:
    """Return the metrics with missing scores and the reasons."""
    reasons: dict[str, list[str]] = {}
    for metric, reason in data.failures.select("metric", "reason").unique(maintain_order=True).iter_rows():
        reasons.setdefault(metric, []).append(reason)
    rows: list[Row] = [
        {"metric": m, "missing": n, "of": len(data), "reasons": "; ".join(reasons.get(m, [])) or "not in the file"}
        for m in data.metrics
        if (n := data.scores[m].null_count() + len(data) - data.scores.height)
    ]
    return [Table(Title(data.name, "missing scores"), rows, kind="missing-scores")] if rows else []


def without_humans(data: Dataset) -> bool:
    """Return whether the data have metric scores but no human ratings or pairwise comparisons."""
    return not data.aspects and not data.comparisons.height and bool(data.metrics)


@section(
    "metrics-alone",
    order=15,
    title="Metrics without human judgments",
    question="How strongly do the metrics agree with each other?",
    limitations="This does not show that any of the metrics is right: metrics can agree with each other and share "
    "their errors. Human ratings of some of these outputs are needed.",
    applies=lambda run: without_humans(run.data),
    of_choices=True,
)
def metrics_alone(run: ReportContext) -> Findings:
    """Describe the metrics and their agreement with each other, where there are no human judgments."""
    names = list(run.source.metrics or run.data.metrics)
    scores = run.data.scores.select(names).cast(pl.Float64)
    spread: list[Row] = [
        {
            "metric": m,
            "n": len(v),
            "mean": v.mean(),
            "sd": v.std(),
            "low": v.min(),
            "high": v.max(),
            "values": v.n_unique(),
        }
        for m in names
        for v in [scores[m].drop_nulls().drop_nans()]
    ]
    turned = [scores[m].to_numpy() * (-1 if m in run.data.lower else 1) for m in names]
    pairs: list[Row] = []
    measure = [Measure.parse("global/kendall")]
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            tau = float(evaluate(turned[i][None, None], turned[j][None], measure).value[0, 0])
            pairs.append({"metric": first, "other": names[j], "measure": "global/kendall", "value": tau})
    ordered = sorted((p for p in pairs if p["value"] == p["value"]), key=lambda p: -p["value"])
    constant = [r["metric"] for r in spread if r["values"] < 2]
    same = f" {some(constant)} {'is' if len(constant) == 1 else 'are'} constant." if constant else ""
    tables = [
        Table(
            Title(run.data.name, "distribution of the scores"),
            spread,
            decimals=3,
            kind="score-distribution",
            method="Over all outputs with a score; `values` counts the different ones.",
        ),
        *(
            [
                Table(
                    Title(run.data.name, "agreement between metrics"),
                    ordered,
                    decimals=2,
                    kind="metric-agreement",
                    method="Kendall's tau-b over all outputs that both metrics scored; the sign of "
                    "lower-is-better metrics is flipped.",
                )
            ]
            if ordered
            else []
        ),
    ]
    return Findings(
        [Finding("", (_correlated(ordered) + same).strip() or "No agreement between metrics can be computed.", tables)]
    )


def _correlated(pairs: list[Row]) -> str:
    """Return which metrics are the most and the least strongly correlated; `pairs` are sorted by tau-b."""
    names = [f"{p['metric']} and {p['other']}" for p in pairs]
    taus = [f"(Kendall's tau-b {p['value']:.2f})" for p in pairs]
    most = f"{names[0]} are most strongly correlated {taus[0]}." if pairs else ""
    return most + (f" {names[-1]} are least correlated {taus[-1]}." if len(pairs) > 1 else "")


@section(
    "made",
    order=130,
    title="Citation and reproducibility",
    question="How can this report be cited and reproduced?",
    limitations="This does not show that another sample of systems, inputs or annotators would give the same numbers.",
    last=True,
    of_choices=True,
)
def made(run: ReportContext) -> Findings:
    """Describe how to cite and reproduce the report."""
    lines = [
        f"NLGauge {__version__}, seed {run.source.seed}, {run.draws} "
        f"draws{' (quick)' if run.quick else ''}, Python {platform.python_version()}; "
        f"{', '.join(f'{p} {v}' for p in PACKAGES if (v := _version(p)))}."
    ]
    rows = [
        {"analysis": t.kind, "about": run.about(t), "signature": t.signature}
        for t in run.tables.values()
        if t.signature
    ]
    tables = [Table("Signatures, with which the numbers can be reproduced", rows, kind="signatures")] if rows else []
    cites = _metric_cites(run)
    tables += [Table("Metrics known to NLGauge by these names", cites, kind="citations")] if cites else []
    answer = (
        "Report the version of NLGauge, the measure and the signature of each number, and cite the papers of the "
        "methods and metrics. The same file, version and seed give the same numbers."
    )
    return Findings(parts=[Finding("", answer, tables)], lines=lines, cites=_cited(run))


def _cited(run: ReportContext) -> list[str]:
    """Return the citation keys for all analyses on the page and for all metrics recognized by name."""
    entries = {e.key for kind in {t.kind for t in run.tables.values()} for e in cited(kind, _paper(kind))}
    for name in run.source.metrics or run.data.metrics:
        metric = known_metric(name)
        if metric is not None and metric.facts.cite in bibliography():
            entries.add(metric.facts.cite)
    return sorted(entries)


def _metric_cites(run: ReportContext) -> list[Row]:
    """Return the columns whose names match NLGauge metrics, with the citation key of each metric."""
    rows: list[Row] = []
    for name in run.source.metrics or run.data.metrics:
        metric = known_metric(name)
        if metric is not None and metric.facts.cite:
            facts = metric.facts
            rows.append({"metric": name, "cite": facts.cite, "year": facts.year, "summary": facts.summary})
    return rows


def _paper(kind: str) -> str:
    return str(registry.get("analysis", kind).paper) if kind in registry.names("analysis") else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@section(
    "costs",
    order=120,
    title="Cost of the scores",
    question="What did the scores cost?",
    limitations="Costs may differ elsewhere: they depend on prices and machines.",
)
def costs(run: ReportContext) -> Findings:
    """Return the time and cost of each metric, from columns such as `bleu seconds` or `my-judge tokens in` and cached
    replies.
    """
    rows: list[Row] = []
    lines: list[str] = []
    for metric in run.source.metrics or run.data.metrics:
        measured = known_costs(run.data, metric, run.prices, lines)
        if measured:
            rows.append({"metric": metric, **measured})
    if not rows:
        raise NeedsMissing(
            "columns such as ‘NAME seconds’ or ‘NAME tokens in’ next to the scores, or replies of judges in the cache "
            "(`nlgauge judge`)." + (f" {' '.join(lines)}" if lines else "")
        )
    shown = [c for c in COST if any(c in row for row in rows)]
    parts = [f"{c.replace('_', ' ')} {sum(row.get(c, 0.0) for row in rows):,.6g}" for c in shown]
    table = Table(
        Title(run.data.name, "what the scores cost"),
        rows,
        kind="costs",
        shown=["metric", *shown],
        method="Sums over all outputs; for judges over all replies that their scores rest on, also those of "
        "earlier runs.",
        decimals=4 if "cost" in shown else 1,
    )
    if not run.prices and any("replies" in row for row in rows):
        lines.append(f"Prices are unknown: {option('prices')} takes the prices of a million tokens.")
    return Findings([Finding("", f"Total: {', '.join(parts)}.", [table])], lines)
