"""SummEval: 16 summarizers on 100 CNN/DM articles; experts, crowd, 13 metrics and replies of LLM judges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers.summeval import SummEval
from nlgauge.datasets.catalog import Entry, stored
from nlgauge.datasets.table_parts import Given, Record, ratings, records, samples, scores
from nlgauge.errors import DataError

ASPECTS = ("coherence", "consistency", "fluency", "relevance")


def load(folder: Path, entry: Entry, judges: bool = False, tokenized: bool = False) -> Dataset:
    """Load SummEval.

    `judges` adds the parsed scores of LLM judges as metrics such as `gpt-4-0314/rts/coherence`. `tokenized` gives the
    re-tokenized, re-cased texts of the BARTScore repository instead of the original ones.
    """
    outputs, original, crowd, retokenized, replies = (folder / f.path for f in entry.files)
    notes = ["the extractive M0, M1, M2, M5 have only mean expert ratings, no individual ratings"]
    rows = records(outputs)
    if tokenized:
        given = {d["doc_id"]: (d["src"], d["ref_summs"]) for d in records(retokenized)}
    else:
        given = {d["id"]: (d["text"], d["references"]) for d in records(original)}
    table = samples(
        rows,
        system="system",
        input="doc_id",
        output="sys_summ" if tokenized else "decoded",
        source=lambda r: given[r["doc_id"]][0],
        references=lambda r: given[r["doc_id"]][1],
    )
    long = ratings(table, rows, _experts)
    if crowd.is_file():
        people = records(crowd)
        long = long.vstack(ratings(samples(people, system="model_id", input="id"), people, _crowd))
    else:
        notes.append(f"{crowd.name} is missing: no crowd ratings")
    metric_scores = scores(table, [r["metrics"] for r in rows])
    if judges:
        metric_scores = metric_scores.join(_judges(replies, notes), on=KEY, how="left")
    return Dataset.of(entry.name, table, ratings=long, scores=metric_scores, human_systems=(), notes=notes)


def aligned(folder: Path, entry: Entry) -> Dataset:
    """Load the file of the authors of SummEval, with all individual ratings."""
    return replace(SummEval.read(stored(folder / entry.files[0].path)), name=entry.name, human_systems=frozenset())


def scored(folder: Path, entry: Entry) -> Dataset:
    """Load the same with the toolkit's scores, such as `metric_scores_11.rouge.rouge_1_f_score`."""
    data = aligned(folder, entry)
    rows = [dict(_numbers(r)) for r in records(folder / entry.files[0].path)]
    columns = [c for c in data.samples.columns if not c.startswith("metric_scores_")]
    return replace(data, samples=data.samples.select(columns), scores=scores(data.samples, rows))


def ctc_scores(folder: Path, entry: Entry) -> Dataset:
    """Load the published CTC scores, one column per aspect and model, such as `relevance_disc_cnndm`."""
    parts: list[tuple[str, list[Record]]] = [
        (Path(f.path).name.removeprefix("summeval_").partition("_ctc")[0], records(folder / f.path))
        for f in entry.files
    ]
    rows = [
        {"input": i, "system": system, "output": written["sys_summ"], "source": line["src"], "human": written["scores"]}
        for i, line in enumerate(parts[0][1])
        for system, written in line["sys_summs"].items()
    ]
    table = samples(rows, system="system", input="input", output="output", source="source")
    by_row: list[dict[str, float]] = [{} for _ in rows]
    for name, lines in parts:
        written_texts = [w for line in lines for w in line["sys_summs"].values()]
        for row, own, written in zip(rows, by_row, written_texts, strict=True):
            if written["sys_summ"] != row["output"]:
                raise DataError(f"{entry.name}: the outputs of {name} are in another order.")
            own[name] = next(v for k, v in written["scores"].items() if k.startswith("CTC"))
    long = ratings(table, rows, lambda r: [(a, None, r["human"][a]) for a in ASPECTS])
    return Dataset.of(entry.name, table, ratings=long, scores=scores(table, by_row), human_systems=())


def _numbers(given: Record, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield the scores of a line by their paths; the scores of SUPERT are in lists with one element."""
    for name, value in given.items():
        if not path and not name.startswith("metric_scores_"):
            continue
        if isinstance(value, dict):
            yield from _numbers(value, f"{path}{name}.")
        else:
            yield path + name, value[0] if isinstance(value, list) and value else value


def _experts(r: Record) -> Iterator[Given]:
    for aspect in ASPECTS:
        if r["expert"]:
            yield from ((aspect, f"expert {k}", given[aspect]) for k, given in enumerate(r["expert"], 1))
        else:
            yield aspect, None, r["human_mean"][aspect]


def _crowd(r: Record) -> Iterator[Given]:
    for k, given in enumerate(r["turker_annotations"], 1):
        yield from ((f"{aspect} (turker)", f"turker {k}", given[aspect]) for aspect in ASPECTS)


def _judges(path: Path, notes: list[str]) -> pl.DataFrame:
    rows = records(path)
    unparsed = sum(r["score_parsed_here"] is None for r in rows)
    long = samples(
        rows, system="system", input="id", judge=lambda r: f"{r['evaluator']}/{r['method']}/{r['aspect']}"
    ).with_columns(pl.Series("score", [r["score_parsed_here"] for r in rows], pl.Float64, strict=False))
    repeated = long.height - long.select(*KEY, "judge").n_unique()
    notes.append(
        f"LLM judges: {len(rows)} replies; in {unparsed} a simple parser (not the authors') found no score; "
        f"{repeated} repeat another, their mean is used"
    )
    return long.pivot("judge", index=KEY, values="score", aggregate_function="mean")
