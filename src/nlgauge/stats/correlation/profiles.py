"""Named sets of conventions, so that anyone can get another tool's number and see in words why it differs.

All profiles run on one engine. What the engine does not imitate is another program's rounding noise: two values that
are equal on paper are equal here, where a tool that compares floats finds them equal or not by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.errors import DataError, NameUnknown
from nlgauge.stats.resampling.draws import Swap
from nlgauge.types import Array

Alternative = Literal["two-sided", "greater", "less"]
Count = Literal["plus-one", "plain"]
Missing = Literal["shared", "coincide", "zero", "gold"]

SWAPPED = {
    "both": "whole systems and whole inputs (exclusive or)",
    "inputs": "whole inputs",
    "systems": "whole systems",
    "cells": "single outputs",
}
SIDES = {
    "two-sided": "two-sided",
    "greater": "one-sided (the first metric is better)",
    "less": "one-sided (the second metric is better)",
}
MISSING = {
    "shared": "an output counts where people and both metrics have a score",
    "coincide": "missing scores must coincide",
    "zero": "missing scores are taken as 0",
    "gold": "outputs without a human score are left out",
}


@dataclass(frozen=True)
class Profile:
    """The conventions of a tool. `count`: p = (c+1)/(R+1) or c/R; `tolerance`: a draw that comes this close
    to the observed difference equals it; `snap`: scores of two metrics that differ by rounding only are tied;
    `legacy`: the stream of `np.random.seed`; `double`: the bootstrap test of sacrerouge, |d*| ≥ 2|d|.
    """

    name: str = "nlgauge"
    swap: Swap = "both"
    alternative: Alternative = "two-sided"
    count: Count = "plus-one"
    # Rank correlations take few values, so many draws equal the observed difference on paper and miss it by
    # 1e-17 in floats. Correlations are of size 1, so a fixed distance is relative; it must not shrink with
    # the difference, because an observed 0 may come out as 1e-17.
    tolerance: float = 1e-10
    snap: bool = True
    missing: Missing = "shared"
    constant: Literal["drop", "zero"] = "drop"
    legacy: bool = False
    standardise: bool = True
    double: bool = False
    williams_absolute: bool = False
    draws: int = 1000

    def method(self, draws: int, seed: int) -> str:
        """One sentence that lets another group repeat the test."""
        rule = "(count + 1) / (draws + 1)" if self.count == "plus-one" else "count / draws"
        scaled = "metrics standardised over the outputs used, " if self.standardise else ""
        groups = "left out" if self.constant == "drop" else "counted as 0"
        stream = "legacy stream, " if self.legacy else ""
        return (
            f"permutation test (profile {self.name}) swapping {SWAPPED[self.swap]}, {SIDES[self.alternative]}, p = "
            f"{rule}, {draws} draws, {stream}seed {seed}; {scaled}human scores as they are; {MISSING[self.missing]}; "
            f"groups in which a score is constant are {groups}; differences within {self.tolerance:g} of the observed "
            "one count as equal to it"
        )


_FLOATS: dict[str, Any] = {
    "count": "plain",
    "snap": False,
    "legacy": True,
}  # what the tools that call scipy per draw share
PROFILES: dict[str, Profile] = {
    p.name: p
    for p in (
        Profile(),
        Profile("nlpstats", **_FLOATS, missing="coincide", williams_absolute=True),
        Profile("sacrerouge", **_FLOATS, swap="cells", missing="coincide", double=True),
        Profile("nlgcorreval", **_FLOATS, missing="zero", williams_absolute=True, draws=999),
        Profile(
            "mt-metrics-eval",
            swap="cells",
            alternative="less",
            count="plain",
            snap=False,
            missing="gold",
            constant="zero",
        ),
    )
}


def profile_of(profile: str | Profile, how: Swap | None = None) -> Profile:
    """Look up a profile and change what is swapped where the caller asked for something else."""
    if isinstance(profile, str):
        if profile not in PROFILES:
            near = get_close_matches(profile, PROFILES, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(PROFILES)}."
            raise NameUnknown(f"no profile {profile!r}. {hint}")
        profile = PROFILES[profile]
    profile = profile if how is None else replace(profile, swap=how)
    for value, known, what in (
        (profile.swap, list(SWAPPED), "how to swap"),
        (profile.alternative, list(SIDES), "the alternative"),
        (profile.count, get_args(Count), "the count"),
    ):
        if value not in known:
            raise NameUnknown(f"{what} must be one of {', '.join(known)}; found {value!r}")
    return profile


def apply_missing(rule: Missing, x: Array, z: Array) -> tuple[Array, Array]:
    """Metrics (K×N×M) and people (N×M) as the profile treats gaps; NaN marks what is left out."""
    if rule == "zero":
        return np.nan_to_num(x, nan=0.0), np.nan_to_num(z, nan=0.0)
    gaps = np.isnan(x)
    if rule == "coincide" and (gaps != np.isnan(z)).any():
        raise DataError("this profile needs the missing scores of metrics and people to coincide, and they do not")
    if rule == "gold" and (gaps & ~np.isnan(z)).any():
        raise DataError("this profile needs a metric score wherever people gave one, and some are missing")
    return x, z
