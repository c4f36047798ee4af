"""ROC areas of a metric's word scores for words in human error spans, compared with a word-overlap baseline."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.units import unit_by_input, units_of
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.metrics import Batch, Metric
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.metrics.alignment.ctc import Aligned
from nlgauge.number import row_interval
from nlgauge.scoring.plan import parse
from nlgauge.stats.agreement.curves import area_figures, cluster_codes, roc_area
from nlgauge.stats.agreement.two_by_two import CLUSTERS, Figure
from nlgauge.stats.resampling.cluster_jackknife import jackknifed
from nlgauge.table import Cell, Layout, Row, Table, Title

DEFAULT = ("ctc",)
COPIED = "copied"  # baseline: 1 for a word that occurs in the source or context, else 0
MEASURES = {
    "all_words": "share of pairs in which an unmarked word has a higher score than a marked one, over all "
    "pairs of words (ROC area; chance 0.5)",
    "within_outputs": "the same within each output that has both kinds of words, averaged over these outputs",
}
Output = tuple[str, str]  # system and input
Spans = list[tuple[int, int]]


class _Scored(NamedTuple):
    """Content words of an output with their scores, and whether annotators left each unmarked."""

    scores: np.ndarray
    right: np.ndarray
    cluster: str


@analysis("word-scores", takes="dataset", question="Do a metric's word scores detect the words in human error spans?")
def word_scores(choice: Choice, *, level: float = 0.95) -> Table:
    """Compute how well a metric's word scores detect the words in human error spans (area under the ROC curve).

    `metrics` names metrics with word-level scores (ctc, align-expr). The baseline `copied` gives a word the score 1 if
    it occurs in the source, and 0 otherwise.

    Returns
    -------
    Table
        One row per metric and measure (over all words, and within outputs): ROC area with its interval, number
        of words and of marked words.

    Notes
    -----
    A word is labeled as wrong if more than half of the annotators of the output marked one of its characters.
    Stop words and punctuation are left out.
    """
    data = choice.data
    marks = data.spans.filter(~pl.col("rater").is_in(sorted(data.models)))
    if marks.is_empty():
        raise NeedsMissing(
            "there are no human error spans; they can be read from MQM and QAGS files and .jsonl files.",
            code="no_spans",
        )
    if "output" not in data.samples.columns or not {"source", "context"} & set(data.samples.columns):
        raise NeedsMissing("word scores require outputs and sources.", code="no_texts")
    looked = data.where(marks.select(KEY).unique())
    people = _people(marks)
    rows: list[Row] = []
    notes: list[str] = []
    for k, metric in enumerate(parse(list(choice.metrics or DEFAULT), allow_code=True)):
        words = _words(metric, Batch.of(looked))
        places = [(row, found) for row, found in zip(_samples(looked), words, strict=True) if found is not None]
        if lost := len(words) - len(places):
            notes.append(f"{metric}: {lost:,} of {len(words):,} outputs without word scores are excluded.")
        if k == 0:
            rows += _rows(COPIED, [_scored(row, found, people, _copied(row, found)) for row, found in places], level)
        rows += _rows(str(metric), [_scored(row, found, people, found.scores) for row, found in places], level)
    column = units_of(data, data.inputs).column
    units = "inputs" if column in ("", "input") else f"values of {column}"
    return Table(
        title=Title(data.name, "detection of marked words by word scores"),
        rows=rows,
        layout=Layout(
            "metric",
            "measure",
            "value",
            heads={m: m.replace("_", " ") for m in MEASURES},
            extra={
                "words": lambda r: Cell(f"{r[0]['n']:,}", r[0]["n"]),
                "marked": lambda r: Cell(f"{r[0]['marked']:,}", r[0]["marked"]),
            },
        ),
        cells={"value": row_interval},
        definitions={**MEASURES, COPIED: "baseline: 1 for a word that occurs in the source or context, else 0"},
        method=f"Content words of {len(looked):,} outputs; wrong: marked by more than half of the annotators. "
        f"{level:.0%} confidence intervals, clustered by {units} (all words: Obuchowski's variance; within outputs: "
        "jackknife, Student's t).",
        notes=notes,
        signature=f"words:{rows[0]['n'] if rows else 0}|spans:{marks.height}|level:{level:g}",
    )


def _people(marks: pl.DataFrame) -> dict[Output, dict[str, Spans]]:
    """Return the marks of each annotator of an output."""
    found: dict[Output, dict[str, Spans]] = {}
    for system, given, rater, side, start, end in marks.select(*KEY, "rater", "side", "start", "end").iter_rows():
        mine = found.setdefault((system, given), {}).setdefault(rater, [])
        if start is not None and side == "output":
            mine.append((start, end))
    return found


def _samples(data: Dataset) -> Iterator[Row]:
    unit = unit_by_input(data)
    for row in data.samples.iter_rows(named=True):
        yield {**row, "cluster": unit[row["input"]]}


def _words(metric: Metric, batch: Batch) -> list[Alignment | None]:
    """Return the content words of each output with their grounding scores."""
    if not isinstance(metric, Aligned):
        raise NlgaugeError(f"{metric} has no word scores; use ctc or align-expr.")
    metric.ready()
    found: list[Alignment | None] = []
    for parts in metric.explain(batch)[1]:
        grounded = (a for terms in parts for (of, by), a in terms.items() if of == "y" and set(by) <= {"x", "c"})
        alignment = next(grounded, None)
        found.append(None if alignment is None else alignment.words().content())
    return found


def _copied(row: Row, words: Alignment) -> np.ndarray:
    known = set(re.findall(r"\w+", f"{row.get('source') or ''} {row.get('context') or ''}".casefold()))
    return np.array([float(token.casefold() in known) for token in words.tokens])


def _scored(row: Row, words: Alignment, people: dict[Output, dict[str, Spans]], scores: np.ndarray) -> _Scored:
    raters = people[row["system"], row["input"]].values()
    first, last = words.spans[:, 0], words.spans[:, 1]
    marked = np.zeros(len(scores))
    for spans in raters:
        marked += np.any([(first < end) & (last > start) for start, end in spans] or [np.zeros(len(scores), bool)], 0)
    return _Scored(scores, 2 * marked <= len(raters), row["cluster"])


def _rows(name: str, outputs: Sequence[_Scored], level: float) -> list[Row]:
    both = [o for o in outputs if o.right.any() and not o.right.all()]
    score = np.concatenate([o.scores for o in outputs]) if outputs else np.zeros(0)
    right = np.concatenate([o.right for o in outputs]) if outputs else np.zeros(0, bool)
    clusters = [o.cluster for o in outputs for _ in range(len(o.scores))]
    marked = len({o.cluster for o in outputs if not o.right.all()})
    lack = f"a confidence interval requires marked words in at least {CLUSTERS} inputs; found {marked}"
    if marked < CLUSTERS:
        areas = Figure(roc_area(score, right), n=len(score), reason=lack)
    else:
        areas = area_figures(score, right, clusters, level=level)["roc_area"]
    within = Figure(float("nan"), n=0, reason="no output has both marked and unmarked words")
    if both:
        mine = np.array([[1.0, roc_area(o.scores, o.right)] for o in both])
        found = jackknifed(mine, cluster_codes([o.cluster for o in both]), lambda s: s[..., 1:] / s[..., :1])
        few = found.freedom + 1 < CLUSTERS
        half = float("nan") if few else float(found.half(level)[0])
        value = float(found.value[0])
        why = f"a confidence interval requires such outputs of at least {CLUSTERS} inputs; found {found.freedom + 1}"
        within = Figure(value, max(0.0, value - half), min(1.0, value + half), int(mine[:, 0].sum()), reason=why * few)
    return [
        {"metric": name, "measure": measure, "marked": int((~right).sum()), "outputs": len(outputs), **figure.columns}
        for measure, figure in zip(MEASURES, (areas, within), strict=True)
    ]
