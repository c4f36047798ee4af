"""USR (Persona-Chat and Topical-Chat): responses, single ratings, and the scores that several groups released."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from nlgauge.datasets.convert.reading import Files, Record, json_lines, named, numbers_of, objects, rows

ASPECTS = ("Understandable", "Natural", "MaintainsContext", "Engaging", "UsesKnowledge", "Overall")
FIRST, LAST = "understandability_unieval", "relev_met"


def usr(files: Files, table: str, scores: str, models: Sequence[str], first: int = 1) -> bytes:
    """Join the checklist table (one row per annotator) with 13 metrics by context; annotators become r1, r2, ….

    `models`: the systems M0, M1, … of the metric table, which has no row for the original response. `first`: the
    number of the first annotator.
    """
    ratings = rows(named(files, table))
    columns = list(ratings[0])
    metrics = columns[columns.index(FIRST) : columns.index(LAST) + 1]
    released = {(r["System"], models[int(r["Utterance"][1:])]): r for r in rows(named(files, scores))}
    people: dict[str, str] = {}
    contexts: dict[tuple[str, str], int] = {}
    outputs: dict[tuple[int, str], Record] = {}
    for row in ratings:
        number = contexts.setdefault((row["context"], row["fact"]), len(contexts))
        annotator = people.setdefault(row["annotators"], f"r{len(people) + first}")
        output = outputs.setdefault((number, row["model"]), _output(number, row, metrics))
        output["ratings"].append({"annotator": annotator} | {a: int(float(row[a])) for a in ASPECTS})
        if released_scores := released.get((str(number), row["model"])):
            output["metrics_rankingnlpsystems"] = _scores(released_scores)
    return json_lines(outputs.values())


def _output(number: int, row: dict[str, str], metrics: Sequence[str]) -> Record:
    return {
        "context_id": number,
        "model": row["model"],
        "context": row["context"],
        "fact": row["fact"],
        "response": row["response"],
        "ratings": [],
        "metrics": numbers_of(row, metrics),
    }


def _scores(row: dict[str, str]) -> Record:
    return numbers_of(row, [c for c in row if c not in ("System", "Utterance") and not c.startswith("H:")])


def unieval(files: Files) -> bytes:
    """Convert UniEval's predictions on Topical-Chat by the position of the response."""
    [content] = files.values()
    return json_lines(
        {"i": i, "system_id": r["system_id"], "scores": r["scores"], "predict_scores": r["predict_scores"]}
        for i, r in enumerate(objects(content))
    )


def usr_scores(files: Files) -> bytes:
    """Convert the published USR scores of three models, with the turn and the response to which they belong."""
    turns = [line for line in named(files, "undr/test.lm").decode().splitlines() if line]
    columns = {
        "usr_mlm": json.loads(named(files, "undr/mlm_roberta.scores")),
        "usr_dr_context": json.loads(named(files, "both/dr.scores")),
        "usr_dr_fact": json.loads(named(files, "fct/dr.scores")),
    }
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["turns", *columns])
    writer.writerows(zip(turns, *columns.values(), strict=True))
    return out.getvalue().encode()


def qags(files: Files) -> bytes:
    """Convert UniEval's predictions on QAGS: the human and the predicted score by position."""
    [content] = files.values()
    return json_lines(
        {"i": i, "human_consistency": r["scores"]["consistency"]}
        | {"unieval_consistency": r["predict_scores"]["consistency"], "system_output": r["system_output"]}
        for i, r in enumerate(objects(content))
    )
