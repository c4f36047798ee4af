"""Names of groupings and coefficients, and helpful errors for names that are ambiguous or not found."""

from __future__ import annotations

from nlgauge.errors import NameUnknown
from nlgauge.registry import did_you_mean
from nlgauge.stats.correlation.coefficients import ALIASES, COEFFICIENTS, Coefficient
from nlgauge.stats.correlation.groups import GROUPINGS

# Names with different meanings in different papers. They are rejected with a list of possible meanings.
AMBIGUOUS = {
    "summary": "'input'",
    "segment": "'input' (grouped by segment) or 'global' (no grouping)",
    "sample": "'global' in some papers and 'input' in others",
    "dataset": "'global'",
    "corpus": "'system' or 'global'",
    "doc": "'input'",
    "document": "'input'",
    "turn": "'global'",
    "utterance": "'global' or 'input'",
    "sys": "'system', or 'item' if it is average_by='sys' of mt-metrics-eval",
    "none": "'global'",
}


def check_grouping(name: str) -> None:
    """Raise an error for a name that is not one of the four groupings, with what it may mean here."""
    if name in GROUPINGS:
        return
    meanings = (
        "global (all outputs in one vector), input (over systems for each input, then averaged), "
        "item (over inputs for each system, then averaged), system (over system means)"
    )
    key = name.removesuffix("-level")
    if key in GROUPINGS or key in AMBIGUOUS:
        hint = f" '{name}' may mean {AMBIGUOUS.get(key, repr(key))}."
    else:
        hint = did_you_mean(name, list(GROUPINGS))
    raise NameUnknown(f"no grouping '{name}'; the four are {meanings}.{hint}")


def find_coefficient(name: str) -> Coefficient:
    """Return the coefficient of that name, or raise an error that suggests similar names."""
    if name not in COEFFICIENTS:
        available = [*COEFFICIENTS, *ALIASES]
        raise NameUnknown(f"no coefficient '{name}'.{did_you_mean(name, available)} Known: {', '.join(COEFFICIENTS)}.")
    return COEFFICIENTS[name]
