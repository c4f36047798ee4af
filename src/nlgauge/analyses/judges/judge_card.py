"""A judge's card: how it was made, and how far it agreed with people; to be kept beside what it judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.judges.fingerprint import fingerprint
from nlgauge.analyses.judges.judge_rows import FEWEST, judge_columns, labelled_rows, same_scale
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import interval, number
from nlgauge.stats.estimation.judge_bias import leniency
from nlgauge.stats.estimation.judge_shift import agreements
from nlgauge.table import Row, Table, Title


@analysis("judge-card", takes="dataset", question="How was this judge made, and how far did it agree with people?")
def judge_card(choice: Choice) -> Table:
    """Describe each judge: model, prompt, settings, labels, and agreement with human ratings.

    Parameters
    ----------
    choice : Choice
        Data, and the aspects, metrics and parts of it to use.

    Returns
    -------
    Table
        One row per fact of a judge: model, hash of the prompt, settings, number of labels, agreement. Write it
        as .json and as .md; `drift` compares two cards.
    """
    data = choice.data
    metrics = list(choice.metrics or data.metrics)
    if not metrics:
        raise NeedsMissing("no judge scores; `nlgauge judge FILE` makes them.", data=data.name, code="no_scores")
    rows: list[Row] = []
    for column in judge_columns(metrics, choice.wanted if data.aspects else []):
        made = fingerprint(data.signatures.get(column.metric))
        rows += [_row(column.metric, None, name, setting=text) for name, text in made.items()]
        if column.metric not in data.signatures:
            rows.append(_row(column.metric, None, "model", reason="not known (`nlgauge judge -o FILE.jsonl` keeps it)"))
        rows += [row for aspect in column.aspects for row in _agreement(choice, column.metric, aspect)]
    return Table(
        title=Title(data.name, "card of the judge"),
        rows=rows,
        shown=["metric", "aspect", "measure", "setting", "n"],
        heads={"metric": "judge", "measure": "fact", "setting": "value"},
        cells={"setting": lambda r: r["setting"] or _number(r)},
        method="agreement: kappa of pass and fail, else Pearson's r over outputs; leniency: mean of the judge less "
        "mean of people. 95 % intervals, inputs left out in turn. prompt and endpoint are hashes.",
        signature=f"nlgauge:{__version__}|data:{data.name}",
    )


def _row(metric: str, aspect: str | None, measure: str, **more: object) -> Row:
    nothing = float("nan")
    base: Row = {"metric": metric, "aspect": aspect, "measure": measure, "setting": None, "value": nothing,
                 "low": nothing, "high": nothing, "n": None, "reason": None}  # fmt: skip
    return {**base, **more}


def _number(row: Row) -> str:
    return (
        interval(row["value"], row["low"], row["high"], 2)
        if np.isfinite(row["value"])
        else row["reason"] or number(None)
    )


def _agreement(choice: Choice, metric: str, aspect: str) -> list[Row]:
    panel = choice.panel(aspect, canonical=True)
    rows, names = labelled_rows(panel, metric)
    n, inputs = len(rows.judge), len(np.unique(names))
    if inputs < FEWEST or np.ptp(rows.judge) == 0 or np.ptp(rows.people) == 0:
        why = f"labels on {inputs} inputs; {FEWEST} are needed" if inputs < FEWEST else "all values are the same"
        return [_row(metric, aspect, "agreement", n=n, reason=why)]
    one_scale = same_scale(panel, metric)
    kappa = one_scale and set(np.unique(np.concatenate([rows.judge, rows.people]))) <= {0.0, 1.0}
    found = agreements((rows.judge, rows.people, rows.clusters), None, kappa)
    value, half = float(found.value[0]), float(found.half()[0])
    made = [
        _row(metric, aspect, "kappa" if kappa else "pearson", value=value, low=value - half, high=value + half, n=n)
    ]
    if one_scale:
        off = leniency(rows)
        made.append(_row(metric, aspect, "leniency", value=off.value, low=off.low, high=off.high, n=n))
    return made


def compare_card_files(files: Any) -> Table | None:
    """Compare two cards that were written as JSON; None where the files are something else."""
    several = isinstance(files, list | tuple) and len(files) == 2
    paths = [Path(file) for file in files if isinstance(file, str | Path)] if several else []
    if len(paths) != 2 or any(path.suffix.lower() != ".json" or not path.is_file() for path in paths):
        return None
    try:
        old, new = (_card_rows(json.loads(path.read_text(encoding="utf-8"))) for path in paths)
    except ValueError:
        return None  # whatever reads them as data says what is wrong
    return compare_cards(old, new, (paths[0].name, paths[1].name)) if old and new else None


def _card_rows(found: Any) -> list[Row] | None:
    """The rows of a card that was written as JSON; None where it is something else."""
    tables = found.get("tables", [found]) if isinstance(found, dict) else []
    rows = [
        row for t in tables if isinstance(t, dict) and t.get("analysis") == "judge-card" for row in t.get("rows", [])
    ]
    return rows or None


def compare_cards(old: list[Row], new: list[Row], names: tuple[str, str]) -> Table:
    """What changed between two cards: settings, and agreement without a test, as cards hold no scores."""
    at = [{(r["metric"], r["aspect"], r["measure"]): r for r in rows} for rows in (old, new)]
    if not {k[0] for k in at[0]} & {k[0] for k in at[1]}:
        raise NeedsMissing(f"{names[0]} and {names[1]}: no judge in common.")
    rows, said = [], []
    for key in [k for k in {**at[0], **at[1]} if all(any(k[0] == other[0] for other in card) for card in at)]:
        old_text, new_text = (_text(card[key]) if key in card else "none" for card in at)
        metric, aspect, measure = key
        if aspect is None and old_text != new_text:
            said.append(f"{metric}: {measure} {old_text} → {new_text}.")
        rows.append({"metric": metric, "aspect": aspect, "measure": measure, "old": old_text, "new": new_text})
    known = all(any(r["setting"] for r in card.values()) for card in at)
    return Table(
        title=f"{names[1]}: what changed in the judge since {names[0]}",
        rows=rows,
        heads={"metric": "judge", "measure": "fact"},
        answers=said or ["No setting of a judge changed." if known else "How the judges were made is not known."],
        notes=[
            "cards hold no scores: whether the judge shifted is told by two score tables (`nlgauge analyze drift`)."
        ],
        facts={"verdict": "cannot tell"},
        exit_code=3,
    )


def _text(row: Row) -> str:
    value = {**row, **{k: np.nan if row[k] is None else row[k] for k in ("value", "low", "high")}}
    return str(row["setting"] or _number(value))
