"""Agreement on error spans between annotators, or between a model and annotators: character F1, severity, gamma."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from nlgauge.analyses import analysis
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.data.units import unit_by_input, units_of
from nlgauge.errors import DataError, NeedsMissing
from nlgauge.number import number, row_interval
from nlgauge.options import option
from nlgauge.stats.agreement.gamma import MAX_UNITS, gamma
from nlgauge.stats.agreement.span_overlap import Overlap, SpanMark, credited, letter_counts, overlap, overlap_of
from nlgauge.table import Cell, Layout, Row, Table, Title
from nlgauge.types import Array, Ints

ANY, CREDIT, GAMMA, PEOPLE = "any", "severity", "gamma", "human"
NO_ERRORS = ("neutral", "no-error")  # remarks with weight 0
AS_MAJOR = {"critical": "major"}  # for partial credit, as in the WMT25 task
HEADS = {ANY: "any error", CREDIT: "with severity"}
DEFINITIONS = {
    "any error": "F1 of the marked characters, whatever the severity: 2 · shared / (first + second)",
    "with severity": "F1 in which a shared character counts 1 if both severities are equal and 0.5 if not; critical "
    "counts as major (the score of the WMT25 error-span task)",
    "gamma": "1 − disorder of the best alignment / disorder expected by chance (Mathet et al. 2015); position and "
    "severity have equal weights (α = β = Δ∅ = 1)",
}


@dataclass(frozen=True)
class _Text:
    """A text and the marks of every annotator who annotated it."""

    output: str
    length: int
    cluster: str
    marks: dict[str, list[SpanMark]]


@dataclass(frozen=True)
class _Shared:
    """Sums of marked characters in the texts that two annotators both annotated, by measure."""

    sums: dict[str, Array]  # texts × (shared, first, second)
    clusters: list[str]
    clean: int  # texts in which neither marked anything


@analysis("spans", takes="dataset", question="Do annotators, or a model and annotators, mark the same error spans?")
def spans(choice: Choice, *, same_text: bool = False, draws: int = 200, level: float = 0.95, seed: int = 0) -> Table:
    """Compute the agreement of annotators, or of a model and annotators, on error spans.

    Parameters
    ----------
    same_text : bool, default False
        Treat outputs of the same input with identical texts as one output, annotated by all annotators of any of them.
    draws : int, default 200
        Number of random alignments for the expected disorder of gamma.

    Returns
    -------
    Table
        One row per pair of annotators (and for all pairs pooled) and measure: F1 of the marked characters with
        its interval, precision and recall, number of outputs and of outputs without any mark; and gamma, which
        has no interval.

    Notes
    -----
    F1 = 2 · shared / (characters marked by the first + by the second), from sums over all outputs that both annotated;
    `severity` gives half credit if severities differ, as the WMT25 error-span task does. gamma = 1 − disorder of the
    best alignment / disorder expected by chance (Mathet, Widlöcher and Métivier 2015).
    """
    data = choice.data
    if data.spans.is_empty():
        raise NeedsMissing(
            "there are no error spans; they can be read from MQM files, mt-metrics-eval ratings and .jsonl files.",
            code="no_spans",
        )
    if draws < 1:
        raise DataError(f"{option('draws')} must be at least 1; got {draws}.")
    words = _severities(data)
    texts, repeated = _texts(choice, words, same_text)
    names = _by_marks(texts)
    machines = [name for name in names if name in data.models]
    people = [name for name in names if name not in data.models]
    met = _met(texts)
    if not met:
        raise NeedsMissing(_no_shared_texts(texts, same_text), code="too_few_raters")
    pairs = [*((m, p) for m in machines for p in people), *combinations(people, 2), *combinations(machines, 2)]
    by_pair = {pair: _shared(met[frozenset(pair)], pair, words) for pair in pairs if frozenset(pair) in met}
    column = units_of(data, data.inputs).column
    units = "inputs" if column in ("", "input") else f"values of {column}"
    rows = [
        row for m in machines for row in _pooled(m, [by_pair[m, p] for p in people if (m, p) in by_pair], level, units)
    ]
    among = [by_pair[pair] for pair in combinations(people, 2) if pair in by_pair]
    rows += _pooled(PEOPLE, among, level, units) if len(among) > 1 else []
    for pair, shared in by_pair.items():
        who = "models" if pair[1] in machines else "model" if pair[0] in machines else PEOPLE
        rows += [{"first": pair[0], "second": pair[1], "who": who, **row} for row in _rows(shared, level, units)]
        value, why = _gamma(met[frozenset(pair)], pair, draws, seed)
        rows.append({"first": pair[0], "second": pair[1], "who": who, **_row(GAMMA, shared, value, why)})
    severities = {w: f"F1 of the characters that are marked as {w}" for w in words}
    return Table(
        title=Title(data.name, "agreement on error spans"),
        rows=rows,
        layout=Layout(
            lines=("first", "second"),
            across="measure",
            value="value",
            line=lambda pair: " and ".join(pair) if pair[0] == pair[1] else f"{pair[0]} on {pair[1]}",
            heads=HEADS,
            extra={
                "precision": lambda r: _cell(r, "precision"),
                "recall": lambda r: _cell(r, "recall"),
                "outputs": lambda r: Cell(f"{r[0]['n']:,}", r[0]["n"]),
                "clean": lambda r: Cell(f"{r[0]['clean']:,}", r[0]["clean"]),
            },
        ),
        cells={"value": row_interval},
        method=_method(level, units, draws),
        definitions={**DEFINITIONS, **severities},
        notes=_notes(data, texts, repeated, choice),
        signature=f"spans:{data.spans.height}|same_text:{same_text}|draws:{draws}|seed:{seed}",
    )


def _method(level: float, units: str, draws: int) -> str:
    return (
        "F1 of characters, from sums over all outputs that both annotated; clean: outputs in which neither marked "
        f"anything. {level:.0%} confidence intervals: jackknife over {units}, Student's t on the logit scale. "
        "Precision: "
        "share of the characters marked by the first that the second marked too; recall: the reverse. human: all "
        "pairs "
        "of annotators pooled. Gamma is computed on the concatenated outputs, without an interval; its expected "
        "disorder "
        f"is the mean of {draws} draws, and it requires at most {MAX_UNITS:,} spans per annotator."
    )


def _cell(rows: list[Row], name: str) -> Cell:
    return Cell(number(rows[0][name], 2), rows[0][name])


def _severities(data: Dataset) -> list[str]:
    """Return the severities, standard ones first (the worst first), then others by name."""
    present = set(data.spans.drop_nulls("start")["severity"].fill_null("unknown")) - set(NO_ERRORS)
    standard = [w for w in ("critical", "major", "minor") if w in present]
    return [*standard, *sorted(present - set(standard))]


def _texts(choice: Choice, words: Sequence[str], same_text: bool) -> tuple[list[_Text], int]:
    """Return the marked texts, in an order that does not depend on names, and the number of repeated annotations."""
    data = choice.data
    samples = (
        data.samples if choice.keep_human else data.samples.filter(~pl.col("system").is_in(sorted(data.human_systems)))
    )
    marks: dict[tuple[str, str], dict[str, list[SpanMark]]] = {}
    for system, given, rater, side, start, end, severity, _ in data.spans.select(list(Dataset.SPANS)).iter_rows():
        of_rater = marks.setdefault((system, given), {}).setdefault(rater, [])
        if start is not None and side == "output" and severity not in NO_ERRORS:
            of_rater.append(SpanMark(start, end, words.index(severity or "unknown")))
    texts: dict[tuple[str, str], _Text] = {}
    unit = unit_by_input(data)
    repeated = 0
    for row in samples.iter_rows(named=True):
        key = row["system"], row["input"]
        if key not in marks:
            continue
        by_rater, output = {rater: sorted(some) for rater, some in marks[key].items()}, row.get("output")
        length = (
            len(output) if output is not None else max((m.end for some in by_rater.values() for m in some), default=0)
        )
        text = _Text(output or "", length, unit[row["input"]], by_rater)
        if same_text and output is not None:
            first = texts.setdefault((row["input"], output), text)
            repeated += 0 if first is text else sum(rater in first.marks for rater in by_rater)
            first.marks.update({rater: some for rater, some in by_rater.items() if rater not in first.marks})
        else:
            texts["\0", f"{len(texts)}"] = text
    return sorted(texts.values(), key=lambda t: (t.output, t.length, sorted(t.marks.values()))), repeated


def _by_marks(texts: Sequence[_Text]) -> list[str]:
    """Return all annotators, those with most marked characters first, so that the order does not depend on names."""
    letters: Counter[str] = Counter()
    for text in texts:
        letters.update({rater: sum(m.end - m.start for m in some) for rater, some in text.marks.items()})
    return sorted(letters, key=lambda rater: (-letters[rater], rater))


def _met(texts: Sequence[_Text]) -> dict[frozenset[str], list[_Text]]:
    """Return the texts that both annotators of a pair annotated."""
    met: dict[frozenset[str], list[_Text]] = {}
    for text in texts:
        for pair in combinations(text.marks, 2):
            met.setdefault(frozenset(pair), []).append(text)
    return met


def _shared(texts: Sequence[_Text], pair: tuple[str, str], words: Sequence[str]) -> _Shared:
    coarse = [AS_MAJOR.get(word, word) for word in words]
    merge = np.array([[float(name == word) for word in coarse] for name in dict.fromkeys(coarse)]).astype(np.int64)
    rows: list[Array] = []
    clusters, clean = [], 0
    for text in texts:
        one, two = (text.marks[rater] for rater in pair)
        counts = [letter_counts(marks, text.length, len(words)) for marks in (one, two)]
        rows.append(np.vstack([overlap(*counts), credited(*(merge @ c for c in counts))]))
        clusters.append(text.cluster)
        clean += not one and not two
    table = np.array(rows).reshape(len(rows), len(words) + 2, 3)
    return _Shared({name: table[:, k] for k, name in enumerate([ANY, *words, CREDIT])}, clusters, clean)


def _pooled(first: str, parts: Sequence[_Shared], level: float, units: str) -> list[Row]:
    """Return the rows of all annotators pooled: each pair on each output counts."""
    if not parts:
        return []
    sums = {name: np.concatenate([part.sums[name] for part in parts]) for name in parts[0].sums}
    whole = _Shared(sums, [c for part in parts for c in part.clusters], sum(part.clean for part in parts))
    if first != PEOPLE:
        return [{"first": first, "second": PEOPLE, "who": "model", **row} for row in _rows(whole, level, units)]
    undirected = {"precision": float("nan"), "recall": float("nan")}
    rows = _rows(whole, level, units)
    return [{"first": first, "second": PEOPLE, "who": PEOPLE, **row, **undirected} for row in rows]


def _rows(shared: _Shared, level: float, units: str) -> Iterator[Row]:
    codes: Ints = np.unique(np.array(shared.clusters), return_inverse=True)[1].astype(np.int64)
    order = [ANY, CREDIT, *(name for name in shared.sums if name not in (ANY, CREDIT))]
    return (_row(name, shared, overlap_of(shared.sums[name], codes, level, units)) for name in order)


def _row(measure: str, shared: _Shared, result: Overlap | float, why: str | None = None) -> Row:
    if isinstance(result, float):
        result = Overlap(result, np.nan, np.nan, np.nan, np.nan, why)
    return {
        "measure": measure,
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "precision": result.precision,
        "recall": result.recall,
        "n": len(shared.clusters),
        "clean": shared.clean,
        "reason": result.reason,
    }


def _gamma(texts: Sequence[_Text], pair: tuple[str, str], draws: int, seed: int) -> tuple[float, str | None]:
    units: tuple[list[SpanMark], list[SpanMark]] = [], []
    length = 0
    for text in texts:
        for side, rater in zip(units, pair, strict=True):
            side += [SpanMark(m.start + length, m.end + length, m.severity) for m in text.marks[rater]]
        length += text.length
    most = max(map(len, units))
    if not most:
        return float("nan"), "neither annotator marked anything"
    if most > MAX_UNITS:
        return float("nan"), f"gamma requires at most {MAX_UNITS:,} spans per annotator; found {most:,}"
    one, two = (np.array(side, np.float64).reshape(-1, 3) for side in units)
    return gamma(one, two, length, np.random.default_rng(np.random.SeedSequence(seed)), draws), None


def _no_shared_texts(texts: Sequence[_Text], same_text: bool) -> str:
    raters = {rater for text in texts for rater in text.marks}
    why = f"no output was annotated by two annotators ({len(texts):,} outputs, {len(raters)} annotators)"
    if same_text or len({(t.output, t.cluster) for t in texts}) == len(texts):
        return f"{why}; agreement requires outputs with two annotators."
    return (
        f"{why}; some outputs of one input are the same text, which {option('same_text', True)} treats as one output."
    )


def _notes(data: Dataset, texts: Sequence[_Text], repeated: int, choice: Choice) -> list[str]:
    source = data.spans.filter(pl.col("side") == "source")["start"].drop_nulls().len()
    placeless = data.spans.filter(pl.col("start").is_null() & pl.col("severity").is_not_null()).height
    empty = data.spans.filter(pl.col("start") == pl.col("end")).height
    neutral = data.spans.filter(pl.col("severity").is_in(NO_ERRORS) & pl.col("start").is_not_null()).height
    counts = [
        (source, "spans are in the source and ignored: only spans in the output are compared"),
        (placeless, "errors have no position and are ignored"),
        (empty, "spans are empty (start = end) and count in gamma only"),
        (neutral, "neutral remarks are not errors and are ignored"),
        (repeated, "annotations repeat a text that the annotator saw from another system: the first one counts"),
    ]
    human = [f"human-written outputs are excluded: {', '.join(sorted(data.human_systems))}."]
    machine = sorted(data.models & {rater for text in texts for rater in text.marks})
    models = [f"models, not annotators: {', '.join(machine)}."] if machine else []
    return (
        [f"{n:,} {what}." for n, what in counts if n]
        + (human if data.human_systems and not choice.keep_human else [])
        + models
    )
