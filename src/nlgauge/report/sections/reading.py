"""Where metric and people disagree most: the outputs themselves, what kind they are, and all outputs as points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from nlgauge.analyses.errors.disagreements import ALL, furthest, metric_place, ranks
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing
from nlgauge.foreign_text import MAX_CHARACTERS, cut, visible
from nlgauge.options import call, option
from nlgauge.report.sections import Finding, Findings, ReportContext, section
from nlgauge.report.sections.words import percent, two
from nlgauge.table import Row, Table
from nlgauge.text.output_kinds import KINDS, OriginTexts, OutputTexts, output_kinds, support

TOP = 5  # outputs a metric, an aspect and a direction
MOST_METRICS = 40  # whose outputs are chosen
MOST_POINTS = 2000
SOURCE, REFERENCES = 2 * MAX_CHARACTERS, 2  # characters of a source, and number of references, on the page
SHARED = 0.4  # of the content words of all outputs stand in what they came from: else marks would be everywhere


@section(
    "disagree",
    order=110,
    question="Where do metric and people disagree most?",
    limitations="Who is right: the metric may be fooled, the raters may have slipped, or the reference may be bad. "
    "The kinds are rules on words: a name from nowhere may be true, and a paraphrase counts as not supported.",
)
def disagree(run: ReportContext) -> Findings:
    """List the outputs on which metric and human ratings disagree most, with their texts."""
    tables = run.each("disagreements", top=TOP)
    rows = [row for table in tables for row in table]
    outputs, lines = outputs_of(run)
    about = list(dict.fromkeys(r["aspect"] for r in rows))
    for table in tables:
        table.notes += [f"{kind}: {rule[0]}" for kind, rule in outputs["kinds"].items()]
    parts = [Finding(a, _words([r for r in rows if r["aspect"] == a], len(run.data.systems) > 1), []) for a in about]
    return Findings([*parts, Finding("", "", [_kept(t) for t in tables])], lines, outputs)


def _kept(table: Table) -> Table:
    """The page shows the texts below the picture; the table names them."""
    table.shown = [c for c in table.shown or [] if c not in ("source", "output", "reference")]
    return table


def _words(rows: Sequence[Row], several: bool) -> str:
    widest = max(rows, key=lambda r: abs(r["gap"]))
    who = "better" if widest["gap"] > 0 else "worse"
    than = [percent(widest[place]) for place in ("metric_place", "people_place")]
    of = f" of {widest['system']}" if several else ""
    name = "the mean of all metrics" if widest["metric"] == ALL else widest["metric"]
    return (
        f"Furthest apart on the output{of} for {widest['input']}: {name} puts it above "
        f"{than[0]} of all outputs, people above {than[1]} ({who} by {two(abs(widest['gap']))} of the range)."
    )


# --- what the page needs to show outputs ---


def outputs_of(run: ReportContext) -> tuple[dict[str, Any], list[str]]:
    """Scores, ratings and texts of all outputs (or of many), those to read first, and what was left out."""
    panels = {a: run.source.panel(a) for a in run.aspects}
    panel = next(iter(panels.values()))
    if not panel.metrics:
        raise NeedsMissing("no metric scores.", data=panel.name, code="no_scores")
    chosen = {a: _chosen(p) for a, p in panels.items()}
    cells, left = _cells(run, panels, chosen)
    at = {cell: k for k, cell in enumerate(cells)}
    systems, inputs = (list(dict.fromkeys(c[k] for c in cells)) for k in (0, 1))
    found: dict[str, Any] = {
        "systems": systems,
        "inputs": inputs,
        "s": _places(systems, [s for s, _ in cells]),
        "i": _places(inputs, [i for _, i in cells]),
        "aspects": {a: _values(p, p.human, cells) for a, p in panels.items()},
        "metrics": {m: _values(p, v, cells) for p in panels.values() for m, v in p.metrics.items()}
        | {m: _values(panel, v, cells) for m, v in _mean(panel).items()},
        "lower": sorted(panel.lower),
        "chosen": {
            m: {a: [[at[c] for c in each] for each in chosen[a][m]] for a in panels if m in chosen[a]}
            for m in dict.fromkeys(m for c in chosen.values() for m in c)
        },
    }
    lines = []
    if left:
        lines.append(
            f"The picture shows {len(cells):,} outputs: those to read and others drawn at random; {left:,} more "
            f"are left out. {call('explore FILE')} shows all."
        )
    if len(panel.metrics) > MOST_METRICS:
        lines.append(
            f"Outputs to read are chosen for the first {MOST_METRICS} of {len(panel.metrics)} metrics; "
            f"{option('metrics')} names others."
        )
    return found | _texts(run.data, cells, lines), lines


Cell = tuple[str, str]  # system, input


def _mean(panel: Panel) -> dict[str, np.ndarray]:
    """Mean place by all metrics, 0 worst to 1 best."""
    return {ALL: metric_place(panel)} if len(panel.metrics) > 1 else {}


def _chosen(panel: Panel) -> dict[str, list[list[Cell]]]:
    """For each metric and for all of them: outputs that it puts furthest above people's place, and furthest below."""
    people = ranks(panel.human)
    places = dict(zip(panel.metrics, panel.oriented(), strict=True))
    named = {m: ranks(v) for m, v in list(places.items())[:MOST_METRICS] if np.unique(v[np.isfinite(v)]).size > 1}
    return {
        m: [[(panel.systems[i], panel.inputs[j]) for i, j in each] for each in furthest(v - people, TOP).values()]
        for m, v in (_mean(panel) | named).items()
    }


def _cells(
    run: ReportContext, panels: dict[str, Panel], chosen: dict[str, dict[str, list[list[Cell]]]]
) -> tuple[list[Cell], int]:
    """The outputs on the page, the same whatever the order of the file, and how many rated ones are not on it."""
    rated = {
        (p.systems[i], p.inputs[j]) for p in panels.values() for i, j in np.argwhere(np.isfinite(p.human)).tolist()
    }
    first = {c for by in chosen.values() for two_ways in by.values() for each in two_ways for c in each}
    rest = sorted(rated - first)
    rng = np.random.default_rng(np.random.SeedSequence(run.source.seed))
    room = max(0, MOST_POINTS - len(first))
    kept = first | ({rest[k] for k in rng.choice(len(rest), room, replace=False)} if len(rest) > room else set(rest))
    order = [cell for cell in run.data.samples.select(KEY).iter_rows() if cell in kept]
    return order, len(rated | first) - len(order)


def _places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    place = {name: k for k, name in enumerate(names)}
    return [place[name] for name in wanted]


def _values(panel: Panel, values: np.ndarray, cells: Sequence[Cell]) -> list[float | None]:
    s, i = ({n: k for k, n in enumerate(names)} for names in (panel.systems, panel.inputs))
    known = (values[s[a], i[b]] if a in s and b in i else math.nan for a, b in cells)
    return [None if math.isnan(v) else float(f"{v:.4g}") for v in known]


def _texts(data: Dataset, cells: Sequence[Cell], lines: list[str]) -> dict[str, Any]:
    """Texts, each once, the words of the outputs that what they came from supports, and the kinds of output."""
    schema = data.samples.schema
    if schema.get("output") != pl.String:
        lines.append("The data hold no texts: only systems and inputs can be named.")
        return {"texts": {}, "kinds": {}}
    plain = [c for c in ("source", "context") if schema.get(c) == pl.String]
    many = [c for c in ("references",) if isinstance(schema.get(c), pl.List)]
    rows = list(data.samples.select(*KEY, "output", *plain, *many).iter_rows(named=True))
    origins: dict[OriginTexts, OriginTexts] = {}  # one object for all outputs that came from the same
    every = []
    for r in rows:
        came = OriginTexts(tuple(r[c] for c in plain if r[c]), tuple(t for c in many for t in r[c] or () if t))
        every.append(OutputTexts(r["input"], r["output"] or "", origins.setdefault(came, came)))
    keys = [(r["system"], r["input"]) for r in rows]
    kinds = dict(zip(keys, zip(every, output_kinds(every), strict=True), strict=True))
    mine = [kinds[cell] for cell in cells]
    shown = [visible(cut(text.output, MAX_CHARACTERS)) for text, _ in mine]
    texts = {
        "output": shown,
        "source": [visible(cut("\n".join(t.origin.sources), SOURCE)) for t, _ in mine],
        **{
            f"reference {k + 1}": [
                visible(cut(t.origin.references[k], MAX_CHARACTERS)) if k < len(t.origin.references) else ""
                for t, _ in mine
            ]
            for k in range(REFERENCES)
        },
    }
    most = max(len(t.origin.references) for t, _ in mine)
    if most > REFERENCES:
        lines.append(f"Of up to {most} references of an output the page shows {REFERENCES}; all count for the words.")
    names = [kind for kind in KINDS if any(kind in each for _, each in mine)]
    return {
        "texts": {name: _once(each) for name, each in texts.items() if any(each)},
        "kinds": {
            kind: [
                KINDS[kind],
                sum(kind in each for _, each in kinds.values()),
                [k for k, (_, each) in enumerate(mine) if kind in each],
            ]
            for kind in names
        },
        "of": len(rows),
        "words": _support(shown, [t for t, _ in mine], lines),
    }


def _once(texts: Sequence[str]) -> dict[str, Any]:
    """Sources and references repeat for every system: each distinct text, and which one an output has."""
    at = {text: k for k, text in enumerate(dict.fromkeys(texts))}
    return {"texts": list(at), "at": [at[text] for text in texts]}


def _support(shown: Sequence[str], texts: Sequence[OutputTexts], lines: list[str]) -> list[str]:
    """Whether each word of each output is supported; none where outputs are in other words than what they came from."""
    if not any(t.origin.known for t in texts):
        return []
    found = [support(own, t.origin) for own, t in zip(shown, texts, strict=True)]
    told = "".join(found).replace(".", "")
    share = 1 - told.count("n") / max(len(told), 1)
    if share < SHARED:
        lines.append(
            f"Words are not marked as supported: only {percent(share)} of the outputs' content words stand in what "
            "they came from, as in translation and dialogue. "
            f"{call('score FILE', explain=True)} compares by meaning."
        )
        return []
    lines.append(
        f"{percent(share)} of the outputs' content words stand in source, context or references; the others are "
        f"marked. Only the same word counts: {call('score FILE', explain=True)} compares by meaning."
    )
    return found
