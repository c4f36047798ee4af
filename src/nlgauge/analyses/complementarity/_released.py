"""Release year and family of a metric, from `released.csv`, the registry, or the user.

`released.csv` has facts from the literature: a pattern for the names of a metric in published tables (case is
ignored, the first match counts), family, year of the first publication (preprints count), and source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nlgauge import registry
from nlgauge.data.tables.separated import text_rows
from nlgauge.errors import NlgaugeError
from nlgauge.spec import parse_spec

FILE = Path(__file__).with_name("released.csv")


class Release(NamedTuple):
    family: str
    year: int


Pattern = tuple[re.Pattern[str], Release | None]
Given = str | Path | Sequence[Mapping[str, str]] | Mapping[str, "int | tuple[str, int]"] | None


def releases(names: list[str], given: Given = None) -> dict[str, Release | None]:
    """Return family and year of each metric; None if they are unknown.

    `given` takes precedence: a mapping name -> year or (family, year), a CSV file like released.csv, or its
    rows.

    >>> releases(["ROUGE_WE_1", "rouge_2_f_score", "my metric"], {"my metric": 2024})
    {'ROUGE_WE_1': Release(family='ROUGE-WE', year=2015), 'rouge_2_f_score': Release(family='ROUGE', year=2004),
     'my metric': Release(family='my metric', year=2024)}
    """
    own: dict[str, Release] = {}
    patterns = list(_shipped())
    if isinstance(given, Mapping):
        own = {
            n: Release(str(v[0]), int(v[1])) if isinstance(v, tuple | list) else Release(n, int(v))
            for n, v in given.items()
        }
    elif isinstance(given, str | Path):
        patterns = [*_file(Path(given)), *patterns]
    elif given is not None:
        patterns = [*_patterns(given, "years"), *patterns]
    return {name: own.get(name) or _look_up(name, patterns) for name in names}


def _look_up(name: str, patterns: list[Pattern]) -> Release | None:
    for pattern, found in patterns:
        if pattern.search(name):
            return found
    return _registered(name)


def _registered(name: str) -> Release | None:
    """Return family and year of a registered metric; its variants have the same name with other parameters."""
    try:
        base = parse_spec(name)[0]
        facts = registry.get("metric", base).facts
    except (NlgaugeError, AttributeError):
        return None
    return None if facts.family == "control" else Release(base, int(facts.year))


@cache
def _shipped() -> tuple[Pattern, ...]:
    return tuple(_file(FILE))


def _file(path: Path) -> list[Pattern]:
    return _patterns(text_rows(path), str(path))


def _patterns(rows: Iterable[Mapping[str, str]], where: str) -> list[Pattern]:
    found: list[Pattern] = []
    try:
        for row in rows:
            release = Release(row["family"], int(row["year"])) if row["year"] else None
            found.append((re.compile(row["pattern"], re.I), release))
    except (KeyError, ValueError, TypeError, re.error) as error:
        raise NlgaugeError(
            f"{where}, line {len(found) + 2}: expected columns pattern (a regular expression), family and year; "
            f"{error!r}."
        ) from None
    return found
