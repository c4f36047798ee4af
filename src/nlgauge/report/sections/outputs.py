"""Report section that lists the outputs, sorted by the disagreement between the metric (or judge) and human ratings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from nlgauge.analyses.errors.disagreements import ranks
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.data.tables.vocabulary import REMARKS
from nlgauge.errors import NeedsMissing
from nlgauge.foreign_text import MAX_CHARACTERS, cut, visible
from nlgauge.options import call
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.report.sections.words import percent, two
from nlgauge.table import Row, Table
from nlgauge.text.output_kinds import KINDS, OriginTexts, OutputTexts, output_kinds, support

TOP = 5  # outputs of an aspect and a direction in results.json
MAX_OUTPUTS = 2000  # on the page
MAX_SIZE, MIN_SIZE = 1_100_000, 200_000  # characters of their texts and numbers on the page
PAGE, TABLES = 2_600_000, 5_200  # characters of a page, and of its tables and figures per metric and aspect
NUMBER = 8  # characters of a rating or a score
MAX_METRICS = 12  # metrics with scores on the page
FIRST = 30  # outputs that can be read without JavaScript
SOURCE, REFERENCES = 2 * MAX_CHARACTERS, 2  # characters of a source, and number of references, on the page
SHARED = 0.4  # words are marked only if at least this share of the content words occurs in the sources
Cell = tuple[str, str]  # system, input


@dataclass
class OutputTable:
    """Data on the outputs in the page: columns for JavaScript, and the first rows as text for readers without
    JavaScript.
    """

    data: dict[str, Any]
    first: list[Row] = field(default_factory=list)


@section(
    "disagree",
    order=110,
    order_for_judge=8,
    title="Outputs",
    question="On which outputs do the best metric and the human ratings disagree most?",
    cites=("novikova2017",),
    limitations="This does not show who is right: the metric, the annotators or the reference may be wrong. Outputs "
    "are categorized by lexical rules, which can be wrong: a name that is not in the source may be correct, and a "
    "paraphrase is marked as unsupported.",
)
def disagree(run: ReportContext) -> Findings:
    """List the outputs on which metric and human ratings disagree most, with their texts."""
    best = best_metrics(run)
    outputs, lines = outputs_of(run, best)
    if run.one_judge:
        words = "The table begins with the outputs on which judge and human labels disagree, missed failures first."
        return Findings([Finding("", words, [])], lines, outputs)
    parts = []
    behind: dict[int, Table] = {}
    for aspect in run.aspects:
        chosen = {} if best[aspect] is None else {"metric": best[aspect]}
        tables = run.each("disagreements", top=TOP, **chosen)
        behind |= {id(table): table for table in tables}
        rows = [row for table in tables for row in table if row["aspect"] == aspect]
        if rows:
            parts.append(Finding(aspect, _words(run, rows), []))
    for table in behind.values():  # the texts are in the table of outputs
        table.shown = [c for c in table.shown if c not in ("source", "output", "reference")]
        table.notes += [f"{kind}: {rule[0]}" for kind, rule in outputs.data["kinds"].items()]
    return Findings([*parts, Finding("", "", list(behind.values()), hidden=True)], lines, outputs)


def best_metrics(run: ReportContext) -> dict[str, str | None]:
    """Return the best metric of each aspect, as named in the summary at the top of the report."""
    answers = {} if run.answer is None else {a.about: a.best for a in run.answer.aspects}
    first = next(iter(run.source.metrics or run.data.metrics), None)
    return {a: m.metric if (m := answers.get(a)) is not None else first for a in run.aspects}


def _words(run: ReportContext, rows: Sequence[Row]) -> str:
    widest = max(rows, key=lambda r: abs(r["gap"]))
    several = f" of {widest['system']}" if len(run.data.systems) > 1 else ""
    above = [percent(widest[place]) for place in ("metric_place", "human_place")]
    return (
        f"The largest disagreement is on the output{several} for {widest['input']}: {widest['metric']} ranks it above "
        f"{above[0]} of all outputs, whereas the {run.ratings} rank it above {above[1]}."
    )


# --- data of the outputs in the page ---


def outputs_of(run: ReportContext, best: dict[str, str | None]) -> tuple[OutputTable, list[str]]:
    """Return the scores, ratings and texts of the outputs up to the size limit, and notes on the omitted ones."""
    panels = {a: run.source.panel(a) for a in run.aspects}
    panel = next(iter(panels.values()))
    if not panel.metrics:
        raise NeedsMissing("no metric scores.", data=panel.name, code="no_scores")
    lines: list[str] = []
    gaps = {a: _gaps(p, best[a], run.one_judge) for a, p in panels.items()}
    cells = _cells(run, panels, gaps, lines)
    places = {cell: k + 1 for k, cell in enumerate(run.data.samples.select(KEY).iter_rows())}
    leading = [m for m in best.values() if m is not None]
    ordered = [m.metric for a in (run.answer.aspects[:1] if run.answer else ()) for m in a.metrics]
    every = [m for m in dict.fromkeys([*leading, *ordered, *panel.metrics]) if m in panel.metrics]
    metrics = every[:MAX_METRICS]
    if len(every) > len(metrics):
        lines.append(f"The table has the scores of {len(metrics)} of the {len(every)} metrics, the best first.")
    texts = _texts(run.data, cells, lines)
    data: dict[str, Any] = {
        "row": [places[cell] for cell in cells],
        "system": _once([s for s, _ in cells]),
        "input": _once([i for _, i in cells]),
        "aspects": {a: _values(p, p.human, cells) for a, p in panels.items()},
        "metrics": {m: _values(panel, panel.metrics[m], cells) for m in metrics},
        "lower": sorted(panel.lower),
        "best": best,
        "judged": run.one_judge,
        "systems": len(run.data.systems),
        **texts,
    }
    aspect = run.aspects[0]
    return OutputTable(data, _first_rows(data, aspect, best[aspect])), lines


def _gaps(panel: Panel, metric: str | None, judged: bool) -> np.ndarray:
    """Return the difference between metric rank and human rank of each output, both scaled to [0, 1]; NaN if one is
    missing.
    """
    if metric is None or metric not in panel.names:
        return np.full(panel.human.shape, np.nan)
    if judged:
        verdicts = panel.metrics[metric] - panel.human
        return np.where(verdicts > 0, 1.1 * verdicts, verdicts)  # missed failures come before false alarms
    both = np.isfinite(panel.human) & np.isfinite(panel.metrics[metric])
    score = np.where(both, panel.oriented()[panel.names.index(metric)], np.nan)
    human = np.where(both, panel.human, np.nan)
    gap: np.ndarray = ranks(score) - ranks(human)
    return gap


def _cells(run: ReportContext, panels: dict[str, Panel], gaps: dict[str, np.ndarray], lines: list[str]) -> list[Cell]:
    """Return the outputs to show: rated outputs first, sorted by decreasing disagreement, up to the size limit."""
    size: dict[Cell, float] = {}
    for aspect, panel in panels.items():
        first = aspect == run.aspects[0]
        for i, j in np.argwhere(np.isfinite(panel.human)).tolist():
            gap = abs(gaps[aspect][i, j]) if np.isfinite(gaps[aspect][i, j]) else -0.5
            cell = (panel.systems[i], panel.inputs[j])
            size[cell] = gap if first else size.get(cell, -0.5)
    schema = run.data.samples.schema
    texts = [c for c in ("output", "source", "context") if schema.get(c) == pl.String]
    frame = run.data.samples.select(*KEY, *(pl.col(c).str.len_chars().fill_null(0) for c in texts))
    numbers = NUMBER * (len(panels) + min(MAX_METRICS, run.metrics))
    shared = max(1, len(run.data.systems))  # a source is on the page once
    length = {
        (r[0], r[1]): numbers + min(sum(r[2:3]), MAX_CHARACTERS) + min(sum(r[3:]), SOURCE) // shared
        for r in frame.iter_rows()
    }
    order = sorted(length, key=lambda cell: -size.get(cell, -1.0))
    room, chosen = max(MIN_SIZE, min(MAX_SIZE, PAGE - TABLES * run.metrics * len(panels))), []
    for cell in order[:MAX_OUTPUTS]:
        room -= length[cell] + 40
        if room < 0:
            break
        chosen.append(cell)
    if len(chosen) < len(order):
        lines.append(
            f"The page holds the {len(chosen):,} outputs with the largest disagreement of {len(order):,}; "
            f"{call('explore FILE')} shows all."
        )
    return chosen


def _values(panel: Panel, values: np.ndarray, cells: Sequence[Cell]) -> list[float | None]:
    s, i = ({n: k for k, n in enumerate(names)} for names in (panel.systems, panel.inputs))
    values_of_cells = (values[s[a], i[b]] if a in s and b in i else math.nan for a, b in cells)
    return [None if math.isnan(v) else float(f"{v:.4g}") for v in values_of_cells]


def reason_columns(data: Dataset) -> list[str]:
    """Return the text columns in which a judge gives its reasons, inferred from column names.

    >>> import nlgauge as ng
    >>> rows = [{"id": i, "label": i % 2, "judge": 1, "judge_reason": f"because {i}"} for i in range(4)]
    >>> reason_columns(ng.load(rows, human=["label"], metrics=["judge"]))
    ['judge_reason']
    """
    schema = data.samples.schema
    own = (*KEY, "output", "source", "context", "control", "references")
    words = {c: set(c.lower().replace("-", "_").replace(".", "_").replace(" ", "_").split("_")) for c in schema}
    return [c for c in schema if c not in own and schema[c] == pl.String and words[c] & REMARKS]


def _texts(data: Dataset, cells: Sequence[Cell], lines: list[str]) -> dict[str, Any]:
    """Return the distinct texts, the words of each output that its source supports, and the category of each output."""
    schema = data.samples.schema
    reasons = reason_columns(data)
    if schema.get("output") != pl.String:
        lines.append("The data contain no output texts.")
    plain = [c for c in ("source", "context") if schema.get(c) == pl.String]
    many = [c for c in ("references",) if isinstance(schema.get(c), pl.List)]
    output = ["output"] if schema.get("output") == pl.String else []
    rows = list(data.samples.select(*KEY, *output, *plain, *many, *reasons).iter_rows(named=True))
    by_key = {(r["system"], r["input"]): r for r in rows}
    shown_rows = [by_key[cell] for cell in cells]
    origins: dict[OriginTexts, OriginTexts] = {}  # one object for all outputs that came from the same
    every = []
    for r in rows:
        came = OriginTexts(tuple(r[c] for c in plain if r[c]), tuple(t for c in many for t in r[c] or () if t))
        every.append(OutputTexts(r["input"], r.get("output") or "", origins.setdefault(came, came)))
    kinds = dict(zip(by_key, zip(every, output_kinds(every), strict=True), strict=True))
    own = [kinds[cell] for cell in cells]
    shown = [visible(cut(text.output, MAX_CHARACTERS)) for text, _ in own]
    texts = {
        "output": shown,
        **{f"reason: {c}" if len(reasons) > 1 else "reason": [_short(r[c]) for r in shown_rows] for c in reasons},
        "source": [visible(cut("\n".join(t.origin.sources), SOURCE)) for t, _ in own],
        **{
            f"reference {k + 1}": [
                visible(cut(t.origin.references[k], MAX_CHARACTERS)) if k < len(t.origin.references) else ""
                for t, _ in own
            ]
            for k in range(REFERENCES)
        },
    }
    most = max((len(t.origin.references) for t, _ in own), default=0)
    if most > REFERENCES:
        lines.append(f"Of up to {most} references per output the page shows {REFERENCES}; all count for the words.")
    names = [kind for kind in KINDS if output and any(kind in each for _, each in own)]
    return {
        "texts": {name: _once(each) for name, each in texts.items() if any(each)},
        "kinds": {kind: [KINDS[kind], [k for k, (_, each) in enumerate(own) if kind in each]] for kind in names},
        "words": _support(shown, [t for t, _ in own], lines) if output else [],
    }


def _short(text: str | None) -> str:
    return str(visible(cut(text or "", MAX_CHARACTERS)))


def _once(texts: Sequence[str]) -> dict[str, Any]:
    """Return the distinct texts and the index of each output's text: sources repeat for every system and are stored
    once.
    """
    at = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return {"texts": list(at), "at": [at[text] for text in texts]}


def _support(shown: Sequence[str], texts: Sequence[OutputTexts], lines: list[str]) -> list[str]:
    """Return whether each word of each output occurs in its source; empty if the outputs do not reuse the source's
    words.
    """
    if not any(t.origin.known for t in texts):
        return []
    codes = [support(own, t.origin) for own, t in zip(shown, texts, strict=True)]
    content = "".join(codes).replace(".", "")
    share = 1 - content.count("n") / max(len(content), 1)
    if share < SHARED:
        lines.append(
            f"Words are not marked as supported: only {percent(share)} of the outputs' content words occur in the "
            f"source or a reference, as in translation and dialogue. {call('score FILE', explain=True)} aligns words "
            "by meaning."
        )
        return []
    lines.append(
        f"{percent(share)} of the outputs' content words occur in source, context or references; the others are "
        f"marked as unsupported. Only identical words count: {call('score FILE', explain=True)} aligns words by "
        "meaning."
    )
    return codes


def _first_rows(data: dict[str, Any], aspect: str, metric: str | None) -> list[Row]:
    """Return the first rows as plain text, for printing and for browsers without JavaScript."""

    def text(name: str, k: int) -> str:
        column = data["texts"].get(name)
        return cut(column["texts"][column["at"][k]], 300) if column else ""

    def shown(values: list[float | None] | None, k: int) -> str:
        value = None if values is None else values[k]
        if value is None:
            return "–"
        return verdict(value) if data["judged"] else f"{value:g}"

    reason = next((name for name in data["texts"] if name.startswith("reason")), "reason")
    return [
        {
            "row": data["row"][k],
            "system": data["system"]["texts"][data["system"]["at"][k]],
            "input": data["input"]["texts"][data["input"]["at"][k]],
            "human": shown(data["aspects"][aspect], k),
            "metric": shown(data["metrics"].get(metric), k),
            "reason": text(reason, k),
            "output": text("output", k),
            "source": text("source", k),
        }
        for k in range(min(FIRST, len(data["row"])))
    ]


def verdict(value: float) -> str:
    """
    >>> verdict(1.0), verdict(0.0), verdict(0.5)
    ('pass', 'fail', '0.50')
    """
    return {1.0: "pass", 0.0: "fail"}.get(value, two(value))
