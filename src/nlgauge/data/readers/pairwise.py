"""Pairwise comparisons: one row per preference between two outputs (A/B tests, Chatbot Arena, MT-Bench)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from nlgauge.data.comparisons import FIRST, SECOND, TIE, TWO, Choices, as_text, dataset_of_votes, pair_samples
from nlgauge.data.dataset import Dataset
from nlgauge.data.peek import Peek
from nlgauge.data.provenance import ANNOTATOR_WORDS, is_model
from nlgauge.data.readers import Reader, Takes
from nlgauge.data.records import first_row, option_map, shown
from nlgauge.data.tables.pairs import NUMBERED, OUTPUTS, SIDES, SYSTEMS, PairColumns, find_pair
from nlgauge.data.tables.raw import RawTable, read_table
from nlgauge.data.tables.vocabulary import SETS, column_of, label_text, plain
from nlgauge.errors import DataError
from nlgauge.options import option
from nlgauge.registry import register

WORDS = "winner|preference|preferred|vote|choice|verdict|better|judge?ment|labels?"
PAIRWISE = "pairwise(votes='{}')"  # as a reader with its option
VOTE = re.compile(
    rf"^(?:(?P<before>.+?)[ _.-])?(?:{WORDS})(?:[ _.-](?P<after>.+))?$"
    r"|^(?P<said>.+?)[ _.-](?:response|output|answer)[ _.-]id$",
    re.I,
)
WHICH = re.compile(r"^(?:response|output|answer|model)?[ _.-]?(?:id|idx|index)$", re.I)  # better_response_id
ONE_HOT = ("winner_model_a", "winner_model_b", "winner_tie")
LOSER = "loser"
MAX_NAME = 60  # characters of a system's name
NEGATIVE = re.compile(r"(?:^|[\s,;:\t\"])-[1-5](?:\.0)?(?=[\s,;}\"]|$)", re.M)
TIES = "tie 0 equal same draw both neither none tiebothbad bothbad bothgood tieinconsistent nopreference unsure".split()


def _words() -> dict[str, str]:
    """Return the accepted votes without case and punctuation: a, model_a, left, 'A is better', 1 …; b …; tie …"""
    meanings = dict.fromkeys(TIES, TIE)
    for names, meaning in zip(zip(*SIDES, strict=True), (FIRST, SECOND), strict=True):
        for side in names:
            for word in (side, *(stem + side for stem in (*SYSTEMS, *OUTPUTS, "option", "assistant"))):
                meanings |= {word: meaning, f"{word}isbetter": meaning, f"{word}better": meaning}
    return meanings


MEANING = _words()


@register("reader", "pairwise")
class Pairwise(Reader):
    """Pairwise comparisons: system_a, system_b (or output_a, output_b) and winner, vote, preference or choice."""

    takes = Takes(
        "a table or JSON lines of two systems or outputs and a vote (Chatbot Arena, MT-Bench)",
        human="votes of humans",
        scores="votes of models, separate from human ones",
    )

    @staticmethod
    def recognizes(peek: Peek) -> bool:
        row = first_row(peek)
        graded = isinstance(row.get("model1"), dict) and isinstance(row.get("model2"), dict)  # RAGChecker's
        return not graded and holds_votes(row, bool(NEGATIVE.search(peek.text)))

    @staticmethod
    def holds(row: Mapping[str, Any]) -> bool:
        """Return whether the first row of a table in memory is a vote."""
        return holds_votes(row)

    @staticmethod
    def read(path: Path, votes: Mapping[str, str] | str | None = None, encoding: str | None = None) -> Dataset:
        """Read votes; `votes='0=first,1=second'` maps them, `votes='negative=first'` is for scales around 0."""
        return Pairwise.of(read_table(path, encoding), path.name, votes)

    @staticmethod
    def of(table: RawTable, name: str, votes: Mapping[str, str] | str | None = None) -> Dataset:
        """Return the votes of a table."""
        if _only_votes(table):
            return _by_columns(table, name, votes)
        rows = _rows(table)
        pair = find_pair(rows[0])
        columns = _vote_columns(rows[0]) or _scales(rows, pair)
        if not (pair.systems or pair.outputs) or not (columns or set(ONE_HOT) <= set(rows[0])):
            raise DataError(
                f"{table.where.source}: expected columns such as system_a, system_b and winner. Columns: "
                f"{', '.join(rows[0])}."
            )
        meanings = _numbered(pair) | option_map("votes", votes)
        signed = {column for column in columns if _check_numbers(table, column, [r[column] for r in rows], meanings)}
        names = {str(row[c]) for row in rows for c in pair.systems or ()}
        sides = {column for column in columns if _says_sides(names, (row[column] for row in rows))}
        choices, counts = Choices(name), Counter[str]()
        inputs, raters, aspects = (column_of(role, rows[0]) for role in ("input", "rater", "aspect"))
        turns = [n for n in rows[0] if plain(n) == "turn" and len({str(row[n]) for row in rows}) > 1]
        for i, row in enumerate(rows):
            first, second, outputs = pair_samples(row, pair)
            given = row[inputs] if inputs else next(iter(outputs.values())).get("source") or str(i)
            given = label_text(given) + "".join(f" turn {label_text(row[t])}" for t in turns)
            given = choices.place(given, outputs)
            rater = label_text(row[raters]) if raters and row[raters] is not None else None
            for aspect, who, column, given_vote in _votes(row, columns):
                vote = _vote_text(given_vote)
                if not vote:
                    counts["rows without a vote were left out"] += 1
                    continue
                named = () if column in sides else (first, second)
                where = table.where.at(i, column)
                preferred = _meaning(where, vote, meanings, None if column in signed else named)
                if preferred == TIE and plain(vote) != "tie":
                    counts[f"votes '{vote}' are read as ties"] += 1
                about = str(row[aspects]) if aspects and row[aspects] is not None else aspect
                choices.choose(given, first, second, aspect=about, rater=who or rater, preferred=preferred)
        notes = _notes(counts, rows[0], [c for c in columns if c in signed], meanings)
        if pair.systems is None:
            notes.append(f"no columns with systems; they are named {' and '.join(pair.outputs or ())}")
        return choices.dataset(notes)


def _rows(table: RawTable) -> list[dict[str, Any]]:
    rows = table.frame.to_dicts()
    for name, values in table.nested.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = value
    bare = _bare_sides(rows)
    return [_both_named({bare.get(name, name): value for name, value in row.items()}) for row in rows]


def _bare_sides(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Rename columns `left` and `right`, or `A` and `B`, by their content: names of systems, or outputs."""
    by_name = {plain(name): name for name in rows[0]}
    if find_pair(by_name).systems or find_pair(by_name).outputs:
        return {}
    for sides in (("left", "right"), ("a", "b")):
        if set(sides) <= set(by_name):
            held = [str(row[by_name[side]]) for row in rows for side in sides]
            named = all(len(text) <= MAX_NAME for text in held) and (len(rows) == 1 or len(set(held)) < len(rows))
            return {by_name[side]: f"{'system' if named else 'output'}_{side}" for side in sides}
    return {}


def _numbered(pair: PairColumns) -> dict[str, str]:
    """Return the meaning of 0 and 1 if the two columns are numbered in this way: `response_0`, `response_1`."""
    names = pair.systems or pair.outputs or ("", "")
    zero, one = (plain(name).endswith(end) for name, end in zip(names, NUMBERED, strict=True))
    return dict(zip(NUMBERED, (FIRST, SECOND), strict=True)) if zero and one else {}


def holds_votes(row: Mapping[str, Any], negative: bool = False) -> bool:
    """Return whether the first row looks like a vote; `negative` says that the file has small negative numbers, as in
    scales.
    """
    bare = _bare_sides([row]) if row else {}
    row = _both_named({bare.get(name, name): value for name, value in row.items()})
    if {"instruction", "output_1", "output_2", "preference"} <= set(row):
        return False  # AlpacaEval, which has a reader of its own
    pair = find_pair(row)
    if not (pair.systems or pair.outputs):
        return False
    systems = [str(row[name]) for name in pair.systems or ()]
    votes = [row[name] for name in _vote_columns(row)]
    if not votes:
        return set(ONE_HOT) <= set(row) or (negative and bool(_scales([row], pair, known=True)))
    if _numbered(pair):
        return any(_vote_text(v) in NUMBERED for v in votes)
    return any(_scaled(v) is not None or plain(str(v)) in MEANING or str(v) in systems for v in votes)


def _both_named(row: Mapping[str, Any]) -> dict[str, Any]:
    """Expand two records of outputs in a list to columns NAME_0 and NAME_1, and columns winner and loser to systems.

    These are in alphabetical order, since the presentation order is unknown.
    """
    for name, value in row.items():
        if isinstance(value, list) and len(value) == 2 and all(isinstance(record, dict) for record in value):
            both = {f"{key}_{side}": v for side, record in enumerate(value) for key, v in record.items()}
            if not find_pair(row).outputs and find_pair(both).outputs:
                row = {key: v for key, v in row.items() if key != name} | both
    by_name = {plain(name): name for name in row}
    if not {"winner", LOSER} <= set(by_name) or find_pair(row).systems:
        return dict(row)
    first, second = sorted(str(row[by_name[name]]) for name in ("winner", LOSER))
    return {**row, "model_a": first, "model_b": second}


def _scaled(value: Any) -> float | None:
    """Return a value of a preference scale around 0, or None if it is not one."""
    try:
        value_read = float(str(value))
    except ValueError:
        return None
    return value_read if abs(value_read) <= 5 and value_read == int(value_read) else None


def _scales(rows: Sequence[Mapping[str, Any]], pair: PairColumns, known: bool = False) -> list[str]:
    """Return the columns that are preference scales: whole numbers around 0. `known` says that some values are
    negative.
    """
    roles = {column_of(role, rows[0]) for role in ("input", "rater", "aspect", "source")}
    names = [n for n in rows[0] if n not in {*(pair.systems or ()), *(pair.outputs or ()), *roles}]
    scales = []
    for name in names:
        given = [r[name] for r in rows if r[name] is not None and str(r[name]).strip()]
        points = [v for v in map(_scaled, given) if v is not None]
        if points and len(points) == len(given) and (known or min(points) < 0 < max(points)):
            scales.append(name)
    return scales


def _vote_columns(names: Mapping[str, Any]) -> list[str]:
    return [name for name in names if VOTE.match(name) and name.lower() not in ONE_HOT]


def _vote_text(vote: Any) -> str:
    """Return the text of a vote: 0.0 is '0', also in a file of texts."""
    return "" if vote is None else label_text(vote).strip().removesuffix(".0")


def _votes(row: Mapping[str, Any], columns: Sequence[str]) -> list[tuple[str, str | None, str, Any]]:
    """Return the votes of a row as (aspect, annotator from the column's name, column, vote)."""
    if not columns:
        won = [
            meaning
            for name, meaning in zip(ONE_HOT, ("a", "b", "tie"), strict=True)
            if str(row[name]).lower() in ("1", "1.0", "true")
        ]
        return [("preference", None, ONE_HOT[0], won[0] if len(won) == 1 else None)]
    votes = []
    for column in columns:
        match = VOTE.match(column)
        question = (match["before"] or match["after"] or match["said"] or "") if match else column
        question = "" if WHICH.match(question) else question
        # human_winner and gpt4_winner are two annotators of one aspect; coherence_winner is an aspect.
        aspect = "" if is_model(question) else ANNOTATOR_WORDS.sub("", question).strip(" _.-")
        voter = question if question and not aspect else None
        votes.append((aspect or "preference", voter, column, row[column]))
    return votes


def _check_numbers(table: RawTable, column: str, votes: Sequence[Any], meanings: Mapping[str, str]) -> bool:
    """Return whether the votes are on a scale around 0, and raise an error if their meaning is ambiguous.

    The user must declare which side negative numbers prefer, and whether 0 and 1 mean tie and first, or first and
    second.
    """
    scale = [v for v in map(_scaled, votes) if v is not None]
    if scale and min(scale) < 0:
        if meanings.get("negative") not in (FIRST, SECOND):
            raise DataError(
                f"{table.where.at(None, column)}: numbers from {min(scale):g} to {max(scale):g}. Declare which output "
                "negative numbers prefer with "
                f"{option('reader', PAIRWISE.format('negative=first'))}, or 'negative=second'."
            )
        return True
    texts = {text for v in votes if (text := _vote_text(v))}
    if texts <= {"0", "0.5", "1"} and "0" in texts and "0" not in meanings:
        only, say = ("0 and 1", "0=first,1=second")
        if "0.5" in texts:
            only, say = ("0, 0.5 and 1", "0=first,0.5=tie,1=second")
        raise DataError(
            f"{table.where.at(None, column)}: has only {only}, which is ambiguous; "
            f"declare the meaning with {option('reader', PAIRWISE.format(say))}."
        )
    return False


def _by_sign(where: str, vote: Any, negative: str) -> str:
    value = _scaled(vote)
    if value is None:
        raise DataError(f"{where}: found {shown(str(vote))}, expected a whole number from -5 to 5.")
    if value == 0:
        return TIE
    return negative if value < 0 else SECOND if negative == FIRST else FIRST


def _says_sides(names: set[str], votes: Iterable[Any]) -> bool:
    """Return whether votes name sides although a system has the name of a side (such as B).

    This is so if some votes name a side that is not a system, and no vote names a system otherwise.
    """
    texts = {str(vote) for vote in votes if vote is not None}
    words = {v for v in texts if MEANING.get(plain(v)) in (FIRST, SECOND)}
    return bool(words & names) and bool(words - names) and not (texts & names) - words


def _meaning(where: str, vote: str, meanings: Mapping[str, str], named: tuple[str, ...] | None) -> str:
    """Return what a vote prefers.

    `named` holds the two systems if votes may name them, and None for a scale around 0.
    """
    return _by_sign(where, vote, meanings["negative"]) if named is None else _preferred(where, vote, named, meanings)


def _notes(
    counts: Mapping[str, int], names: Iterable[str], signed: Iterable[str], meanings: Mapping[str, str]
) -> list[str]:
    notes = [f"{n} {what}" for what, n in counts.items()]
    notes += [f"'{c}': negative numbers prefer the {meanings['negative']} output, 0 is a tie" for c in signed]
    if LOSER in {plain(c) for c in names}:
        notes.append("columns winner and loser: the presentation order is unknown")
    return notes


def _only_votes(table: RawTable) -> bool:
    """Return whether a table contains systems and votes but nothing about the outputs, so that it can be read by
    column.
    """
    columns = table.frame.columns
    pair = find_pair(columns)
    others = [column_of(role, columns) for role in ("source", "context", "control")]
    return bool(
        pair.systems
        and not pair.outputs
        and table.frame.height
        and _vote_columns(dict.fromkeys(columns))
        and not (table.nested or any(others) or any(plain(c) in {*SETS, "turn"} for c in columns))
        and not any(kind.is_nested() for kind in table.frame.dtypes)
    )


def _by_columns(table: RawTable, name: str, votes: Mapping[str, str] | str | None) -> Dataset:
    """Read a table without outputs with the same result as `Pairwise.of`, but convert each distinct vote on two systems
    only once.
    """
    frame, pair = table.frame, find_pair(table.frame.columns)
    assert pair.systems
    columns = _vote_columns(dict.fromkeys(frame.columns))
    meanings = _numbered(pair) | option_map("votes", votes)
    given = {c: frame[c].unique(maintain_order=True).to_list() for c in (*columns, *pair.systems)}
    signed = [column for column in columns if _check_numbers(table, column, given[column], meanings)]
    names = {str(system) for c in pair.systems for system in given[c]}
    sides = {column for column in columns if _says_sides(names, given[column])}
    inputs, raters, aspects = (column_of(role, frame.columns) for role in ("input", "rater", "aspect"))
    place = pl.int_range(frame.height, dtype=pl.Int64, eager=True).alias("place")
    rows = pl.DataFrame(
        [
            place,
            (as_text(frame[inputs]).fill_null("None") if inputs else place.cast(pl.String)).alias("input"),
            *(as_text(frame[c], str).fill_null("None").alias(n) for n, c in zip(TWO, pair.systems, strict=True)),
        ]
    )
    nobody = pl.repeat(None, frame.height, dtype=pl.String, eager=True)
    rater = as_text(frame[raters]) if raters else nobody
    voted, kinds = _votes(dict.fromkeys(frame.columns), columns), []
    for number, (_, _, column, _) in enumerate(voted):
        equal = rows.select("place", *TWO).with_columns(frame[column].alias("vote")).group_by("vote", *TWO)
        kinds.append(equal.agg(pl.col("place").min(), pl.len()).with_columns(pl.lit(number).alias("column")))
    preferred, counts = list[str | None](), Counter[str]()
    every = pl.concat([k.with_columns(as_text(k["vote"], _vote_text).alias("text")).drop("vote") for k in kinds])
    for row in (ordered := every.with_row_index("at").sort("place", "column")).iter_rows(named=True):
        column, vote = voted[row["column"]][2], row["text"]
        if not vote:
            counts["rows without a vote were left out"] += row["len"]
            preferred.append(None)
            continue
        named = () if column in sides else (row["first"], row["second"])
        where = table.where.at(row["place"], column)
        preferred.append(_meaning(where, vote, meanings, None if column in signed else named))
        if preferred[-1] == TIE and plain(vote) != "tie":
            counts[f"votes '{vote}' are read as ties"] += row["len"]
    meaning = ordered.select("at", pl.Series("preferred", preferred, pl.String)).sort("at")["preferred"]
    parts, start = [], 0
    for (aspect, who, column, _), kind in zip(voted, kinds, strict=True):
        read = kind.select("vote", *TWO).with_columns(meaning.slice(start, len(kind)).alias("preferred"))
        start += len(kind)
        about = pl.repeat(aspect, frame.height, dtype=pl.String, eager=True)
        about = as_text(frame[aspects], str).zip_with(frame[aspects].is_not_null(), about) if aspects else about
        voter = pl.repeat(who, frame.height, dtype=pl.String, eager=True) if who else rater
        part = rows.with_columns(frame[column].alias("vote"), about.alias("aspect"), voter.alias("rater"))
        part = part.join(read, on=["vote", *TWO], how="left", nulls_equal=True, maintain_order="left")
        parts.append(part.select("place", *Dataset.COMPARISONS).drop_nulls("preferred"))
    comparisons = parts[0] if len(parts) == 1 else pl.concat(parts).sort("place", maintain_order=True)
    notes = _notes(counts, frame.columns, signed, meanings)
    return dataset_of_votes(name, rows, comparisons.drop("place"), notes)


def _preferred(where: str, vote: str, named: tuple[str, ...], meanings: Mapping[str, str]) -> str:
    """Return what a vote prefers; `named` holds the two systems if votes may name them."""
    vote = meanings.get(vote.lower(), vote)
    by_name = (FIRST, SECOND)[named.index(vote)] if vote in named else None
    meaning = MEANING.get(plain(vote))
    if by_name and meaning and by_name != meaning:
        raise DataError(
            f"{where}: '{vote}' names the {by_name} system but reads as the {meaning} side; "
            f"declare votes='{vote}={by_name}'."
        )
    if by_name or meaning:
        return by_name or meaning or TIE
    or_named = "".join(f", '{name}'" for name in named)
    raise DataError(
        f"{where}: found {shown(vote)}, expected a, b, tie, both, neither, left, right, 1, 2, 0{or_named}; or declare "
        f"its meaning: votes='{vote}=first'."
    )
