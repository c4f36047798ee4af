"""A few documents of our own, enough to train a tiny aligner on."""

from __future__ import annotations

import numpy as np

NAMES = "Alice Brandt Carol Dietz Edgar Flynn Greta Holm Ivan Joyce Karin Lopez".split()
PLACES = "Oslo Bergen Vienna Lisbon Dublin Prague Geneva Madrid".split()
THINGS = (
    "a new bridge|the old harbour|a small school|the wool market|a stone church|the north railway|a glass museum".split(
        "|"
    )
)
DEEDS = "opened closed painted visited sold rebuilt measured".split()


def documents(count: int = 24) -> list[list[str]]:
    rng = np.random.default_rng(7)

    def one(options: list[str]) -> str:
        return options[int(rng.integers(len(options)))]

    found = []
    for _ in range(count):
        name, place = one(NAMES), one(PLACES)
        found.append(
            [
                f"In {rng.integers(1900, 2020)}, {name} {one(DEEDS)} {one(THINGS)} near the river in {place}.",
                f"The work took {rng.integers(3, 90)} weeks, and many people of {place} came to see {one(THINGS)}.",
                f"{name} was born in {one(PLACES)} and studied with {one(NAMES)} for several years.",
                f"After the war the family of {one(NAMES)} {one(DEEDS)} {one(THINGS)} for "
                f"{rng.integers(100, 900)} crowns.",
                f"Most visitors arrive by train from {one(PLACES)} in the early summer.",
                f"A letter from {one(NAMES)} says that {one(THINGS)} was {one(DEEDS)} again in the autumn.",
            ]
        )
    return found
