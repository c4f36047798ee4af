"""Pairwise comparisons and rankings of outputs, collected into a Dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any

import polars as pl

from nlgauge.data.dataset import KEY, Dataset
from nlgauge.data.readers._annotations import turn_text
from nlgauge.data.records import Record
from nlgauge.data.tables.means import means_by
from nlgauge.data.tables.pairs import PairColumns, find_pair
from nlgauge.data.tables.vocabulary import SETS, column_of, label_text, plain
from nlgauge.data.units import TRIAL_OF
from nlgauge.errors import DataError

FIRST, SECOND, TIE = "first", "second", "tie"
TWO = (FIRST, SECOND)  # also the columns with the names of the two systems


def judged_aspects(data: Dataset) -> list[str]:
    """Return the aspects of ratings and of comparisons."""
    return list(dict.fromkeys([*data.aspects, *data.comparisons["aspect"].unique(maintain_order=True)]))


def pair_samples(row: Mapping[str, Any], pair: PairColumns) -> tuple[str, str, dict[str, dict[str, Any]]]:
    """Return the two systems of a row, and their outputs and sources as columns of samples."""
    if pair.systems is not None:
        first, second = (str(row[name]) for name in pair.systems)
    else:  # named after the columns of outputs
        first, second = pair.outputs or ("first", "second")
    texts = [None, None] if pair.outputs is None else [row[name] for name in pair.outputs]
    shared: dict[str, Any] = {}
    for role in ("source", "context", "control"):
        column = column_of(role, row)
        if column is not None and row[column] is not None:
            shared[role] = (
                "\n".join(turn_text(t) for t in row[column]) if isinstance(row[column], list) else str(row[column])
            )
    shared |= {c: str(row[c]) for c in row if plain(c) in SETS and row[c] is not None}
    if "source" not in shared and isinstance(texts[0], list) and texts[0]:
        shared["source"] = _turn(texts[0], 0)
    outputs = {}
    for system, text in ((first, texts[0]), (second, texts[1])):
        outputs[system] = {"output": _turn(text, -1) if isinstance(text, list) and text else text, **shared}
    return first, second, outputs


def _turn(turns: list[Any], index: int) -> str:
    """Return the text of one turn of a conversation [{"role", "content"}, …], with its parts joined."""
    turn = turns[index]
    content = turn.get("content", turn) if isinstance(turn, dict) else turn
    if isinstance(content, list):
        return "\n".join(str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in content)
    return str(content)


def add_pair(
    choices: Choices, task: Record, fields: Mapping[str, Any], *, aspect: str, rater: str | None, preferred: str
) -> None:
    """Add a comparison from a task of an annotation tool whose fields have both outputs."""
    pair = find_pair(fields)
    if not (pair.systems or pair.outputs):
        raise DataError(
            f"{task.where}: expected fields with the two outputs, such as system_a, system_b or text1, text2. "
            f"Fields: {', '.join(fields)}."
        )
    first, second, outputs = pair_samples(fields, pair)
    column = column_of("input", fields)
    given = None if column is None else fields[column]
    if given is None:
        given = next(iter(outputs.values())).get("source") or task.values.get("id", task.number)
    choices.choose(choices.place(str(given), outputs), first, second, aspect=aspect, rater=rater, preferred=preferred)


class Choices:
    """Collect outputs, comparisons and rankings. Different outputs of a system for an input are numbered."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.samples: dict[tuple[str, str], dict[str, Any]] = {}
        self.ratings: list[tuple[str, str, str, str | None, float]] = []
        self.choices: list[tuple[str, str, str, str, str | None, str]] = []
        self.numbered = 0

    def place(self, given: str, outputs: Mapping[str, Mapping[str, Any]]) -> str:
        """Return an input name that these outputs (system -> columns) can share.

        That is `given`, or 'given #2', … if one of the systems has another output for it.
        """
        name, n = given, 1
        while not all(self._fits(system, name, columns) for system, columns in outputs.items()):
            n += 1
            name = f"{given} #{n}"
        for system, columns in outputs.items():
            if n > 1 and (system, name) not in self.samples:
                self.numbered += 1
            sample = self.samples.setdefault((system, name), {})
            sample |= {k: v for k, v in columns.items() if v is not None}
            sample |= {TRIAL_OF: given} if n > 1 else {}
        return name

    def _fits(self, system: str, name: str, columns: Mapping[str, Any]) -> bool:
        output = self.samples.get((system, name), {}).get("output")
        return output is None or columns.get("output") is None or output == columns["output"]

    def choose(self, given: str, first: str, second: str, *, aspect: str, rater: str | None, preferred: str) -> None:
        """Add one comparison; `preferred` is 'first', 'second' or 'tie'."""
        self.choices.append((given, first, second, aspect, rater, preferred))

    def rank(self, given: str, merits: Mapping[str, float], aspect: str, rater: str | None) -> None:
        """Add all pairs of one annotator's ranking; a higher merit is preferred, `merits` are in presentation order."""
        for (one, a), (two, b) in combinations(merits.items(), 2):
            preferred = FIRST if a > b else SECOND if b > a else TIE
            self.choose(given, one, two, aspect=aspect, rater=rater, preferred=preferred)

    def rate(self, system: str, given: str, aspect: str, rater: str | None, value: float) -> None:
        """Add one rating."""
        self.ratings.append((system, given, aspect, rater, value))

    def dataset(self, notes: Iterable[str] = (), persons: bool = True) -> Dataset:
        """Return the collected comparisons and ratings as a Dataset."""
        if not self.choices:
            raise DataError(f"{self.name}: no row has a preference.")
        notes = list(notes)
        if self.numbered:
            notes.append(f"{self.numbered} further outputs of the same system for the same input; they are numbered")
        names = list(dict.fromkeys(name for columns in self.samples.values() for name in columns))
        samples = pl.DataFrame(
            {"system": [s for s, _ in self.samples], "input": [i for _, i in self.samples]}
            | {name: [columns.get(name) for columns in self.samples.values()] for name in names},
            strict=False,
        )
        ratings = pl.DataFrame(self.ratings, schema=Dataset.RATINGS, orient="row")
        keyed = [*KEY, "aspect", "rater"]
        if repeated := ratings.height - ratings.select(keyed).n_unique():
            notes.append(f"{repeated} ratings repeat the same annotator, output and aspect; their mean is used")
            ratings = means_by(ratings, keyed, ["value"])
        comparisons = pl.DataFrame(self.choices, schema=Dataset.COMPARISONS, orient="row")
        has_raters = comparisons["rater"].null_count() < comparisons.height
        return Dataset.of(
            self.name, samples, ratings=ratings, comparisons=comparisons, persons=persons and has_raters, notes=notes
        )


def as_text(values: pl.Series, how: Callable[[Any], str] = label_text) -> pl.Series:
    """Convert each value to text with `how`; missing values stay missing.

    >>> as_text(pl.Series([3.0, None, 2.5])).to_list()
    ['3', None, '2.5']
    """
    if values.dtype == pl.String and how in (label_text, str):
        return values
    if values.dtype.is_integer():
        return values.cast(pl.String)
    kinds = values.drop_nulls().unique()
    return values.replace_strict(kinds, [how(v) for v in kinds], default=None, return_dtype=pl.String)


def dataset_of_votes(name: str, rows: pl.DataFrame, comparisons: pl.DataFrame, notes: Iterable[str]) -> Dataset:
    """Return a Dataset of comparisons; `rows` (input, first, second) name the outputs."""
    if comparisons.is_empty():
        raise DataError(f"{name}: no row has a preference.")
    samples = rows.select(pl.concat_list(*TWO).alias("system"), "input").explode("system", empty_as_null=True)
    samples = samples.unique(KEY, keep="first", maintain_order=True)
    has_raters = comparisons["rater"].null_count() < comparisons.height
    return Dataset.of(name, samples, comparisons=comparisons, persons=has_raters, notes=notes)
