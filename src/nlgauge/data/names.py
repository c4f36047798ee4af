"""Normalize names that differ only in invisible characters, and report names that look alike.

Accents may be one character or two (NFC, NFD), spaces have many widths, and some characters have no width: such names
are read in one form. Letters of other scripts that look like Latin ones are not changed, but reported.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

import polars as pl

from nlgauge.errors import Note
from nlgauge.foreign_text import cut, visible

NOT_ASCII = r"[^\x00-\x7f]"
# Zero width, or marks of direction. Joiners (U+200C, U+200D) stay between letters of scripts and emoji that need them.
_UNSEEN = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
    "|[\u200c\u200d](?=[\x00-\x7f]|$)|(?:(?<=^)|(?<=[\x00-\x7f]))[\u200c\u200d]"
)
_BLANKS = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Cyrillic and Greek letters, dashes and quotation marks, and the Latin or ASCII characters that they look like.
_TWINS = str.maketrans(
    "аеорсухіјѕһԁԛԝѵАВЕКМНОРСТУХІЈЅԚԜοριΑΒΕΖΗΙΚΜΝΟΡΤΥΧν‐‑‒–—−’‘ʼ",
    "aeopcyxijshdqwvABEKMHOPCTYXIJSQWopiABEZHIKMNOPTYXv------'''",
)
_VARIANTS = re.compile("[\u200c\u200d\ufe00-\ufe0f]")
MAX_EXAMPLES = 4  # in a note
MAX_NAMES = 20_000  # that are compared


def common_form(name: str) -> str:
    """Return a name with accents as one character, plain spaces and without zero-width characters.

    >>> common_form("cafe\u0301\u200b"), common_form("a\u00a0b"), common_form("t5")
    ('café', 'a b', 't5')
    """
    if name.isascii():
        return name
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", _UNSEEN.sub("", name)))


def common_forms(names: pl.Series) -> pl.Series:
    """Return the names of a column in their common form, stripped; empty names are null."""
    text = names.str.strip_chars()
    if text.str.contains(NOT_ASCII).any():
        different = text.unique().drop_nulls()
        forms = pl.Series([common_form(name) for name in different], dtype=pl.String).str.strip_chars()
        text = text.replace_strict(different, forms, return_dtype=pl.String, default=None)
    return text.set(text == "", None)


def changed_names(names: pl.Series, column: str) -> list[str]:
    """Return a note on how many names of a column are normalized, and how many are merged by that.

    >>> changed_names(pl.Series(["t5", "t5\u200b", "bart"]), "system")
    ["column 'system': 1 of 3 names has invisible characters ('t5⟦U+200B⟧' is read as 't5'); 2 names become 1"]
    """
    given = names.drop_nulls().unique(maintain_order=True)
    if not len(given) or not (given.str.contains(NOT_ASCII) | given.str.contains(r"^\s|\s$")).any():
        return []
    forms = common_forms(given)
    stripped = given.str.strip_chars()
    merged = given.filter(forms.is_duplicated() & forms.is_not_null())
    apart = given.filter((forms != stripped) | (given.is_in(merged.to_list()) & (forms != given)))
    if not len(apart):
        return []
    read = dict(zip(given, forms, strict=True))
    examples = "; ".join(f"{_quoted(name)} is read as {_quoted(read[name] or '')}" for name in apart.head(2))
    end = f"; {len(merged)} names become {forms.filter(forms.is_duplicated()).n_unique()}" if len(merged) else ""
    verb = "have" if len(apart) > 1 else "has"
    note = f"column '{column}': {len(apart)} of {len(given):,} names {verb} invisible characters ({examples}){end}"
    return [Note(note, "names")]


def look_alikes(what: str, names: Iterable[str]) -> list[str]:
    """Return notes on distinct names that look alike, such as those with a letter of another script.

    >>> look_alikes("systems", ["gpt", "g\u0440t"])
    ["systems 'gpt' and 'gрt' (U+0440) look alike but differ; rename one if they are the same"]
    """
    different = list(dict.fromkeys(names))
    if all(map(str.isascii, different)) or len(different) > MAX_NAMES:
        return []
    groups: dict[str, list[str]] = {}
    for name in different:
        groups.setdefault(_skeleton(name), []).append(name)
    alike = [group for group in groups.values() if len(group) > 1]
    notes = [
        f"{what} {_some(group)} look alike but differ; rename one if they are the same"
        for group in alike[:MAX_EXAMPLES]
    ]
    if len(alike) > MAX_EXAMPLES:
        notes.append(f"{len(alike) - MAX_EXAMPLES:,} more groups of {what} look alike")
    return [Note(note, "look_alike") for note in notes]


def _skeleton(name: str) -> str:
    """Normalize a name by its appearance: characters that look alike become equal."""
    plain = unicodedata.normalize("NFKC", _VARIANTS.sub("", common_form(name)).translate(_TWINS))
    return " ".join(plain.translate(_TWINS).split())


def _some(group: Sequence[str]) -> str:
    shown = [_quoted(name) + _points(name) for name in group[:MAX_EXAMPLES]]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _points(name: str) -> str:
    """Return the code points of the visible non-ASCII characters of a name."""
    points = dict.fromkeys(f"U+{ord(sign):04X}" for sign in name if not sign.isascii() and visible(sign) == sign)
    return f" ({', '.join(list(points)[:MAX_EXAMPLES])})" if points else ""


def _quoted(name: str) -> str:
    return f"'{visible(cut(name, 60))}'"
