"""The built-in example: summaries that are damaged in known ways, so that the right answer is known.

Twenty-four short texts, each with a good summary and two references, were written for this project. Each of
eight systems damages the good summary by a known amount; `true_order()` is therefore a fact and no opinion.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from nlgauge.text.damage import damage

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

NOTE = (
    "Nobody rated these outputs: 'constructed_quality' was made by a program from the damage done to each "
    "output, so that the right order of the systems is known. It shows how the tool works; it is no evidence "
    "about any metric."
)

ASPECT = "constructed_quality"
METRICS = ("unigram_f1", "char3_f1", "length_ratio", "source_overlap", "random")


@dataclass(frozen=True)
class System:
    """Damages the good summary in each of `kinds`, `amount` each, at a loss of so many points of five."""

    name: str
    loss: float
    amount: float = 0.0
    kinds: tuple[str, ...] = ()


_MIXED = ("replace", "entity", "drop", "swap", "repeat")
# Best first. 'shuffled' and 'negated' keep nearly every word, so metrics that count words overrate them.
SYSTEMS = (
    System("intact", 0.2),
    System("shuffled", 0.8, 0.12, ("shuffle",)),
    System("light", 1.3, 0.02, ("garble", "entity")),
    System("negated", 1.8, 0.5, ("negate",)),
    System("mild", 2.2, 0.08, _MIXED),
    System("moderate", 2.8, 0.16, _MIXED),
    System("heavy", 3.4, 0.26, _MIXED),
    System("severe", 4.0, 0.4, _MIXED),
)
RATERS = {"constructed-1": 0.0, "constructed-2": 0.3, "constructed-3": -0.3}  # name: how lenient


def true_order() -> list[str]:
    """The systems from best to worst, by construction.

    >>> true_order()[0], true_order()[-1]
    ('intact', 'severe')
    """
    return [system.name for system in SYSTEMS]


def example_texts() -> list[dict[str, Any]]:
    """The inputs: id, topic, source, output (a good summary) and references (two others)."""
    texts: list[dict[str, Any]] = json.loads(
        (files("nlgauge.data") / "example_texts.json").read_text(encoding="utf-8")
    )
    return texts


def example_rows(seed: int = 0) -> list[dict[str, Any]]:
    """One row for each rater of each output: texts, constructed rating and a few ready scores.

    >>> rows = example_rows()
    >>> len(rows) == 24 * 8 * 3
    True
    """
    texts = example_texts()
    # only words from inside a sentence, so that what is capitalised is a name
    pool = sorted({w for text in texts for w in re.findall(r"(?<=[\w,] )\w[\w'-]+", text["source"])})
    rows = []
    for text, stream in zip(texts, SeedSequence(seed).spawn(len(texts)), strict=True):
        hardness = default_rng(stream).normal(0, 0.2)
        references = [_Grams(reference) for reference in text["references"]]
        source = _Grams(text["source"])
        for system, child in zip(SYSTEMS, stream.spawn(len(SYSTEMS)), strict=True):
            rng = default_rng(child)
            strength = float(np.exp(rng.normal(0, 0.2)))  # how hard this output is hit: about 1
            output = _damaged(text["output"], system, strength, rng, pool)
            scores = _scores(_Grams(output), references, source, rng)
            quality = 5 - system.loss * strength - hardness
            for rater, lenient in RATERS.items():
                rating = int(np.clip(np.rint(quality + lenient + rng.normal(0, 0.5)), 1, 5))
                rows.append(
                    {
                        "system": system.name,
                        "input": text["id"],
                        "source": text["source"],
                        "references": list(text["references"]),
                        "output": output,
                        "rater": rater,
                        ASPECT: rating,
                        **scores,
                    }
                )
    return rows


def example(seed: int = 0) -> Dataset:
    """The built-in example as a Dataset; its ratings are constructed, not human, and every page says so."""
    from nlgauge.data.load import load

    data = load(example_rows(seed), name="example (constructed)")
    return replace(data, notes=(*data.notes, NOTE), rated_by="construction")


def write_csv(path: str | Path, seed: int = 0) -> None:
    """Write the example as a plain CSV, like a user's own: a row per rating, a column per reference."""
    rows = []
    for row in example_rows(seed):
        references = {f"reference_{i}": text for i, text in enumerate(row.pop("references"), start=1)}
        before = {key: row.pop(key) for key in ("system", "input", "source")}
        rows.append({**before, **references, **row})
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _damaged(text: str, system: System, strength: float, rng: Generator, pool: Sequence[str]) -> str:
    for kind in system.kinds:
        text = damage(text, kind, min(1.0, system.amount * strength), rng, pool).text
    return text


# The scores below are small on purpose: they let a first run start from a table alone. The package's own
# metrics are in nlgauge.metrics.


class _Grams:
    """The words and the character trigrams of a text, counted."""

    def __init__(self, text: str) -> None:
        words = re.findall(r"\w+", text.lower())
        plain = " ".join(words)
        self.words = Counter(words)
        self.char3 = Counter(plain[i : i + 3] for i in range(len(plain) - 2))


def _f1(a: Counter[str], b: Counter[str]) -> float:
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


def _scores(output: _Grams, references: Sequence[_Grams], source: _Grams, rng: Generator) -> dict[str, float]:
    n = output.words.total()
    scores = {
        "unigram_f1": max(_f1(output.words, reference.words) for reference in references),
        "char3_f1": max(_f1(output.char3, reference.char3) for reference in references),
        "length_ratio": n * len(references) / sum(reference.words.total() for reference in references),
        "source_overlap": sum(k for word, k in output.words.items() if word in source.words) / max(1, n),
        "random": rng.random(),
    }
    return {name: round(value, 4) for name, value in scores.items()}
