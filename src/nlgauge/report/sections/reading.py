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
ALIGNED = "ctc"  # an alignment metric, to be named where the data have none
WORD = re.compile(r"\w+")
SHARED = 0.2  # words of an output that stand in its source; summaries and answers have far more
LONG = 6000  # signs of an output that is still coloured
Pieces = dict[tuple[Any, ...], list[tuple[str, float | None]]]  # by system and input


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
    """Colours the words of the cards' outputs; says by what, or why not.

    An alignment metric among the scores colours them, as its model was asked for; otherwise words are looked up in the
    texts that the output came from, which needs no model.
    """
    shown = [row for row in rows if row["output"] and len(row["output"]) <= LONG]
    if not shown:
        return []
    keys = pl.DataFrame([(row["system"], row["input"]) for row in shown], schema=KEY, orient="row").unique()
    some_data = run.data.where(run.data.samples.join(keys, on=KEY, how="semi"))
    own = [] if run.quick else [m for m in run.data.metrics if _ours(known_metric(m))]
    said = ""
    if own and importlib.util.find_spec("torch") is None:
        said = f' Not by {own[0]}: that needs the extra ‘neural’ (pip install "nlgauge[neural]").'
    elif own:
        metric: Any = known_metric(own[0])
        try:
            metric.ready()
            if _place(cards, rows, aligned_words(some_data, metric)):
                return [
                    f"Words of the outputs are coloured by {own[0]}: the redder and more underlined, the less they are "
                    "grounded in what they came from."
                ]
            said = f" {own[0]} has no token scores for these outputs (it needs {some(sorted(metric.facts.needs))})."
        except NlgaugeError as error:
            said = f" Not by {own[0]}: {error}"
    where, words = spelled_words(some_data)
    if not _place(cards, rows, words):
        return [f"Words of the outputs are not coloured: there is no text beside them to look words up in.{said}"]
    return [
        f"Words of the outputs that do not stand in their {where} are red and underlined: compared by spelling alone, "
        f"so a word of the same meaning is red too. Scores of {ALIGNED} in the data (`nlgauge score FILE -m "
        f"{ALIGNED}`) colour by meaning.{said}"
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
        mine, theirs = (set(WORD.findall(text.lower())) for text in (output, source))
        if mine:
            shares.append(len(mine & theirs) / len(mine))
    return bool(shares) and sum(shares) / len(shares) < SHARED


def aligned_words(data: Dataset, metric: Any) -> Pieces:
    """The words of every output with the scores of an alignment metric."""
    from nlgauge.metrics import Batch

    _, aligned = metric.explain(Batch.of(data))
    found: Pieces = {}
    for key, terms in zip(data.samples.select(KEY).iter_rows(), aligned, strict=True):
        if (of := next((a for t in terms for (of, _), a in t.items() if of == "y"), None)) is not None:
            words = of.words()
            found[key] = _pieces(words.text, words.spans.tolist(), words.scores.tolist())
    return found


def spelled_words(data: Dataset) -> tuple[str, Pieces]:
    """The words of every output with 1 where they stand in the texts beside it, else 0; and what these texts are:
    source and context, or the references where outputs share hardly a word with their sources, as in translation.
    """
    names: list[str] = [c for c in ("output", "source", "context", "references") if c in data.samples.columns]
    texts = {
        name: [" ".join(v) if isinstance(v, list) else str(v or "") for v in data.samples[name].to_list()]
        for name in names
    }
    beside = [c for c in names if c in ("source", "context") and any(text.strip() for text in texts[c])]
    given = [" ".join(texts[c][at] for c in beside) for at in range(len(data))]
    if foreign(list(zip(texts["output"], given, strict=True))):
        beside = [c for c in names if c == "references"]
    found: Pieces = {}
    for at, key in enumerate(data.samples.select(KEY).iter_rows()):
        if known := {*WORD.findall(" ".join(texts[c][at] for c in beside).lower())}:
            words = list(WORD.finditer(output := texts["output"][at]))
            scores = [float(word[0].lower() in known) for word in words]
            found[key] = _pieces(output, [[*word.span()] for word in words], scores)
    return " and ".join(beside), found


def _place(cards: list[Card], rows: Sequence[Row], words: Pieces) -> bool:
    """Gives each card its words; whether any card has some."""
    for card, row in zip(cards, rows, strict=True):
        card.words = words.get((row["system"], row["input"]), card.words)
    return any(card.words for card in cards)


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
