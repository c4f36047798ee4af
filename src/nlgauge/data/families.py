"""Families of metrics: which columns of scores are variants of one metric, so that they can be averaged."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean

Families = Mapping[str, str | Sequence[str]]


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return [(family, re.compile(pattern, re.I)) for family, pattern in table["families"]]


def family_of(column: str) -> str:
    """The family of a column of scores, by its name; a metric nobody knows is its own family.

    >>> family_of("ROUGE-2 F-Score"), family_of("bert_f1_src"), family_of("my score")
    ('ROUGE', 'BERTScore', 'my score')
    """
    return next((family for family, pattern in _patterns() if pattern.search(column)), column)


def families_of(columns: Sequence[str], given: Families | None = None) -> dict[str, str]:
    """Column -> family. `given` has the last word: {column: family} or {family: [columns]}.

    >>> families_of(["rouge-l", "mine", "yours"], {"ours": ["mine", "yours"]})
    {'rouge-l': 'ROUGE', 'mine': 'ours', 'yours': 'ours'}
    """
    said: dict[str, str] = {}
    for key, value in (given or {}).items():
        said |= {key: value} if isinstance(value, str) else dict.fromkeys(value, key)
    if unknown := [name for name in said if name not in columns]:
        raise NameUnknown(
            f"families: no metric '{unknown[0]}'.{did_you_mean(unknown[0], columns)} Metrics: {', '.join(columns)}."
        )
    return {name: said.get(name, family_of(name)) for name in columns}
