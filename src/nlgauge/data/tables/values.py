"""Conversion of columns to numbers: plain numbers, decimal commas, words (pass, fail), and numbers with a suffix (85%,
4/5).

The summary of the data mentions every conversion of values other than plain numbers (`Numbers.how`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from nlgauge.data.tables.raw import RawTable
from nlgauge.data.tables.words import bare_words, of_what, worth_of
from nlgauge.errors import DataError
from nlgauge.options import SOME, option

BLANKS = ["", "na", "n/a", "nan", "none", "null", "-", "?", ".", "<na>", "#n/a"]
LARGEST = 1e150  # whose square is a number
LOOK = 200  # values
MAX_WORDS = 12  # more different ones are texts
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
COMMA = r"^[+-]?(?:(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d+)?(?:[eE][+-]?\d+)?|(?i:inf|infinity))$"  # 0,403 or 1.234,5
THOUSANDS = r"^[+-]?(?:\d{1,3}(?:,\d{3})*(?:\.\d+)?|(?i:inf|infinity))$"  # 1,234.5
GRADES = rf"^({NUMBER})\s*(?:%|/\s*\d+|[-–:=)]\s*\p{{L}}.*|\(\s*\p{{L}}.*\)|\s(?:stars?|points?|out of \d+))$"


@dataclass(frozen=True)
class Numbers:
    """A column read as numbers; null where there is none."""

    values: pl.Series
    how: str = ""  # for the summary
    missing: str = ""  # labels that mean missing, for the summary
    infinite: int = 0  # left out, like values that are too large
    large: int = 0
    wrong: int | None = None  # the first row with another value
    doubt: str = ""  # why it is not read, though it looks numeric
    answers: Mapping[str, float] = field(default_factory=dict)  # values of yes and no, high and low


def read_numbers(series: pl.Series, label_values: Mapping[str, float] | None = None) -> Numbers | None:
    """Return the column as numbers, or None; in a column of numbers, a stray word is an error."""
    if series.dtype == pl.Boolean:
        if series.null_count() == len(series):
            return None
        return Numbers(series.cast(pl.Float64), "true = 1, false = 0", answers={"true": 1.0, "false": 0.0})
    if series.dtype.is_numeric():
        return None if series.null_count() == len(series) else _finite(series.cast(pl.Float64))
    if series.dtype != pl.String:
        return None
    clean = blank_to_null(series)
    numbers = _of_texts(clean, label_values or {})
    return None if numbers is None else replace(numbers, missing=_missing(series, clean))


def _of_texts(clean: pl.Series, label_values: Mapping[str, float]) -> Numbers | None:
    not_null = clean.is_not_null()
    filled = int(not_null.sum())
    if not filled:
        return None
    values = clean.cast(pl.Float64, strict=False)
    read = filled - int((values.is_null() & not_null).sum())
    if read == filled:
        return _finite(values)
    # Every value must fit, so the first few values suffice to recognize most texts.
    sample = clean.drop_nulls().head(LOOK)
    few = sample.n_unique() <= MAX_WORDS + len(label_values)
    digits = bool(sample.str.contains(r"^(?:[+-]?[.\d]|(?i:[+-]?inf))").all())
    return (
        (_of_said_words(clean, label_values) if few and label_values else None)
        or (_with_commas(clean) if digits else None)
        or (_of_words(clean) if few else None)
        or (_graded(clean) if digits else None)
        or (_finite(values, int((values.is_null() & not_null).arg_max() or 0)) if read >= 0.8 * filled else None)
    )


def blank_to_null(series: pl.Series) -> pl.Series:
    """Return stripped texts; blank ones become null."""
    stripped = series.str.strip_chars()
    return stripped.set(stripped.str.to_lowercase().is_in(BLANKS), None)


def _finite(values: pl.Series, wrong: int | None = None, how: str = "") -> Numbers:
    values = values.fill_nan(None)
    beyond = (values.abs() > LARGEST).fill_null(False)
    infinite = int(values.is_infinite().sum())
    return Numbers(values.set(beyond, None), how, infinite=infinite, large=int(beyond.sum()) - infinite, wrong=wrong)


def _with_commas(clean: pl.Series) -> Numbers | None:
    """Read `0,403` if all values of the column have this form; 1,234 is ambiguous and not read."""
    filled = clean.drop_nulls()
    if not filled.str.contains(",", literal=True).any():
        return None
    commas = bool(filled.str.contains(COMMA).all())
    thousands = bool(filled.str.contains(THOUSANDS).all())
    if not (commas or thousands):
        return None
    # A zero before the comma, or other than three digits after it, is not a thousands separator.
    if thousands and not filled.str.contains(r"^[+-]?0\d*,").any():
        example = filled.filter(filled.str.contains(",", literal=True))[0]
        values = clean.str.replace_all(",", "", literal=True).cast(pl.Float64, strict=False)
        if filled.str.contains(r",\d{3}(,|\.)").any():  # 1,234,567 or 1,234.5
            return _finite(values, how=f"thousands separators ({example})")
        fewer, more = example.replace(",", "."), example.replace(",", "")
        return Numbers(values, doubt=f"'{example}' may be {fewer} or {more}; use a decimal point or no comma")
    pointed = clean.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
    values = pointed.cast(pl.Float64, strict=False)
    example = filled.filter(filled.str.contains(",", literal=True))[0]
    return _finite(values, how=f"decimal commas ({example})")


def _of_said_words(clean: pl.Series, label_values: Mapping[str, float]) -> Numbers | None:
    """Convert labels with declared values to numbers; all other values must be numbers or known labels."""
    words = clean.str.to_lowercase()
    each = words.unique().drop_nulls().to_list()
    rest = [w for w in each if w not in label_values]
    if len(rest) == len(each):
        return None
    other = {w: float(w) for w in rest} if all(map(_is_float, rest)) else worth_of(rest)
    if other is None:
        return None
    mapped = {w: other[w] if w in other else label_values[w] for w in each}
    declared = {w: v for w, v in mapped.items() if w in label_values or not _is_float(w)}
    return _worded(words, mapped, declared)


def _of_words(clean: pl.Series) -> Numbers | None:
    """Convert labels to numbers if all of them belong to one known list."""
    mapped = worth_of(bare_words(clean.unique()).unique().drop_nulls().to_list())
    if mapped is None:
        return None
    read = _worded(bare_words(clean), mapped, mapped)
    return replace(read, answers=mapped) if of_what(mapped) and set(mapped) != {"good", "bad"} else read


def _worded(words: pl.Series, mapped: Mapping[str, float], shown: Mapping[str, float]) -> Numbers:
    values = words.replace_strict(mapped, return_dtype=pl.Float64).fill_nan(None)
    best = sorted(((w, v) for w, v in shown.items() if not math.isnan(v)), key=lambda pair: -pair[1])
    left = [f"'{w}' is missing" for w, v in shown.items() if math.isnan(v)]
    return Numbers(values, ", ".join([*(f"{w} = {v:g}" for w, v in best), *left]))


def _is_float(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def _missing(series: pl.Series, clean: pl.Series) -> str:
    """Describe rows with a word for missing: "12 rows 'n/a' are missing"."""
    if series.null_count() == clean.null_count():
        return ""
    words = series.filter(clean.is_null()).str.strip_chars()
    counts = words.filter(words != "").value_counts(sort=True)
    if counts.is_empty():
        return ""
    shown = ", ".join(f"{n:,} row{'s' * (n > 1)} '{word}'" for word, n in counts.head(3).iter_rows())
    n = int(counts["count"].sum())
    return f"{shown}{', …' * (counts.height > 3)} {'are' if n > 1 else 'is'} missing"


def _graded(clean: pl.Series) -> Numbers | None:
    """Return the leading number of values such as `4/5`, `4 - good`, `85%` or `3 stars`, if every
    value has this form.
    """
    filled = clean.drop_nulls()
    behind = filled.str.contains(GRADES)
    plain = filled.str.contains(rf"^{NUMBER}$")
    if not behind.any() or not (behind | plain).all():
        return None
    scales = filled.str.extract(r"(?:/|out of)\s*(\d+)").drop_nulls().unique()
    example = filled.filter(behind)[0]
    values = clean.str.extract(rf"^({NUMBER})").cast(pl.Float64, strict=False)
    if len(scales) > 1 or (filled.str.contains("%", literal=True).any() and plain.any()):
        return Numbers(values, doubt=f"'{example}' is on another scale than other values; use one scale")
    if len(scales) and (values.drop_nulls() > float(scales[0])).any():
        return Numbers(values, doubt=f"'{example}' exceeds its own scale; if these are dates, they are not scores")
    return _finite(
        values, how=f"the leading number ('{_short(example)}' is {values.drop_nulls()[int(behind.arg_max() or 0)]:g})"
    )


def _short(text: str) -> str:
    return text if len(text) < 24 else text[:21] + "..."


# --- in a table -----------------------------------------------------------------------------------------------------


def parse_column(table: RawTable, column: str) -> Numbers | None:
    """Return a column as numbers, parsed once."""
    if column not in table.known:
        table.known[column] = read_numbers(table.frame[column], table.worth)
    numbers: Numbers | None = table.known[column]
    return numbers


def is_number_list(series: pl.Series) -> bool:
    """Return whether a column has lists of numbers."""
    return isinstance(series.dtype, pl.List) and series.dtype.inner.is_numeric()


def is_number_column(series: pl.Series) -> bool:
    """Return whether a column has numbers, or texts that are numbers."""
    return is_number_list(series) or read_numbers(series) is not None


def few_words(series: pl.Series, recur: bool = True) -> list[str]:
    """Return the different words of a column with only a few short ones, most frequent first; else none.

    `recur`: one at least must stand in two rows; without that, none may be a number.
    """
    if series.dtype != pl.String:
        return []
    counts = blank_to_null(series).drop_nulls().value_counts(sort=True)
    words: list[str] = counts[:, 0].to_list()
    fits = 0 < len(words) <= MAX_WORDS and max(map(len, words)) <= 30
    again = counts["count"].sum() > len(words)
    return words if fits and (again or not (recur or any(map(_is_float, words)))) else []


def values_to_fill(words: Sequence[str]) -> dict[str, str]:
    """Return a mapping of labels to numbers for the user to fill in."""
    return dict.fromkeys(words, SOME)


def numbers(table: RawTable, column: str) -> pl.Series:
    """Return the column as floats, null if missing; other values are refused with their line."""
    parsed = parse_column(table, column)
    series = table.frame[column]
    filled = blank_to_null(series) if series.dtype == pl.String else series
    if parsed is None and filled.null_count() == len(filled):
        return pl.Series(series.name, [None] * len(series), pl.Float64)
    if parsed is None:
        words = few_words(series, recur=False)
        if words and {word.lower() for word in words} <= {"true", "false"}:  # as a column of Booleans in other formats
            return (filled.str.to_lowercase() == "true").cast(pl.Float64).alias(series.name)
        if words:
            raise DataError(
                f"{table.where.at(None, column)}: found the labels {', '.join(words)}, expected numbers; "
                f"map them with {option('values', values_to_fill(words))}."
            )
        if series.dtype != pl.String:
            raise DataError(f"{table.where.at(None, column)}: found {series.dtype}, expected numbers.")
        clean = blank_to_null(series)
        bad = (clean.is_not_null() & clean.cast(pl.Float64, strict=False).is_null()).arg_max()
        raise DataError(_stray(table, column, int(bad or 0)))
    if parsed.doubt:
        raise DataError(f"{table.where.at(None, column)}: {parsed.doubt}.")
    if parsed.wrong is not None:
        raise DataError(_stray(table, column, parsed.wrong))
    return parsed.values


def _stray(table: RawTable, column: str, row: int) -> str:
    value = table.frame[column][row]
    value = value if len(value) < 40 else value[:37] + "..."
    hint = " Use a decimal point." if value.count(",") == 1 and value.replace(",", "").isdigit() else ""
    return f"{table.where.at(row, column)}: found '{value}', expected a number or an empty cell.{hint}"


# --- names and texts ---

LABEL = 60  # longest name, in characters
WORDS = 5  # fewest words of a text


def has_blanks(series: pl.Series) -> bool:
    """Return whether some value of a column has several words."""
    return series.dtype.is_nested() or bool(series.cast(pl.String, strict=False).str.contains(r"\S\s+\S").any())


def is_text(series: pl.Series) -> bool:
    """Return whether most values have more words than names have."""
    if series.dtype != pl.String:
        return series.dtype.is_nested()
    blanks = series.str.strip_chars().str.count_matches(r"\s+").median()
    return isinstance(blanks, float) and blanks + 1 >= WORDS


def is_label(series: pl.Series) -> bool:
    """Return whether values are names: short, and not all different."""
    if series.dtype.is_nested():
        return False
    text = series.cast(pl.String, strict=False).drop_nulls()
    return 0 < text.n_unique() < len(text) and is_short(text)


def is_short(series: pl.Series) -> bool:
    """Return whether values are short enough for names."""
    longest = series.cast(pl.String, strict=False).str.len_chars().max()
    return isinstance(longest, int) and longest <= LABEL
