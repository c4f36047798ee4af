"""Names that look alike: what nobody can see does not distinguish two names, and what hardly anybody sees is reported.

Accents may be one character or two (NFC, NFD), blanks are of many widths, and some characters have no width at all:
such names are read in one form. Letters of other scripts that look like Latin ones are kept, with a remark.
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
MOST = 4  # examples in a remark
MAX_NAMES = 20_000  # that are compared


def common_form(name: str) -> str:
    """Return a name without what nobody sees: accents as one character, plain blanks, nothing of zero width.

    >>> common_form("cafe\u0301\u200b"), common_form("a\u00a0b"), common_form("t5")
    ('café', 'a b', 't5')
    """
    if name.isascii():
        return name
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", _UNSEEN.sub("", name)))


def common_forms(names: pl.Series) -> pl.Series:
    """Return the names of a column in their common form, without blanks around them; what is empty is null."""
    text = names.str.strip_chars()
    if text.str.contains(NOT_ASCII).any():
        different = text.unique().drop_nulls()
        forms = pl.Series([common_form(name) for name in different], dtype=pl.String).str.strip_chars()
        text = text.replace_strict(different, forms, return_dtype=pl.String, default=None)
    return text.set(text == "", None)


def changed_names(names: pl.Series, column: str) -> list[str]:
    """Say how many names of a column are read in another form, and how many become one thereby.

    >>> changed_names(pl.Series(["t5", "t5\u200b", "bart"]), "system")
    ["column 'system': 1 of 3 names differs from how it looks ('t5⟦U+200B⟧' is read as 't5'); 2 names become 1"]
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
    verb = "differ from how they look" if len(apart) > 1 else "differs from how it looks"
    note = f"column '{column}': {len(apart)} of {len(given):,} names {verb} ({examples}){end}"
    return [Note(note, "names")]


def look_alikes(what: str, names: Iterable[str]) -> list[str]:
    """Report names that look alike and are kept apart, such as those with a letter of another script.

    >>> look_alikes("systems", ["gpt", "g\u0440t"])
    ["systems 'gpt' and 'gрt' (U+0440) look alike and are kept apart; rename one if they are the same"]
    """
    found = list(dict.fromkeys(names))
    if all(map(str.isascii, found)) or len(found) > MAX_NAMES:
        return []
    groups: dict[str, list[str]] = {}
    for name in found:
        groups.setdefault(_skeleton(name), []).append(name)
    alike = [group for group in groups.values() if len(group) > 1]
    notes = [
        f"{what} {_some(group)} look alike and are kept apart; rename one if they are the same"
        for group in alike[:MOST]
    ]
    if len(alike) > MOST:
        notes.append(f"{len(alike) - MOST:,} more groups of {what} look alike")
    return [Note(note, "look_alike") for note in notes]


def _skeleton(name: str) -> str:
    """What a name looks like."""
    plain = unicodedata.normalize("NFKC", _VARIANTS.sub("", common_form(name)).translate(_TWINS))
    return " ".join(plain.translate(_TWINS).split())


def _some(group: Sequence[str]) -> str:
    shown = [_quoted(name) + _points(name) for name in group[:MOST]]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _points(name: str) -> str:
    """The characters of a name that are not ASCII and are shown as they are, by their code points."""
    points = dict.fromkeys(f"U+{ord(sign):04X}" for sign in name if not sign.isascii() and visible(sign) == sign)
    return f" ({', '.join(list(points)[:MOST])})" if points else ""


def _quoted(name: str) -> str:
    return f"'{visible(cut(name, 60))}'"
