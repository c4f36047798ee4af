"""Pairwise votes: one row per choice between two outputs (A/B tests, Chatbot Arena, MT-Bench judgements)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nlgauge.data.comparisons import FIRST, OUTPUTS, SECOND, SIDES, SYSTEMS, TIE, Choices, find_pair, pair_samples
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.raters import HUMAN, PERSON, is_model
from nlgauge.data.readers import Takes
from nlgauge.data.records import first_row, option_map, shown
from nlgauge.data.tables.raw import RawTable, read_table
from nlgauge.data.tables.vocabulary import column_of, label_text, plain
from nlgauge.errors import DataError
from nlgauge.registry import register

WORDS = "winner|preference|preferred|vote|choice|verdict|better|judge?ment"
VOTE = re.compile(rf"^(?:(?P<before>.+?)[ _.-])?(?:{WORDS})(?:[ _.-](?P<after>.+))?$", re.I)
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
TIES = "tie 0 equal same draw both neither none tiebothbad bothbad bothgood tieinconsistent nopreference unsure".split()


def _words() -> dict[str, str]:
    """What a vote may say, without case and marks: a, model_a, left, 'A is better', 1 …; b …; tie …"""
    said = dict.fromkeys(TIES, TIE)
    for names, meaning in zip(zip(*SIDES, strict=True), (FIRST, SECOND), strict=True):
        for side in names:
            for word in (side, *(stem + side for stem in (*SYSTEMS, *OUTPUTS, "option", "assistant"))):
                said |= {word: meaning, f"{word}isbetter": meaning, f"{word}better": meaning}
    return said


MEANING = _words()


@register("reader", "pairwise")
class Pairwise:
    """Pairwise votes: system_a, system_b (or output_a, output_b) and winner, vote, preference or choice."""

    takes = Takes(
        "a table or JSON lines of two systems or outputs and a vote (Chatbot Arena, MT-Bench)",
        people="votes of people",
        scores="votes of models are kept apart from people's",
    )

    @staticmethod
    def recognises(peek: Peek) -> bool:
        row = first_row(peek)
        if {"instruction", "output_1", "output_2", "preference"} <= set(row):
            return False  # AlpacaEval, which has a reader of its own
        pair = find_pair(row)
        if not (pair.systems or pair.outputs):
            return False
        systems = [str(row[name]) for name in pair.systems or ()]
        votes = [row[name] for name in _vote_columns(row)]
        return set(ONE_HOT) <= set(row) or any(plain(str(v)) in MEANING or str(v) in systems for v in votes)

    @staticmethod
    def read(path: Path, votes: Mapping[str, str] | str | None = None, encoding: str | None = None) -> Dataset:
        """`votes='0=first,1=second'` says what an unusual vote means."""
        table = read_table(path, encoding)
        rows = _rows(table)
        pair = find_pair(rows[0])
        columns = _vote_columns(rows[0])
        if not (pair.systems or pair.outputs) or not (columns or set(ONE_HOT) <= set(rows[0])):
            raise DataError(
                f"{path}: expected columns such as system_a, system_b and winner. Columns found: {', '.join(rows[0])}."
            )
        said = option_map("votes", votes)
        for column in columns:
            _check_binary(table, column, [row[column] for row in rows], said)
        choices, counts = Choices(path.name), Counter[str]()
        inputs, raters, aspects = (column_of(role, rows[0]) for role in ("input", "rater", "aspect"))
        turns = [n for n in rows[0] if plain(n) == "turn" and len({str(row[n]) for row in rows}) > 1]
        for i, row in enumerate(rows):
            first, second, outputs = pair_samples(row, pair)
            given = row[inputs] if inputs else next(iter(outputs.values())).get("source") or str(i)
            given = label_text(given) + "".join(f" turn {label_text(row[t])}" for t in turns)
            given = choices.place(given, outputs)
            rater = label_text(row[raters]) if raters and row[raters] is not None else None
            for aspect, who, column, vote in _votes(row, columns):
                if vote is None or not str(vote).strip():
                    counts["rows without a vote left out"] += 1
                    continue
                preferred = _preferred(table.where.at(i, column), str(vote), first, second, said)
                if preferred == TIE and plain(str(vote)) != "tie":
                    counts[f"votes '{vote}' are read as ties"] += 1
                about = str(row[aspects]) if aspects and row[aspects] is not None else aspect
                choices.choose(given, first, second, aspect=about, rater=who or rater, preferred=preferred)
        notes = [f"{n} {what}" for what, n in counts.items()]
        if pair.systems is None:
            notes.append(f"no columns name the systems: {' and '.join(pair.outputs or ())} stand for them")
        return choices.dataset(notes)


def _rows(table: RawTable) -> list[dict[str, Any]]:
    rows = table.frame.to_dicts()
    for name, values in table.nested.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    return rows


def _vote_columns(names: Mapping[str, Any]) -> list[str]:
    return [name for name in names if VOTE.match(name) and name.lower() not in ONE_HOT]


def _votes(row: Mapping[str, Any], columns: Sequence[str]) -> list[tuple[str, str | None, str, Any]]:
    """(aspect, who voted by the column's name, column, vote) of a row."""
    if not columns:
        won = [
            meaning
            for name, meaning in zip(ONE_HOT, ("a", "b", "tie"), strict=True)
            if str(row[name]).lower() in ("1", "1.0", "true")
        ]
        return [("preference", None, ONE_HOT[0], won[0] if len(won) == 1 else None)]
    found = []
    for column in columns:
        match = VOTE.match(column)
        said = (match["before"] or match["after"] or "") if match else ""
        # human_winner and gpt4_winner are two voters on one question; coherence_winner is a question.
        aspect = "" if is_model(said) else PERSON.sub("", said).strip(" _.-")
        voter = said if said and not aspect and not HUMAN.search(said) else None
        found.append((aspect or "preference", voter, column, row[column]))
    return found


def _check_binary(table: RawTable, column: str, votes: Sequence[Any], said: Mapping[str, str]) -> None:
    """0 and 1 alone may mean tie and first, or first and second: nobody but the user knows."""
    found = {label_text(v) for v in votes if v is not None and str(v).strip()}
    if found <= {"0", "1"} and "0" in found and "0" not in said:
        raise DataError(
            f"{table.where.at(None, column)}: holds only 0 and 1, which can mean several things; "
            "say which: votes='0=first,1=second'."
        )


def _preferred(where: str, vote: str, first: str, second: str, said: Mapping[str, str]) -> str:
    if vote.strip().lower() in said:
        vote = said[vote.strip().lower()]
    by_name = FIRST if vote == first else SECOND if vote == second else None
    word = plain(vote.removesuffix(".0"))
    meaning = MEANING.get(word)
    if by_name and meaning and by_name != meaning:
        raise DataError(
            f"{where}: '{vote}' names the {by_name} system but reads as the {meaning} side; "
            f"say votes='{vote}={by_name}'."
        )
    if by_name or meaning:
        return by_name or meaning or TIE
    raise DataError(
        f"{where}: found {shown(vote)}, expected a, b, tie, both, neither, left, right, 1, 2, 0, '{first}' "
        f"or '{second}'; or say what it means: votes='{vote}=first'."
    )
