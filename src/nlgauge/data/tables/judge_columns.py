"""Columns with the name of a rating that are a judge's or a program's, inferred from their values and other columns.

`verdict` in all rows and `label` in few: annotators label some rows, a judge all. `correctness` and
`human_correctness`. `data.provenance` decides who gave a column's judgments; likely annotations are not metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from nlgauge.data.provenance import (
    Provenance,
    any_number,
    are_vote_shares,
    column_source,
    is_human,
    is_judge,
    likely_annotation,
    only_programs,
)
from nlgauge.data.tables.rating_columns import (
    HumanColumns,
    from_human_marker,
    is_aspect,
    kind_of,
    levels,
    plainly,
    raters_in_columns,
    scores_too,
)
from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.values import is_number_list, parse_column
from nlgauge.data.tables.vocabulary import ASIDE, DOUBTFUL, LABELS, PROGRAMS, plain, quoted, tokens, words_of
from nlgauge.options import option

SPARSE, FULL = 0.8, 0.9  # shares of the rows that have a value


def judge_columns(table: RawTable, columns: Sequence[str], labels_external: bool = False) -> dict[str, str]:
    """Return column → why it is read as a judge's. `labels_external`: human labels are in another file."""
    persons = [c for c in columns if is_human(from_human_marker(c))]
    open_ones = [c for c in columns if c not in persons and (is_aspect(c) or kind_of(c)[0] == "weak")]
    if labels_external:
        strong = [c for c in columns if c not in persons and kind_of(c)[0] == "strong"]
        return dict.fromkeys([*open_ones, *strong], "the human labels are in the other file")
    aspects = {plain(_aspect(c)): c for c in persons}
    reasons = {c: f"'{aspects[plain(_aspect(c))]}' is human" for c in open_ones if plain(_aspect(c)) in aspects}
    free = [c for c in open_ones if c not in reasons]
    share = {c: _filled(table, c) for c in [*persons, *open_ones]}
    sparse = [c for c in [*persons, *free] if share[c] < SPARSE]
    if sparse:
        full = [c for c in free if share[c] > FULL]
        alone = not reasons and not _others(table, columns, [*persons, *open_ones])
        rows = table.frame.height
        reason = f"in {{}} of {rows:,} rows, '{sparse[0]}' in {share[sparse[0]] * rows:,.0f}"
        return reasons | {c: reason.format(f"{share[c] * rows:,.0f}") for c in full if alone or _like_verdict(table, c)}
    verdicts = [c for c in free if _like_verdict(table, c)]
    labels = [c for c in verdicts if LABELS.intersection(words_of(c))]
    if not persons and labels and not _others(table, columns, open_ones):
        reasons |= {c: f"'{labels[0]}' is more likely human" for c in verdicts if c not in labels}
    return reasons


def judge_guesses(judges: Mapping[str, str]) -> Iterable[str]:
    """Yield notes for the summary, each with the option that changes the role."""
    for column, why in judges.items():
        yield f"'{column}' is read as a judge or metric ({why}); if it is human: {option('human', [f'+{column}'])}"


def _aspect(column: str) -> str:
    return kind_of(column)[1] or plainly(column) or column


def _filled(table: RawTable, column: str) -> float:
    numbers = parse_column(table, column)
    values = table.frame[column] if numbers is None else numbers.values
    return 1 - values.null_count() / max(1, len(values))


def _like_verdict(table: RawTable, column: str) -> bool:
    """Return whether a column has two values, or a name that is used for both annotators and judges."""
    return not is_aspect(column) or plain(column) in DOUBTFUL or len(levels(table, column) or ()) <= 2


def _others(table: RawTable, columns: Sequence[str], named: Sequence[str]) -> list[str]:
    """Return the columns that have the name of a metric, or at least not the name of a human rating."""
    raters = raters_in_columns(table, columns, {}, HumanColumns())
    taken = {*named, *(c for pairs in raters.values() for _, c in pairs)}
    return [c for c in columns if c not in taken and not ASIDE.match(c) and not kind_of(c)[0]]


# --- provenance of the columns of a table ---

CODING_SCHEME = 4  # columns with the same two values that are not named like metrics
Human = Mapping[str, tuple[tuple[str | None, str], ...]]  # aspect -> (annotator or None, column)


def annotators(rater: str | None) -> str:
    """Return how a note names the annotator column."""
    return f"the annotator column '{rater}'" if rater else ""


def without_programs(
    table: RawTable, people: HumanColumns, requested: Sequence[str], rater: str | None
) -> tuple[dict[str, Provenance], dict[str, str]]:
    """Remove the columns of models and programs from `people`; return the other sources, and the reasons."""
    mixed = _programs_among(table, people.human, requested)
    people.human = {a: tuple(p for p in pairs if p[1] not in mixed) for a, pairs in people.human.items()}
    sources = _rating_sources(table, people.human, requested, rater)
    programs = {a: s for a, s in sources.items() if s.kind in ("model", "program")}
    not_human = mixed | {c: programs[a].how for a, pairs in people.human.items() if a in programs for _, c in pairs}
    people.human = {a: pairs for a, pairs in people.human.items() if a not in programs}
    people.single = {c: what for c, what in people.single.items() if c not in not_human}
    return {a: s for a, s in sources.items() if a not in programs}, not_human


def _programs_among(table: RawTable, human: Human, requested: Sequence[str]) -> dict[str, str]:
    """Return the columns of models and programs, each with the reason, next to a column of the same aspect whose name
    says that it is human.
    """
    programs: dict[str, str] = {}
    for pairs in human.values():
        columns = [column for _, column in pairs]
        each = {c: column_source(c, table.frame.columns, None, declared=c in requested) for c in columns}
        if any(source.kind == "human" for source in each.values()):
            programs |= {c: source.how for c, source in each.items() if source.kind in ("model", "program")}
    return programs


def _rating_sources(
    table: RawTable, human: Human, requested: Sequence[str], rater: str | None
) -> dict[str, Provenance]:
    """Return the source (human, model, program or unknown) of the judgments on each aspect.

    If an aspect has several columns, use the one that is least likely to be human.
    """
    sources: dict[str, Provenance] = {}
    for aspect, pairs in human.items():
        columns = [c for _, c in pairs]
        several = f"the columns of {len(columns)} annotators" if len(columns) > 1 else annotators(rater)
        each = []
        for column in columns:
            read = None if is_number_list(table.frame[column]) else parse_column(table, column)
            values = None if read is None else read.values.cast(pl.Float64).to_numpy()
            each.append(
                column_source(column, table.frame.columns, values, declared=column in requested, annotators=several)
            )
        sources[aspect] = min(each, key=lambda s: ("model", "program", "unknown", "human").index(s.kind))
        group = columns[0].rpartition(".")[0]
        may_be = sources[aspect].kind == "unknown" and not any_number(columns[0])
        if may_be and group and (other := _program_beside(table, group, columns)):
            sources[aspect] = Provenance("program", f"next to '{other}', which has decimals that only a program gives")
    return sources


def _program_beside(table: RawTable, group: str, columns: Sequence[str]) -> str:
    """Return a column that a program computed in the same record (`scores.…`); empty if there is none."""
    others = [c for c in table.frame.columns if c not in columns and c.rpartition(".")[0] == group]
    for other in others:
        read = parse_column(table, other)
        if read is not None and only_programs(read.values.cast(pl.Float64).to_numpy()):
            return other
    return ""


def likely_annotations(table: RawTable, human: Human, columns: Sequence[str]) -> dict[str, str]:
    """Return columns that are likely human annotations, or derived from the ratings, and why."""
    ratings = []
    for pairs in human.values():
        read = [parse_column(table, c) for _, c in pairs if not is_number_list(table.frame[c])]
        values = [r.values.cast(pl.Float64).to_numpy() for r in read if r is not None]
        if values:
            ratings.append(np.mean(values, axis=0))
    leaks: dict[str, str] = {}
    few: dict[tuple[float, ...], list[str]] = {}
    shares: list[str] = []
    for column in columns if ratings else ():
        named = is_judge(column) or any(PROGRAMS.match(word) for word in tokens(column))
        if named or scores_too(column, table.frame.columns):
            continue
        numbers = parse_column(table, column)
        if numbers is None:
            continue
        scores = numbers.values.cast(pl.Float64).to_numpy()
        reason = next((why for rating in ratings if (why := likely_annotation(scores, rating))), "")
        if reason:
            leaks[column] = reason
        elif any(are_vote_shares(scores, rating) for rating in ratings):
            shares.append(column)
        elif len(np.unique(scores[np.isfinite(scores)][:1000])) <= 2 and (
            len(two := np.unique(scores[np.isfinite(scores)])) == 2
        ):
            few.setdefault(tuple(two.tolist()), []).append(column)
    if len(shares) >= CODING_SCHEME:
        why = f"{len(shares)} columns are shares of votes, with the same values as means of the annotators"
        leaks |= dict.fromkeys(shares, why)
    for names in few.values():
        if len(names) >= CODING_SCHEME:
            leaks |= dict.fromkeys(names, f"{len(names)} columns have the same two values, as in a coding scheme")
    return leaks


def not_human_lines(columns: Mapping[str, str]) -> Iterable[str]:
    """Yield notes for the summary on columns with the name of an aspect that are not human."""
    for why in dict.fromkeys(columns.values()):
        names = [c for c, reason in columns.items() if reason == why]
        yield (
            f"{quoted(names)} {'is' if len(names) == 1 else 'are'} not read as human ({why}); if "
            f"{'it is' if len(names) == 1 else 'they are'}: {option('human', [f'+{c}' for c in names])}"
        )
