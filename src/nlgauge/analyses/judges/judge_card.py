"""Judge card: settings of a judge and its agreement with human ratings, to be archived with its scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.judges.judge_rows import FEWEST, judge_columns, labeled_rows, same_scale
from nlgauge.data.choice import Choice
from nlgauge.errors import NeedsMissing
from nlgauge.number import interval, number
from nlgauge.options import call
from nlgauge.stats.estimation.judge_bias import leniency
from nlgauge.stats.estimation.judge_shift import agreements
from nlgauge.table import Row, Table, Title

HASHED = ("endpoint", "prompt")  # a difference of hashes says only that the setting changed


def fingerprint(signature: str | None) -> dict[str, str]:
    """Return the settings in the signature of a judge.

    >>> fingerprint("model:gpt-4|prompt:1a2b|n:1")
    {'model': 'gpt-4', 'prompt': '1a2b', 'n': '1'}
    """
    parts = (part.partition(":") for part in str(signature or "").split("|"))
    return {k: v for k, colon, v in parts if colon and k != "version"}


def made_otherwise(old: str | None, new: str | None) -> list[str]:
    """Return the differences between two signatures in words; empty if one of them is unknown.

    >>> made_otherwise("model:a|prompt:1", "model:b|prompt:2")
    ['model a → b', 'another prompt']
    """
    first, second = fingerprint(old), fingerprint(new)
    if not first or not second:
        return []
    return [
        f"another {k}" if k in HASHED else f"{k} {first.get(k, 'none')} → {second.get(k, 'none')}"
        for k in {**first, **second}
        if first.get(k) != second.get(k)
    ]


@analysis(
    "judge-card",
    takes="dataset",
    question="What are the settings of each judge, and how well did it agree with human ratings?",
)
def judge_card(choice: Choice) -> Table:
    """Describe each judge: model, prompt, settings, labels, and agreement with human ratings.

    Returns
    -------
    Table
        One row per fact of a judge: model, hash of the prompt, settings, number of labels, agreement. Write it
        as .json and as .md; `drift` compares two cards.
    """
    data = choice.data
    metrics = list(choice.metrics or data.metrics)
    if not metrics:
        raise NeedsMissing(f"there are no scores of a judge; {call('judge FILE')} computes them.", code="no_scores")
    rows: list[Row] = []
    for column in judge_columns(metrics, choice.wanted if data.aspects else []):
        made = fingerprint(data.signatures.get(column.metric))
        rows += [_row(column.metric, None, name, setting=text) for name, text in made.items()]
        if column.metric not in data.signatures:
            reason = "unknown (`nlgauge judge -o FILE.jsonl` records it)"
            rows.append(_row(column.metric, None, "model", reason=reason))
        rows += [row for aspect in column.aspects for row in _agreement(choice, column.metric, aspect)]
    return Table(
        title=Title(data.name, "judge card"),
        rows=rows,
        shown=["metric", "aspect", "measure", "setting", "n"],
        heads={"metric": "judge", "measure": "fact", "setting": "value"},
        cells={"setting": lambda r: r["setting"] or _number(r)},
        method="agreement: Cohen's kappa of verdicts, Pearson's r of scores; leniency: mean of the judge minus mean of "
        "the annotators. 95% confidence intervals: jackknife over inputs. prompt and endpoint are hashes.",
        signature=f"nlgauge:{__version__}|data:{data.name}",
    )


def _row(metric: str, aspect: str | None, measure: str, **more: object) -> Row:
    base: Row = {"metric": metric, "aspect": aspect, "measure": measure, "setting": None}
    base |= dict.fromkeys(("value", "low", "high"), float("nan"))
    return {**base, "n": None, "reason": None, **more}


def _number(row: Row) -> str:
    return (
        interval(row["value"], row["low"], row["high"], 2)
        if np.isfinite(row["value"])
        else row["reason"] or number(None)
    )


def _agreement(choice: Choice, metric: str, aspect: str) -> list[Row]:
    panel = choice.panel(aspect, canonical=True)
    rows, names = labeled_rows(panel, metric)
    n, inputs = len(rows.judge), len(np.unique(names))
    if inputs < FEWEST or np.ptp(rows.judge) == 0 or np.ptp(rows.people) == 0:
        few = f"requires labels on at least {FEWEST} inputs; found {inputs}"
        return [_row(metric, aspect, "agreement", n=n, reason=few if inputs < FEWEST else "all values are equal")]
    one_scale = same_scale(panel, metric)
    kappa = one_scale and set(np.unique(np.concatenate([rows.judge, rows.people]))) <= {0.0, 1.0}
    estimate = agreements((rows.judge, rows.people, rows.clusters), None, kappa)
    value, half = float(estimate.value[0]), float(estimate.half()[0])
    made = [
        _row(metric, aspect, "kappa" if kappa else "pearson", value=value, low=value - half, high=value + half, n=n)
    ]
    if one_scale:
        off = leniency(rows)
        made.append(_row(metric, aspect, "leniency", value=off.value, low=off.low, high=off.high, n=n))
    return made


def compare_card_files(files: Any) -> Table | None:
    """Compare two judge cards that were written as JSON; return None for other files."""
    several = isinstance(files, list | tuple) and len(files) == 2
    paths = [Path(file) for file in files if isinstance(file, str | Path)] if several else []
    if len(paths) != 2 or any(path.suffix.lower() != ".json" or not path.is_file() for path in paths):
        return None
    try:
        old, new = (_card_rows(json.loads(path.read_text(encoding="utf-8"))) for path in paths)
    except ValueError:
        return None  # the data reader reports what is wrong
    return compare_cards(old, new, (paths[0].name, paths[1].name)) if old and new else None


def _card_rows(content: Any) -> list[Row] | None:
    """Return the rows of a judge card that was written as JSON; None for other content."""
    tables = content.get("tables", [content]) if isinstance(content, dict) else []
    rows = [
        row for t in tables if isinstance(t, dict) and t.get("analysis") == "judge-card" for row in t.get("rows", [])
    ]
    return rows or None


def compare_cards(old: list[Row], new: list[Row], names: tuple[str, str]) -> Table:
    """Compare two cards: changes of settings, and of agreement without a test, since cards have no scores."""
    cards = [{(r["metric"], r["aspect"], r["measure"]): r for r in rows} for rows in (old, new)]
    if not {k[0] for k in cards[0]} & {k[0] for k in cards[1]}:
        raise NeedsMissing(f"{names[0]} and {names[1]} have no judge in common.")
    rows, changes = [], []
    shared = [k for k in {**cards[0], **cards[1]} if all(any(k[0] == other[0] for other in card) for card in cards)]
    for key in shared:
        old_text, new_text = (_text(card[key]) if key in card else "none" for card in cards)
        metric, aspect, measure = key
        if aspect is None and old_text != new_text:
            changes.append(f"{metric}: {measure} {old_text} → {new_text}.")
        rows.append({"metric": metric, "aspect": aspect, "measure": measure, "old": old_text, "new": new_text})
    has_settings = all(any(r["setting"] for r in card.values()) for card in cards)
    unchanged = "No setting of a judge changed." if has_settings else "The settings of the judges are unknown."
    return Table(
        title=f"{names[1]}: changes of the judge since {names[0]}",
        rows=rows,
        heads={"metric": "judge", "measure": "fact"},
        answers=changes or [unchanged],
        notes=["cards contain no scores: to test for drift, give two score tables to `nlgauge analyze drift`."],
        facts={"verdict": "inconclusive"},
        exit_code=3,
    )


def _text(row: Row) -> str:
    value = {**row, **{k: np.nan if row[k] is None else row[k] for k in ("value", "low", "high")}}
    return str(row["setting"] or _number(value))
