"""Where metric and people disagree most: the outputs themselves, and all outputs as points to choose from."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.panel import Panel
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.report.foreign_text import CUT, cut
from nlgauge.report.sections import Card, Finding, Findings, Run, section
from nlgauge.report.sections.evaluated import known_metric
from nlgauge.report.sections.words import some, two
from nlgauge.table import Row

MOST_POINTS = 2000
ALIGNED = "ctc"  # the colours of outputs when no metric of the data is an alignment
SHARED = 0.2  # words of an output that stand in its source; summaries and answers have far more
LONG = 6000  # signs of an output that is still coloured


@section(
    "disagree", order=110, question="Where do metric and people disagree most?",
    not_said="Who is right. Read the texts: the metric may be fooled, the raters may have slipped, or the "
             "reference may be bad.",
)  # fmt: skip
def disagree(run: Run) -> Findings:
    tables = run.each("disagreements", top=3)
    rows = [row for table in tables for row in table]
    cards = [_card(row, run.data) for row in rows]
    lines = colour(cards, rows, run)
    points, left = points_of(run)
    if left:
        lines.append(f"The picture shows {MOST_POINTS:,} outputs drawn at random; {left:,} more are left out.")
    if not any(row["output"] for row in rows):
        lines.append("The data hold no texts: only systems and inputs can be named.")
    return Findings([Finding("", _words(rows), tables)], lines, cards, points)


def _words(rows: Sequence[Row]) -> str:
    name = rows[0]["metric"]
    often = [s for s in dict.fromkeys(r["system"] for r in rows) if sum(r["system"] == s for r in rows) > 1]
    widest = max(rows, key=lambda r: abs(r["gap"]))
    who = "above" if widest["gap"] > 0 else "below"
    more = f" {some(often)} {'is' if len(often) == 1 else 'are'} among them more than once." if often else ""
    return (
        f"Furthest apart: {widest['system']} on {widest['input']} ({widest['aspect']}), which {name} puts "
        f"{two(abs(widest['gap']))} {who} people's place (places run from 0, worst, to 1, best).{more}"
    )


def _card(row: Row, data: Dataset) -> Card:
    facts = (
        f"{row['who']}: people {two(row['people'])} (place {two(row['people_place'])}), {row['metric']} at "
        f"place {two(row['metric_place'])}"
    )
    names = {"output": "Output", "source": "Source", "reference": "Reference"}
    texts = [(names[c], row[c]) for c in names if row[c]]
    return Card(f"{row['system']}, {row['input']}", facts, texts, row["aspect"])


# --- words coloured by how far they are grounded (deng2021, Table C.1) ---


def colour(cards: list[Card], rows: Sequence[Row], run: Run) -> list[str]:
    """Colours the words of the cards' outputs; says which metric did, or why none did."""
    if run.quick:
        return ["With --quick the words of the outputs are not coloured by alignment."]
    if not any(row["output"] for row in rows):
        return []
    if importlib.util.find_spec("torch") is None:
        return ['Words are not coloured by alignment: that needs the extra ‘neural’ (pip install "nlgauge[neural]").']
    own = [m for m in run.data.metrics if _ours(known_metric(m))]
    if not own and foreign([(row["output"], row["source"]) for row in rows if row["output"] and row["source"]]):
        return [
            "Words are not coloured by alignment: the outputs hardly share words with their sources, as in translation."
        ]
    name = own[0] if own else ALIGNED
    metric: Any = known_metric(name)
    try:
        metric.ready()
        _colour(cards, rows, run.data, metric)
    except NlgaugeError as error:
        return [f"Words are not coloured by alignment: {error}"]
    if not any(card.words for card in cards):
        return [
            f"Words are not coloured by alignment: {name} has no token scores for these outputs (it needs "
            f"{some(sorted(metric.facts.needs))})."
        ]
    return [
        f"Words of the outputs are coloured by {name}: the redder and more underlined, the less they are "
        "grounded in what they came from."
    ]


def _ours(metric: Any) -> bool:
    """Whether a column's metric can colour words with weights that we ship. A heading is data: no model that it names
    is loaded.
    """
    from nlgauge.metrics.alignment.ctc import Aligned

    if not isinstance(metric, Aligned) or not is_dataclass(metric):
        return False
    named = [f for f in fields(metric) if f.name in ("encoder", "weights", "model")]
    return all(getattr(metric, f.name) == f.default for f in named)


def foreign(pairs: Sequence[tuple[str, str]]) -> bool:
    """Whether outputs seem to be in another language than their sources: one encoder of English says nothing then.

    >>> foreign([("the cat sat", "a cat sat on the mat")]), foreign([("die Katze saß", "the cat sat")]), foreign([])
    (False, True, False)
    """
    shares = []
    for output, source in pairs:
        mine, theirs = (set(re.findall(r"\w+", text.lower())) for text in (output, source))
        if mine:
            shares.append(len(mine & theirs) / len(mine))
    return bool(shares) and sum(shares) / len(shares) < SHARED


def _colour(cards: list[Card], rows: Sequence[Row], data: Dataset, metric: Any) -> None:
    from nlgauge.metrics import Batch

    at = {
        (row["system"], row["input"]): k for k, row in enumerate(rows) if row["output"] and len(row["output"]) <= LONG
    }
    if not at:
        return
    wanted = pl.DataFrame(list(at), schema=KEY, orient="row")
    samples = data.samples.join(wanted, on=KEY, how="semi")
    _, aligned = metric.explain(Batch.of(data.where(samples)))
    by_key = {}
    for key, terms in zip(samples.select(KEY).iter_rows(), aligned, strict=True):
        found = next((a for t in terms for (of, _), a in t.items() if of == "y"), None)
        if found is not None:
            by_key[key] = found.words()
    for card, row in zip(cards, rows, strict=True):
        words = by_key.get((row["system"], row["input"]))
        if words is not None:
            card.words = _pieces(words.text, words.spans.tolist(), words.scores.tolist())


def _pieces(text: str, spans: list[list[int]], scores: list[float]) -> list[tuple[str, float | None]]:
    """The text in pieces: words with their scores, and what stands between them.

    >>> _pieces("a, b", [[0, 1], [3, 4]], [0.5, 0.9])
    [('a', 0.5), (', ', None), ('b', 0.9)]
    """
    pieces: list[tuple[str, float | None]] = []
    end = 0
    for (first, last), score in zip(spans, scores, strict=True):
        if first > end:
            pieces.append((text[end:first], None))
        pieces.append((text[first:last], score))
        end = last
    return [*pieces, (text[end:], None)] if end < len(text) else pieces


# --- all outputs as points ---


def points_of(run: Run) -> tuple[dict[str, Any], int]:
    """Scores and ratings of all outputs (or of many drawn at random), and their texts, cut; how many were left out."""
    panel = run.source.panel(run.aspects[0])
    if not panel.metrics:
        raise NeedsMissing(f"{panel.name}: no metric scores.")
    aspects = [a for a in run.aspects if a in panel.humans]
    rated = np.isfinite(np.stack([panel.humans[a] for a in aspects])).any(axis=0)
    cells = np.argwhere(rated)
    left = max(0, len(cells) - MOST_POINTS)
    if left:
        cells = _drawn(panel, np.asarray(rated), run.source.seed)
    s, i = cells[:, 0], cells[:, 1]
    texts = _texts(run.data, panel, cells)
    return {
        "systems": list(panel.systems), "inputs": list(panel.inputs), "s": s.tolist(), "i": i.tolist(),
        "aspects": {a: _rounded(panel.humans[a][s, i]) for a in aspects},
        "metrics": {m: _rounded(v[s, i]) for m, v in panel.metrics.items()},
        "lower": sorted(panel.lower), **texts,
    }, left  # fmt: skip


def _drawn(panel: Panel, rated: np.ndarray, seed: int) -> np.ndarray:
    """As many outputs as are shown, the same ones whatever the order of the file."""
    placed = panel.canonical()
    at = np.ix_(_places(panel.systems, placed.systems), _places(panel.inputs, placed.inputs))
    cells = np.argwhere(rated[at])
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    cells = cells[rng.choice(len(cells), MOST_POINTS, replace=False)]
    chosen = np.zeros(rated.shape, bool)
    chosen[at[0][cells[:, 0], 0], at[1][0, cells[:, 1]]] = True
    return np.argwhere(chosen)


def _places(names: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    place = {name: k for k, name in enumerate(names)}
    return [place[name] for name in wanted]


def _texts(data: Dataset, panel: Panel, cells: np.ndarray) -> dict[str, Any]:
    schema = data.samples.schema
    columns = [pl.col(c) for c in ("output", "source") if schema.get(c) == pl.String]
    if isinstance(schema.get("references"), pl.List):
        columns.append(pl.col("references").list.first().alias("reference"))
    found = {(r[0], r[1]): r[2:] for r in data.samples.select(*KEY, *columns).iter_rows()}
    names = [c.meta.output_name() for c in columns]
    rows = [found[panel.systems[s], panel.inputs[i]] for s, i in cells]
    kept: dict[str, Any] = {}
    for place, name in enumerate(names):
        each = [cut(str(row[place] or ""), CUT if name == "output" else CUT // 2) for row in rows]
        distinct = list(dict.fromkeys(each))  # sources and references repeat for every system
        at = {text: k for k, text in enumerate(distinct)}
        kept[name] = {"texts": distinct, "at": [at[text] for text in each]}
    return {"texts": kept}


def _rounded(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(v) else float(f"{v:.5g}") for v in values.tolist()]
