"""The built-in example: perturbed summaries of known quality.

Twenty-four short texts, each with a good summary and two references, were written for this project. Each of eight
systems perturbs the good summary by a known amount; tests/data/example_maker.py made the outputs, ratings and scores.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load

NOTE = (
    "These outputs have no human ratings: 'constructed_quality' is computed from the perturbation of each output, so "
    "that the true ranking of the systems is known. The example shows how the tool works; it is not evidence about "
    "any metric."
)

ASPECT = "constructed_quality"
METRICS = ("unigram_f1", "char3_f1", "length_ratio", "source_overlap", "random")
RATERS = ("constructed-1", "constructed-2", "constructed-3")


def example_texts() -> list[dict[str, Any]]:
    """Return the inputs: ID, topic, source, output (a good summary) and two references."""
    texts: list[dict[str, Any]] = _read("example_texts.json")
    return texts


def example_rows() -> list[dict[str, Any]]:
    """Return one row per annotator and output: texts, constructed rating and a few metric scores.

    >>> len(example_rows()) == 24 * 8 * 3
    True
    """
    outputs = _read("example_outputs.json")
    rows = []
    for text in example_texts():
        given = {"input": text["id"], "source": text["source"], "references": text["references"]}
        for system, of_system in outputs.items():
            output, ratings, scores = of_system[text["id"]]
            for rater, rating in zip(RATERS, ratings, strict=True):
                rated = {"output": output, "rater": rater, ASPECT: rating}
                rows.append({"system": system, **given, **rated, **dict(zip(METRICS, scores, strict=True))})
    return rows


def example() -> Dataset:
    """Return the built-in example as a Dataset; its ratings are constructed, not human.

    >>> import nlgauge as ng
    >>> len(ng.example().systems), len(ng.example().inputs), ng.example().aspects
    (8, 24, ['constructed_quality'])
    """
    data = load(example_rows(), name="example (constructed)")
    return replace(data, notes=(*data.notes, NOTE), rated_by="construction")


def _read(name: str) -> Any:
    return json.loads((files("nlgauge.data") / name).read_text(encoding="utf-8"))
