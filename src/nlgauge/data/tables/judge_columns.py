"""Columns that could be people's by their names, and are a judge's by what stands beside them.

`verdict` in all rows beside `label` in few: people label some, a judge all. `correctness` beside `human_correctness`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from nlgauge.data.provenance import is_model
from nlgauge.data.tables.rating_columns import People, is_aspect, kind_of, levels, of_people, plainly, raters_in_columns
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import numbers_in
from nlgauge.data.tables.vocabulary import ASIDE, DOUBTFUL, HUMAN_PREFIX, LABELS, PERSONS, plain, words_of

SPARSE, FULL = 0.8, 0.9  # shares of the rows that have a value


def judge_columns(table: RawTable, columns: Sequence[str], elsewhere: bool = False) -> dict[str, str]:
    """Column → why it is taken for a judge's. `elsewhere`: people's labels stand in another file."""
    persons = [c for c in columns if _of_person(c)]
    open_ones = [c for c in columns if c not in persons and (is_aspect(c) or kind_of(c)[0] == "weak")]
    if elsewhere:
        strong = [c for c in columns if c not in persons and kind_of(c)[0] == "strong"]
        return dict.fromkeys([*open_ones, *strong], "people's labels come from the other file")
    aspects = {plain(_aspect(c)): c for c in persons}
    found = {c: f"'{aspects[plain(_aspect(c))]}' is people's" for c in open_ones if plain(_aspect(c)) in aspects}
    free = [c for c in open_ones if c not in found]
    share = {c: _filled(table, c) for c in [*persons, *open_ones]}
    sparse = [c for c in [*persons, *free] if share[c] < SPARSE]
    if sparse:
        full = [c for c in free if share[c] > FULL]
        alone = not found and not _others(table, columns, [*persons, *open_ones])
        rows = table.frame.height
        reason = f"in {{}} of {rows:,} rows, '{sparse[0]}' in {share[sparse[0]] * rows:,.0f}"
        return found | {c: reason.format(f"{share[c] * rows:,.0f}") for c in full if alone or _like_verdict(table, c)}
    verdicts = [c for c in free if _like_verdict(table, c)]
    labels = [c for c in verdicts if LABELS.intersection(words_of(c))]
    if not persons and labels and not _others(table, columns, open_ones):
        found |= {c: f"'{labels[0]}' is rather people's, by its name" for c in verdicts if c not in labels}
    return found


def judge_guesses(judges: Mapping[str, str]) -> Iterable[str]:
    """Lines for the card, each with the words that correct it."""
    for column, why in judges.items():
        more = shlex.quote(f"+{column}")
        yield f"'{column}' is read as a judge's or metric's ({why}); if people gave it: --human {more}"


def _of_person(column: str) -> bool:
    """`human_label`, `expert`, `faithfulness (reviewer)`: plainly people's."""
    column = of_people(column)
    if is_model(column):
        return False
    return bool(HUMAN_PREFIX.match(column)) or (
        kind_of(column)[0] in ("strong", "weak") and bool(PERSONS.intersection(words_of(column)))
    )


def _aspect(column: str) -> str:
    return kind_of(column)[1] or plainly(column) or column


def _filled(table: RawTable, column: str) -> float:
    found = numbers_in(table, column)
    values = table.frame[column] if found is None else found.values
    return 1 - values.null_count() / max(1, len(values))


def _like_verdict(table: RawTable, column: str) -> bool:
    """By its name of people and of judges alike, or with two values."""
    return not is_aspect(column) or plain(column) in DOUBTFUL or len(levels(table, column) or ()) <= 2


def _others(table: RawTable, columns: Sequence[str], named: Sequence[str]) -> list[str]:
    """Columns that are metrics by their names, or at least not people's."""
    raters = raters_in_columns(table, columns, {}, People())
    taken = {*named, *(c for pairs in raters.values() for _, c in pairs)}
    return [c for c in columns if c not in taken and not ASIDE.match(c) and not kind_of(c)[0]]
