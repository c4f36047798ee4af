"""USR: dialogue responses on Persona-Chat and Topical-Chat, six aspects, three annotators with IDs per output."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.datasets.catalog import Entry
from nlgauge.datasets.table_parts import csv_table, ratings, records, samples, scores
from nlgauge.errors import DataError


def load(folder: Path, entry: Entry) -> Dataset:
    """Load the responses, with the predictions in extra files if present."""
    path = folder / entry.files[0].path
    rows = records(path)
    truth = entry.human_systems[0]
    reference = {r["context_id"]: r["response"].strip() for r in rows if r["model"] == truth}
    table = samples(
        rows,
        system="model",
        input="context_id",
        output=lambda r: r["response"].strip(),
        # The dialogue history is the source that the response answers, the fact its context, as input of the
        # metrics.
        source=lambda r: r["context"].strip(),
        context=lambda r: r["fact"].strip(),
        references=lambda r: [reference[r["context_id"]]],
    )
    notes = [entry.notes[0].removesuffix(".")] if entry.notes else []
    notes.append(f"references are the responses of '{truth}'")
    metric_scores = scores(table, [r["metrics"] for r in rows])
    metric_scores = metric_scores.join(scores(table, [r.get("metrics_rankingnlpsystems") for r in rows]), on=KEY)
    for file in (f for f in entry.files if f.extra):
        predicted = folder / file.path
        if not predicted.is_file():
            notes.append(f"{predicted.name} is missing: UniEval's own predictions are left out")
            continue
        others = sorted(records(predicted), key=lambda r: int(r["i"]))
        if [r["system_id"] for r in others] != table["system"].to_list():
            raise DataError(f"{predicted}: the systems differ from those of {path.name}.")
        metric_scores = metric_scores.join(scores(table, [r["predict_scores"] for r in others], "unieval_"), on=KEY)
    given = ratings(
        table, rows, lambda r: [(a, one["annotator"], one[a]) for one in r["ratings"] for a in entry.aspects]
    )
    return Dataset.of(
        entry.name,
        table,
        ratings=given,
        scores=metric_scores,
        persons=True,
        human_systems=entry.human_systems,
        lower=["perplexity"],
        notes=notes,
    )


def load_scores(folder: Path, entry: Entry) -> Dataset:
    """Load the same outputs with the scores that the authors of USR published, matched by turn and response."""
    data = load(folder, entry)
    path = folder / entry.files[1].path
    published = {_line(r["turns"]): r for r in csv_table(path).iter_rows(named=True)}
    rows_with_scores = [
        published.get(_line(f"{history.splitlines()[-1]} _eos _go {response} _eos"))
        for history, response in data.samples.select("source", "output").iter_rows()
    ]
    if not any(rows_with_scores):
        raise DataError(f"{path}: no line matches a turn and response of usr_topical_chat.jsonl.")
    values = [{c: r[c] for c in r if c != "turns"} if r else None for r in rows_with_scores]
    return replace(data, scores=scores(data.samples, values))


def _line(text: str) -> str:
    return " ".join(text.lower().split())
