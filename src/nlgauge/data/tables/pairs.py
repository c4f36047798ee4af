"""Columns with two systems or two outputs, inferred from their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nlgauge.data.tables.vocabulary import plain

SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("x", "y"))
NUMBERED = ("0", "1")  # sides of a pair in column names; elsewhere a vote 1 means the first
SYSTEMS = ("system", "model", "method", "policy", "team", "generator", "systemname", "modelname", "systemid", "modelid")
OUTPUTS = tuple(
    "output response answer text summary translation candidate conversation story generation completion sample reply "
    "passage hypothesis humanref".split()
)


class PairColumns(NamedTuple):
    """Names of the columns with the two systems and the two outputs, in presentation order."""

    systems: tuple[str, str] | None
    outputs: tuple[str, str] | None


def find_pair(names: Iterable[str]) -> PairColumns:
    """Return the columns of a pair, such as `system_a`/`system_b`, `left_output`/`right_output`, `model1`/`model2`.

    >>> find_pair(["model_a", "response_a", "model_b", "response_b"])
    PairColumns(systems=('model_a', 'model_b'), outputs=('response_a', 'response_b'))
    """
    by_name = {plain(name): name for name in names}

    def find(stems: Sequence[str]) -> tuple[str, str] | None:
        for stem in stems:
            for one, two in (*SIDES, NUMBERED):
                for form in ("{0}{1}", "{1}{0}"):
                    pair = form.format(stem, one), form.format(stem, two)
                    if pair[0] in by_name and pair[1] in by_name:
                        return by_name[pair[0]], by_name[pair[1]]
        return None

    return PairColumns(find(SYSTEMS), find(OUTPUTS))
