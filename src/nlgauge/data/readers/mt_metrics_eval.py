"""The folder layout of mt-metrics-eval v2 (WMT metrics tasks): one test set, one language pair at a time.

    wmt23/sources/en-de.txt, references/en-de.refA.txt, documents/en-de.docs, system-outputs/en-de/SYSTEM.txt,
    human-scores/en-de.mqm.seg.score, human-scores/en-de.mqm.seg.rating, metric-scores/en-de/BLEU-refA.seg.score

Segments become the Dataset. Scores of systems, domains and documents are what `read_levels` gives.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.readers._mt_metrics_files import (
    documents,
    is_pair,
    lines_of,
    locate,
    rating_files,
    rating_lines,
    score_files,
    score_of,
    split,
)
from nlgauge.data.readers._spans import Span, error_spans, frame_of
from nlgauge.errors import DataError
from nlgauge.registry import register

NAMES = ("level", "kind", "name", "system", "part")


@register("reader", "mt-metrics-eval")
class MtMetricsEval(Reader):
    """mt-metrics-eval v2 folder of one test set, e.g. wmt23 (lp='en-de'), or wmt23/en-de."""

    takes = Takes(
        "a folder of mt-metrics-eval v2, or the path of a language pair in it",
        human="`human-scores/LP.NAME.seg.score`, error spans of `human-scores/LP.NAME.seg.rating`",
        scores="`metric-scores/LP/NAME-REF.seg.score`",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        folder = (peek.path / "sources").is_dir() and (peek.path / "system-outputs").is_dir()
        return folder or is_pair(peek.path)

    @staticmethod
    def read(path: Path, lp: str | None = None) -> Dataset:
        folder, lp = locate(path, lp)
        samples, people = _samples(folder, lp)
        ratings, scores, others = [], samples.select(KEY), []
        for kind, name, level, file in score_files(folder, lp):
            if level != "seg":
                others.append(f"{level} {kind} {name}")
                continue
            values = _segment_scores(file, samples)
            if kind == "human":
                nobody = pl.lit(None, pl.String).alias("rater")
                ratings.append(samples.select(*KEY, pl.lit(name).alias("aspect"), nobody, values.alias("value")))
            else:
                scores = scores.with_columns(values.alias(name))
        return Dataset.of(
            f"{folder.name} {lp}",
            samples,
            ratings=pl.concat(ratings).drop_nulls("value") if ratings else None,
            scores=scores,
            spans=_spans(folder, lp, samples),
            human_systems=people,
            notes=_level_notes(others),
        )


def read_levels(path: str | Path, lp: str | None = None) -> pl.DataFrame:
    """Return scores of systems, domains and documents: level, kind, name, system, part, score.

    `level` is sys, domain or doc; `kind` human or metric; `part` the domain or document (null for a system).
    """
    folder, lp = locate(Path(path), lp)
    docs = list(dict.fromkeys(doc for _, doc in documents(folder, lp)))
    rows: list[tuple[str | float | None, ...]] = []
    for kind, name, level, file in score_files(folder, lp):
        if level == "seg":
            continue
        seen: dict[str, int] = {}
        for number, words in split(file, 3 if level == "domain" else 2):
            system = words[-2]
            place = seen[system] = seen.get(system, 0) + 1
            if level == "doc" and place > len(docs):
                raise DataError(f"{file}, line {number}: score {place} of '{system}'; there are {len(docs)} documents.")
            part = words[0] if level == "domain" else docs[place - 1] if level == "doc" else None
            rows.append((level, kind, name, system, part, score_of(file, number, words[-1])))
    return pl.DataFrame(rows, schema={**dict.fromkeys(NAMES, pl.String), "score": pl.Float64}, orient="row")


def _samples(folder: Path, lp: str) -> tuple[pl.DataFrame, list[str]]:
    """Return all outputs with the systems in alphabetical order, and the systems that are references and therefore
    human-written.
    """
    source = lines_of(folder / "sources" / f"{lp}.txt")
    columns = {"input": [str(i) for i in range(1, len(source) + 1)], "source": source}
    if docs := documents(folder, lp):
        if len(docs) != len(source):
            raise DataError(f"{folder}/documents/{lp}.docs: has {len(docs)} lines, the source has {len(source)}.")
        columns |= {"domain": [domain for domain, _ in docs], "doc": [doc for _, doc in docs]}
    files = sorted((folder / "references").glob(f"{lp}.*.txt"))
    references = {file.name.split(".")[-2]: lines_of(file, source) for file in files}
    outputs = {f.name.removesuffix(".txt"): f for f in sorted((folder / "system-outputs" / lp).glob("*.txt"))}
    if not outputs:
        raise DataError(f"{folder}/system-outputs/{lp}: no SYSTEM.txt in it.")
    frames = []
    for system, file in outputs.items():
        # A reference that is scored as an output is not its own reference.
        others = [lines for name, lines in references.items() if name != system]
        texts = [list(texts) for texts in zip(*others, strict=True)] if others else [[] for _ in source]
        frame = pl.DataFrame({"system": [system] * len(source), **columns, "output": lines_of(file, source)})
        frames.append(frame.with_columns(pl.Series("references", texts, pl.List(pl.String))))
    return pl.concat(frames), [system for system in outputs if system in references]


def _segment_scores(file: Path, samples: pl.DataFrame) -> pl.Series:
    """Return one value per system and segment, in the order of the samples; null if missing."""
    systems = samples["system"].unique(maintain_order=True).to_list()
    segments = samples.height // len(systems)
    blocks: dict[str, list[float | None]] = {}
    for number, (system, score) in split(file, 2):
        if system not in blocks and system not in systems:
            raise DataError(f"{file}, line {number}: system '{system}' has no file in system-outputs.")
        blocks.setdefault(system, []).append(score_of(file, number, score))
    for system, block in blocks.items():
        if len(block) != segments:
            raise DataError(f"{file}: has {len(block)} scores of '{system}', the source has {segments} segments.")
    values = [value for system in systems for value in blocks.get(system, [None] * segments)]
    return pl.Series(values, dtype=pl.Float64)


def _spans(folder: Path, lp: str, samples: pl.DataFrame) -> pl.DataFrame:
    """Return the errors marked in every segment of every system, by all annotators of all rating files."""
    texts: dict[str, list[tuple[str, str]]] = {}
    for system, output, source in samples.select("system", "output", "source").iter_rows():
        texts.setdefault(system, []).append((output, source))
    files = {name: (file, list(rating_lines(file, name))) for name, file in rating_files(folder, lp)}
    raters = Counter(rater for _, lines in files.values() for rater in {rater for _, rater, _ in lines})
    spans: list[Span] = []
    for name, (file, lines) in files.items():
        place: Counter[str] = Counter()
        for number, (system, rater, rating) in enumerate(lines, 1):
            if system not in texts:
                raise DataError(f"{file}, line {number}: system '{system}' has no file in system-outputs.")
            place[system] += 1
            if rating is not None and place[system] <= len(texts[system]):
                output, source = texts[system][place[system] - 1]
                who = rater if raters[rater] == 1 else f"{name}:{rater}"  # rater1 of two files may be two annotators
                errors = rating.children("errors")
                spans += error_spans((system, str(place[system])), who, errors, {"output": output, "source": source})
        for system, outputs in place.items():
            if outputs != (expected := len(texts[system])):
                raise DataError(f"{file}: has {outputs} ratings of '{system}', the source has {expected} segments.")
    return frame_of(spans)


def _level_notes(others: list[str]) -> list[str]:
    if not others:
        return []
    some = ", ".join(others[:4]) + (", …" if len(others) > 4 else "")
    return [
        f"{len(others)} score files of whole systems, domains or documents ({some}) are not part of the "
        "segments: nlgauge.data.readers.mt_metrics_eval.read_levels(path, lp) returns them"
    ]
