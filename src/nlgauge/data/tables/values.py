"""Columns as numbers: plain ones, with decimal commas, in words (pass, fail), with a sign behind (85%, 4/5), or none at all.

Whatever is more than a plain number is said in the card: `Numbers.how`.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from nlgauge.data.tables.raw import RawTable
from nlgauge.errors import DataError

BLANKS = ["", "na", "n/a", "nan", "none", "null", "-", "?", ".", "<na>", "#n/a"]
# Words that stand for 1 and 0. Of the first group no one means anything but good and bad.
VERDICTS = {
    "pass": "fail", "passed": "failed", "good": "bad", "correct": "incorrect", "right": "wrong", "acceptable": "unacceptable",
    "ok": "not ok", "success": "failure", "thumbs up": "thumbs down", "thumbs_up": "thumbs_down", "👍": "👎",
}  # fmt: skip
ANSWERS = {"yes": "no", "y": "n", "true": "false"}
WORTH = {
    **dict.fromkeys([*VERDICTS, *ANSWERS], 1.0),
    **dict.fromkeys([*VERDICTS.values(), *ANSWERS.values()], 0.0),
}
LOOK = 200  # values
MOST_WORDS = 12  # more different ones are texts
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
COMMA = (
    r"^[+-]?(?:(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?(?:[eE][+-]?\d+)?|(?i:inf|infinity))$"  # 0,403 or 1.234,5
)
THOUSANDS = r"^[+-]?(?:\d{1,3}(?:,\d{3})*(?:\.\d+)?|(?i:inf|infinity))$"  # 1,234.5
GRADES = rf"^({NUMBER})\s*(?:%|/\s*\d+|[-–:=)]\s*\p{{L}}.*|\(\s*\p{{L}}.*\)|\s(?:stars?|points?|out of \d+))$"


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers; null where there is none."""

    values: pl.Series
    how: str = ""  # for the card
    infinite: int = 0
    wrong: int | None = None  # the first row that holds something else
    doubt: str = ""  # why it must not be read, though it looks like numbers
    answers: bool = False  # yes and no, true and false: of what?


def read_numbers(series: pl.Series, worth: Mapping[str, float] | None = None) -> Numbers | None:
    """The column as numbers, or None. A column of numbers with a stray word is one: the word is then an error."""
    if series.dtype == pl.Boolean:
        if series.null_count() == len(series):
            return None
        return Numbers(series.cast(pl.Float64), "true = 1, false = 0", answers=True)
    if series.dtype.is_numeric():
        return None if series.null_count() == len(series) else _finite(series.cast(pl.Float64))
    if series.dtype != pl.String:
        return None
    clean = blank_to_null(series)
    there = clean.is_not_null()
    filled = int(there.sum())
    if not filled:
        return None
    values = clean.cast(pl.Float64, strict=False)
    read = filled - int((values.is_null() & there).sum())
    if read == filled:
        return _finite(values)
    # Every value must fit, so the first few tell most texts apart from numbers without a look at the rest.
    sample = clean.drop_nulls().head(LOOK)
    few = sample.n_unique() <= MOST_WORDS + len(worth or ())
    digits = bool(sample.str.contains(r"^(?:[+-]?[.\d]|(?i:[+-]?inf))").all())
    return (
        (_of_words(clean, worth or {}, said=True) if few else None)
        or (_with_commas(clean) if digits else None)
        or (_of_words(clean, WORTH, said=False) if few else None)
        or (_graded(clean) if digits else None)
        or (_finite(values, int((values.is_null() & there).arg_max() or 0)) if read >= 0.8 * filled else None)
    )


def blank_to_null(series: pl.Series) -> pl.Series:
    stripped = series.str.strip_chars()
    return stripped.set(stripped.str.to_lowercase().is_in(BLANKS), None)


def _finite(values: pl.Series, wrong: int | None = None, how: str = "") -> Numbers:
    values = values.fill_nan(None)
    infinite = values.is_infinite().fill_null(False)
    return Numbers(values.set(infinite, None), how, int(infinite.sum()), wrong)


def _with_commas(clean: pl.Series) -> Numbers | None:
    """`0,403` is read when all values of the column are so; where 1,234 could be a thousand it is not guessed."""
    filled = clean.drop_nulls()
    if not filled.str.contains(",", literal=True).any():
        return None
    commas = bool(filled.str.contains(COMMA).all())
    thousands = bool(filled.str.contains(THOUSANDS).all())
    if not (commas or thousands):
        return None
    # A zero before the comma, or other than three digits behind it, is no thousand.
    if thousands and not filled.str.contains(r"^[+-]?0\d*,").any():
        example = filled.filter(filled.str.contains(",", literal=True))[0]
        values = clean.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)
        if filled.str.contains(r",\d{3}(,|\.)").any():  # 1,234,567 or 1,234.5
            return _finite(values, how=f"commas stand between thousands ({example})")
        fewer, more = example.replace(",", "."), example.replace(",", "")
        return Numbers(
            values, doubt=f"'{example}' may be {fewer} or {more}; write a decimal point or no comma"
        )
    pointed = clean.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    values = pointed.cast(pl.Float64, strict=False)
    example = filled.filter(filled.str.contains(",", literal=True))[0]
    return _finite(values, how=f"decimal commas ({example})")


def _of_words(clean: pl.Series, worth: Mapping[str, float], said: bool) -> Numbers | None:
    """Words by what they are worth; by themselves only the two of one pair."""
    if not worth:
        return None
    words = clean.str.to_lowercase().unique().drop_nulls()
    if len(words) > (MOST_WORDS + len(worth) if said else 2):
        return None
    found = {w: worth[w] if w in worth else _float(w) if said else None for w in words.to_list()}
    if any(value is None for value in found.values()) or not (said or _one_pair(set(found))):
        return None
    values = clean.str.to_lowercase().replace_strict(found, return_dtype=pl.Float64)
    shown = sorted(((w, v) for w, v in found.items() if v is not None and w in worth), key=lambda x: -x[1])
    how = ", ".join(f"{w} = {v:g}" for w, v in shown)
    return Numbers(values, how, answers=not said and set(found) <= {*ANSWERS, *ANSWERS.values()})


def _one_pair(words: set[str]) -> bool:
    verdicts = [*VERDICTS.items(), ("correct", "wrong")]
    return any(words <= set(pair) for pair in verdicts) or any(words == set(pair) for pair in ANSWERS.items())


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _graded(clean: pl.Series) -> Numbers | None:
    """`4/5`, `4 - good`, `85%`, `3 stars`: the number in front, when every value is so."""
    filled = clean.drop_nulls()
    behind = filled.str.contains(GRADES)
    plain = filled.str.contains(rf"^{NUMBER}$")
    if not behind.any() or not (behind | plain).all():
        return None
    scales = filled.str.extract(r"(?:/|out of)\s*(\d+)").drop_nulls().unique()
    example = filled.filter(behind)[0]
    values = clean.str.extract(rf"^({NUMBER})").cast(pl.Float64, strict=False)
    if len(scales) > 1 or (filled.str.contains("%", literal=True).any() and plain.any()):
        return Numbers(values, doubt=f"'{example}' stands beside values on another scale; use one")
    return _finite(
        values,
        how=f"the number in front ('{_short(example)}' is {values.drop_nulls()[int(behind.arg_max() or 0)]:g})",
    )


def _short(text: str) -> str:
    return text if len(text) < 24 else text[:21] + "..."


# --- in a table -----------------------------------------------------------------------------------------------------


def numbers_in(table: RawTable, column: str) -> Numbers | None:
    """Each column is looked at once."""
    if column not in table.known:
        table.known[column] = read_numbers(table.frame[column], table.worth)
    found: Numbers | None = table.known[column]
    return found


def is_number_list(series: pl.Series) -> bool:
    return isinstance(series.dtype, pl.List) and series.dtype.inner.is_numeric()


def is_number_column(series: pl.Series) -> bool:
    return is_number_list(series) or read_numbers(series) is not None


def few_words(series: pl.Series) -> list[str]:
    """The different words of a column that holds only a few short ones, most frequent first; otherwise none."""
    if series.dtype != pl.String:
        return []
    counts = blank_to_null(series).drop_nulls().value_counts(sort=True)
    words: list[str] = counts[:, 0].to_list()
    fits = 0 < len(words) <= MOST_WORDS and max(map(len, words)) <= 30 and counts["count"].sum() > len(words)
    return words if fits else []


def worth_asked(words: Sequence[str]) -> str:
    """
    >>> worth_asked(["bad", "so so"])
    "'bad=…,so so=…'"
    """
    return shlex.quote(",".join(f"{word}=…" for word in words))


def numbers(table: RawTable, column: str) -> pl.Series:
    """The column as floats, null where missing; anything else is refused with its line."""
    found = numbers_in(table, column)
    series = table.frame[column]
    if found is None and series.dtype == pl.String and not blank_to_null(series).drop_nulls().len():
        return pl.Series(series.name, [None] * len(series), pl.Float64)
    if found is None:
        if words := few_words(series):
            raise DataError(
                f"{table.where.at(None, column)}: found the words {', '.join(words)}, expected numbers; "
                f"say what they are worth: --values {worth_asked(words)}."
            )
        if series.dtype != pl.String:
            raise DataError(f"{table.where.at(None, column)}: found {series.dtype}, expected numbers.")
        clean = blank_to_null(series)
        bad = (clean.is_not_null() & clean.cast(pl.Float64, strict=False).is_null()).arg_max()
        raise DataError(_stray(table, column, int(bad or 0)))
    if found.doubt:
        raise DataError(f"{table.where.at(None, column)}: {found.doubt}.")
    if found.wrong is not None:
        raise DataError(_stray(table, column, found.wrong))
    return found.values


def _stray(table: RawTable, column: str, row: int) -> str:
    found = table.frame[column][row]
    found = found if len(found) < 40 else found[:37] + "..."
    hint = " Use a decimal point." if found.count(",") == 1 and found.replace(",", "").isdigit() else ""
    return f"{table.where.at(row, column)}: found '{found}', expected a number (or leave it empty).{hint}"
