"""Makes src/nlgauge/data/example_outputs.json from example_texts.json: `python tests/data/example_maker.py`.

Each of eight systems damages the good summary by a known amount; `true_order()` is therefore a fact and no opinion.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from nlgauge.data import example as data_example
from nlgauge.data.example import ASPECT, METRICS, RATERS, example_texts
from nlgauge.text.damage import damage

OUTPUTS = Path(data_example.__file__).with_name("example_outputs.json")


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
LENIENT = dict(zip(RATERS, (0.0, 0.3, -0.3), strict=True))


def true_order() -> list[str]:
    """The systems from best to worst, by construction."""
    return [system.name for system in SYSTEMS]


def made_rows(seed: int = 0) -> list[dict[str, Any]]:
    """One row for each rater of each output: texts, constructed rating and a few ready scores."""
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
            for rater, lenient in LENIENT.items():
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


def outputs(rows: list[dict[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    """System -> input -> the output, its ratings in the order of RATERS, its scores in the order of METRICS."""
    found: dict[str, dict[str, list[Any]]] = {system.name: {} for system in SYSTEMS}
    for row in rows:
        scores = [row[name] for name in METRICS]
        entry = found[row["system"]].setdefault(row["input"], [row["output"], [], scores])
        entry[1].append(row[ASPECT])
    return found


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


if __name__ == "__main__":
    lines = [
        f" {json.dumps(system)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in each.items())
        + "\n }"
        for system, each in outputs(made_rows()).items()
    ]
    OUTPUTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
