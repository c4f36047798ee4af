"""Named sets of conventions that reproduce the numbers of other tools and say in words why they differ.

All profiles run on one engine. Rounding noise of other programs is not imitated: two values that are equal in exact
arithmetic are equal here, while a tool that compares floats finds them equal or different by chance.
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
    "shared": "outputs without a human rating or a score of either metric are left out",
    "coincide": "missing scores must coincide",
    "zero": "missing scores are taken as 0",
    "gold": "outputs without a human score are left out",
}


@dataclass(frozen=True)
class Profile:
    """The conventions of a tool.

    `count`: p = (c+1)/(R+1) or c/R. `tolerance`: a draw within this distance of the observed difference equals it.
    `snap`: scores of two metrics that differ by rounding only are tied. `legacy`: the random stream of
    `np.random.seed`. `double`: the bootstrap test of sacrerouge, |d*| ≥ 2|d|.
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
    standardize: bool = True
    double: bool = False
    williams_absolute: bool = False
    draws: int = 1000

    def method(self, draws: int, seed: int) -> str:
        """Return one sentence that allows others to repeat the test."""
        rule = "(count + 1) / (draws + 1)" if self.count == "plus-one" else "count / draws"
        scaled = "metrics standardized over the outputs used, " if self.standardize else ""
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
}  # common to the tools that call scipy in each draw
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
    """Return a profile, with another unit of swapping if requested."""
    if isinstance(profile, str):
        if profile not in PROFILES:
            near = get_close_matches(profile, PROFILES, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"There are {', '.join(PROFILES)}."
            raise NameUnknown(f"no profile {profile!r}. {hint}")
        profile = PROFILES[profile]
    profile = profile if how is None else replace(profile, swap=how)
    for value, valid, what in (
        (profile.swap, list(SWAPPED), "how to swap"),
        (profile.alternative, list(SIDES), "the alternative"),
        (profile.count, get_args(Count), "the count"),
    ):
        if value not in valid:
            raise NameUnknown(f"{what} must be one of {', '.join(valid)}; found {value!r}")
    return profile


def apply_missing(rule: Missing, x: Array, z: Array) -> tuple[Array, Array]:
    """Return metrics (K×N×M) and ratings (N×M) with missing values as the profile treats them; NaN is left out."""
    if rule == "zero":
        return np.nan_to_num(x, nan=0.0), np.nan_to_num(z, nan=0.0)
    gaps = np.isnan(x)
    if rule == "coincide" and (gaps != np.isnan(z)).any():
        raise DataError("this profile requires that metric scores and human ratings are missing for the same outputs")
    if rule == "gold" and (gaps & ~np.isnan(z)).any():
        raise DataError("this profile needs a metric score for every human rating, and some are missing")
    return x, z
