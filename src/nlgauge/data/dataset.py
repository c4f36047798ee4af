"""Dataset: samples, ratings, comparisons and known scores, as tidy tables keyed by (system, input)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from nlgauge.data.card import card
from nlgauge.data.dataset_questions import AsksQuestions
from nlgauge.data.families import check_family
from nlgauge.data.files import refuse_patterns
from nlgauge.data.names import common_form
from nlgauge.data.panel import Aggregate, Panel
from nlgauge.data.units import KEY, has_unique_keys, trials_text
from nlgauge.errors import DataError, NameUnknown, code_of
from nlgauge.foreign_text import for_html
from nlgauge.options import call, option
from nlgauge.registry import did_you_mean

if TYPE_CHECKING:
    from nlgauge.data.provenance import Provenance

__all__ = ["KEY", "PEOPLE", "ROW", "Dataset", "check_metrics"]
ROW = "__row__"  # of the table, while a Dataset is built
MAX_PANEL_OPTIONS = 4  # whose panels are kept; a panel may fill hundreds of megabytes
_BUILDING = threading.RLock()  # a thread that asks for a panel waits for the one that builds it
# Outputs written by people, by the names that published sets give them.
PEOPLE = re.compile(r"(^|[\W_])(humans?|references?|ref([-_ ]?[A-D])?|gold|ground[ _-]?truth)([\W_\d]|$)", re.I)


def check_metrics(where: str, names: Iterable[str]) -> None:
    """Scores are columns beside the keys: no metric can have the name of a key."""
    names = list(names)
    refuse_patterns(where, names)
    if taken := [name for name in names if name in (*KEY, ROW)]:
        raise DataError(f"{where}: a metric cannot be called '{taken[0]}', which is the name of a key; rename it.")


@dataclass(frozen=True)
class Dataset(AsksQuestions):
    """What is known about a set of outputs. Build it with `nlgauge.load`, a reader, or `Dataset.of`.

    samples: system, input, and as far as known output, source, context, references, control, plus every other column.
    ratings: one row per system, input, aspect and rater (rater null: an average or a lone anonymous rating).
    comparisons: one row per choice: which of two outputs of one input was preferred, in the order they were shown.
    scores: one row per sample, one column per metric; null is missing, its reason stands in `failures`.
    spans: one row per error that a rater marked in an output (`data/readers/_spans.py`).
    """

    name: str
    samples: pl.DataFrame
    ratings: pl.DataFrame
    comparisons: pl.DataFrame
    scores: pl.DataFrame
    failures: pl.DataFrame
    spans: pl.DataFrame
    persons: bool = False
    people: frozenset[str] = frozenset()
    lower: frozenset[str] = frozenset()
    notes: tuple[str, ...] = field(default=())
    rated_by: str = "people"
    signatures: Mapping[str, str] = field(default_factory=dict)  # metric -> how its scores were made, where known
    sources: Mapping[str, Provenance] = field(default_factory=dict)  # aspect -> whose judgments they are
    models: frozenset[str] = frozenset()  # raters that are models: their choices are not people's
    metric_aspects: Mapping[str, str] = field(default_factory=dict)  # metric -> the one aspect that it scores, if known
    cluster: str = ""  # column whose value several outputs share that are not independent, if one was named
    family: str = ""  # column whose value several systems share, or pattern that finds it in names, if one was named

    def __post_init__(self) -> None:
        # the name of a file that is not UTF-8 holds halves of characters, which no other file can hold
        object.__setattr__(self, "name", self.name.encode("utf-8", "backslashreplace").decode())

    RATINGS: ClassVar[dict[str, Any]] = {
        "system": pl.String,
        "input": pl.String,
        "aspect": pl.String,
        "rater": pl.String,
        "value": pl.Float64,
    }
    COMPARISONS: ClassVar[dict[str, Any]] = {
        "input": pl.String,
        "first": pl.String,
        "second": pl.String,
        "aspect": pl.String,
        "rater": pl.String,
        "preferred": pl.String,
    }
    FAILURES: ClassVar[dict[str, Any]] = {
        "system": pl.String,
        "input": pl.String,
        "metric": pl.String,
        "reason": pl.String,
    }
    SPANS: ClassVar[dict[str, Any]] = {
        "system": pl.String,
        "input": pl.String,
        "rater": pl.String,
        "side": pl.String,
        "start": pl.Int64,
        "end": pl.Int64,
        "severity": pl.String,
        "category": pl.String,
    }

    @classmethod
    def of(
        cls,
        name: str,
        samples: pl.DataFrame,
        *,
        ratings: pl.DataFrame | None = None,
        comparisons: pl.DataFrame | None = None,
        scores: pl.DataFrame | None = None,
        failures: pl.DataFrame | None = None,
        spans: pl.DataFrame | None = None,
        persons: bool = False,
        people: Iterable[str] | None = None,
        lower: Iterable[str] = (),
        notes: Iterable[str] = (),
        models: Iterable[str] = (),
        sources: Mapping[str, Provenance] | None = None,
        metric_aspects: Mapping[str, str] | None = None,
    ) -> Dataset:
        """A checked Dataset; people among the systems are found by name unless given."""
        if not has_unique_keys(samples):
            twice = samples.filter(~samples.select(KEY).is_unique()).row(0, named=True)
            raise DataError(f"{name}: system '{twice['system']}' has two outputs for input '{twice['input']}'.")
        refuse_patterns(name, (*samples.columns, *(() if scores is None else scores.columns)))
        systems = samples["system"].unique(maintain_order=True)
        found = [s for s in systems if PEOPLE.search(s)] if people is None else [s for s in systems if s in set(people)]
        if len(found) == len(systems):
            found = []  # then the names say nothing
        return cls(
            name=name,
            samples=samples,
            ratings=ratings if ratings is not None else pl.DataFrame(schema=cls.RATINGS),
            comparisons=comparisons if comparisons is not None else pl.DataFrame(schema=cls.COMPARISONS),
            scores=scores if scores is not None else samples.select(KEY),
            failures=failures if failures is not None else pl.DataFrame(schema=cls.FAILURES),
            spans=spans if spans is not None else pl.DataFrame(schema=cls.SPANS),
            persons=persons,
            people=frozenset(found),
            lower=frozenset(lower),
            notes=tuple(notes),
            models=frozenset(models),
            sources=sources or {},
            metric_aspects=metric_aspects or {},
        )

    def with_people(self, people: Iterable[str]) -> Dataset:
        """Return the same data with these systems as those whose outputs humans wrote; none where that is all."""
        found = frozenset(people) & frozenset(self.systems)
        return replace(self, people=frozenset() if len(found) == len(self.systems) else found)

    # --- what is in it ---

    @property
    def assumed(self) -> list[str]:
        """Aspects whose ratings are only assumed to be human."""
        return [a for a in self.aspects if a in self.sources and self.sources[a].assumed]

    @property
    def systems(self) -> list[str]:
        """Systems, in the order of the data."""
        return self.samples["system"].unique(maintain_order=True).to_list()

    @property
    def inputs(self) -> list[str]:
        """Inputs, in the order of the data."""
        return self.samples["input"].unique(maintain_order=True).to_list()

    @property
    def aspects(self) -> list[str]:
        """Rated aspects, in the order of the data."""
        return self.ratings["aspect"].unique(maintain_order=True).to_list()

    @property
    def raters(self) -> list[str]:
        """Annotators, in the order of the data."""
        return self.ratings["rater"].drop_nulls().unique(maintain_order=True).to_list()

    @property
    def metrics(self) -> list[str]:
        """Metrics with scores."""
        return [c for c in self.scores.columns if c not in KEY]

    def __len__(self) -> int:
        return self.samples.height

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.systems)} systems × "
            f"{trials_text(self.samples) or f'{len(self.inputs)} inputs'}, {len(self)} outputs, "
            f"aspects {self.aspects}, {len(self.raters)} raters, {len(self.metrics)} metrics)"
        )

    # --- parts of it ---

    def aspect(self, name: str | None = None) -> str:
        """The aspect of that name; without a name the only one, or an error that lists them."""
        if name is None and len(self.aspects) == 1:
            return self.aspects[0]
        name = name if name is None or name in self.aspects else common_form(name)
        if not self.aspects:
            raise DataError(self._unrated(), data=self.name, code="no_ratings")
        if name not in self.aspects:
            hint = did_you_mean(name, self.aspects) if name else " Choose one."
            raise NameUnknown(f"{self.name}: no aspect '{name}'.{hint} Aspects: {', '.join(self.aspects)}.")
        return name

    def _unrated(self) -> str:
        """Why there is nothing to hold a metric against, and what would be needed."""
        votes, models = self.comparisons.height, ", ".join(sorted(self.models))
        if theirs := self.voted(people=True).height:
            return (
                f"people compared outputs here ({theirs:,} choices) and rated none; `nlgauge analyze rank FILE` "
                "ranks the "
                f"systems by their choices, {call('analyze wins FILE')} holds metrics against them."
            )
        if self.models:
            also = (
                " `nlgauge analyze rank FILE` shows its order of the systems, and whether it prefers what it is "
                "shown first."
                if votes
                else ""
            )
            return (
                f"only models judged here ({models}), so nothing says whether they are right: people's ratings of "
                f"these outputs are needed ({option('human')} names their columns), or people's choices.{also}"
            )
        found = next((note for note in self.notes if code_of(note) == "declare"), "")
        hint = f" Here: {found}." if found else ""
        return (
            f"no human ratings found; name their columns with {option('human')}, or their file with "
            f"{option('labels')}.{hint}"
        )

    def voted(self, people: bool) -> pl.DataFrame:
        """The comparisons that people made, or those of models. A rater without a name is taken for a person."""
        machine = pl.col("rater").is_in(sorted(self.models)).fill_null(False)
        return self.comparisons.filter(~machine if people else machine)

    @property
    def voters_assumed(self) -> bool:
        """Whether choices are only assumed to be those of humans: nobody is named who made them."""
        votes = self.voted(people=True)
        return votes.height > 0 and votes["rater"].null_count() == votes.height and self.rated_by == "people"

    def with_scores(self, values: Mapping[str, Sequence[float | None]] | pl.DataFrame) -> Dataset:
        """New metric columns, given in the order of `samples`, or as a frame keyed by system and input."""
        if not isinstance(values, pl.DataFrame):
            check_metrics(self.name, values)
            values = self.samples.select(KEY).with_columns(
                pl.Series(name, column, pl.Float64, strict=False).fill_nan(None) for name, column in values.items()
            )
        else:
            refuse_patterns(self.name, values.columns)
        old = self.scores.drop([c for c in values.columns if c not in KEY], strict=False)
        joined = self.samples.select(KEY).join(old, on=KEY, how="left").join(values, on=KEY, how="left")
        return replace(self, scores=joined)

    def clustered(self, column: str) -> Dataset:
        """The same data, with the outputs of one value of the column (a conversation, a document) taken as not
        independent.
        """
        data = self._with_names(column)
        if column not in data.samples.columns:
            raise self.no_column(column)
        return replace(data, cluster=column)

    def with_family(self, family: str) -> Dataset:
        """Return the same data with the systems of one family (variants of one model) taken as not independent.

        Parameters
        ----------
        family : str
            A column that has one value per system, such as the model behind it; or a regular expression with one group
            that finds the family in the names of systems (upper and lower case alike). A system without a value, or
            that does not match, is a family of its own.

        Examples
        --------
        >>> import nlgauge as ng
        >>> rows = [{"system": s, "doc": d, "coherence": c, "bleu": b}
        ...         for s, d, c, b in [("gpt-4", 1, 4, .3), ("gpt-4o", 1, 5, .5), ("llama-3", 1, 2, .1)]]
        >>> ng.load(rows, name="mine").with_family("^([a-z]+)-").panel().families
        ('gpt', 'gpt', 'llama')
        """
        data = replace(self._with_names(family), family=family)
        check_family(data)
        return data

    def _with_names(self, column: str) -> Dataset:
        """The same data with the column as names: a number that names a conversation or model looks like a score."""
        if column not in self.metrics:
            return self
        names = self.scores.select(*KEY, pl.col(column).cast(pl.String))
        samples = self.samples.drop(column, strict=False).join(names, on=KEY, how="left", maintain_order="left")
        return replace(self, samples=samples, scores=self.scores.drop(column))

    def no_column(self, name: str) -> NameUnknown:
        """Return the error for a column that does not exist, with the nearest names."""
        known = [c for c in self.samples.columns if c not in ("output", "source", "references", "context")]
        return NameUnknown(f"{self.name}: no column '{name}'.{did_you_mean(name, known)} Columns: {', '.join(known)}.")

    def only_metrics(self, names: Sequence[str]) -> Dataset:
        """Return the data with the scores of these metrics only."""
        names = [name if name in self.metrics else common_form(name) for name in names]
        for name in names:
            if name not in self.metrics:
                raise NameUnknown(
                    f"{self.name}: no scores of metric '{name}'.{did_you_mean(name, self.metrics)} "
                    f"Metrics with scores: {', '.join(self.metrics)}."
                )
        return replace(self, scores=self.scores.select([*KEY, *names]))

    def where(self, rows: pl.DataFrame, name: str | None = None) -> Dataset:
        """The part whose (system, input) stands in `rows`."""
        keys = rows.select(KEY).unique()

        def part(frame: pl.DataFrame) -> pl.DataFrame:
            return frame.join(keys, on=KEY, how="semi")

        systems = set(keys["system"])
        inside = self.comparisons.filter(
            pl.col("input").is_in(keys["input"].to_list())
            & pl.col("first").is_in(list(systems))
            & pl.col("second").is_in(list(systems))
        )
        return replace(
            self,
            name=name or self.name,
            samples=part(self.samples),
            ratings=part(self.ratings),
            comparisons=inside,
            scores=part(self.scores),
            failures=part(self.failures),
            spans=part(self.spans),
            people=self.people & systems,
            notes=(),
        )

    def by(self, *columns: str) -> Iterator[tuple[dict[str, Any], Dataset]]:
        """One Dataset per combination of values of the columns, in order of appearance.

        `column=value` makes two parts: those outputs, and all others ("not value").
        """
        samples = self.samples
        for column in columns:
            name, equals, value = column.partition("=")
            if column not in samples.columns and equals and name in samples.columns:
                same = (pl.col(name).cast(pl.String) == value).fill_null(False)
                if not samples.select(same.any()).item():
                    raise NameUnknown(f"{self.name}: column '{name}' has no value '{value}'.")
                words = pl.when(same).then(pl.lit(value)).otherwise(pl.lit(f"not {value}"))
                samples = samples.with_columns(words.alias(column))
            elif column not in samples.columns:
                raise self.no_column(column)
        for values, rows in samples.group_by(list(columns), maintain_order=True):
            group = dict(zip(columns, values, strict=True))
            yield group, self.where(rows, f"{self.name}: {', '.join(str(v) for v in values)}")

    def panel(
        self,
        aspect: str | None = None,
        *,
        metrics: Sequence[str] | None = None,
        keep_people: bool = False,
        aggregate: Aggregate = "mean",
        seed: int = 0,
        canonical: bool = False,
    ) -> Panel:
        """Systems × inputs arrays for statistics; see `Panel.of`. `canonical`: ordered by content, as analyses need it.

        >>> import nlgauge as ng
        >>> ng.example().panel("constructed_quality").human.shape
        (8, 24)
        """
        asked = self.aspect(aspect)
        options: dict[str, Any] = {
            "metrics": None if metrics is None or list(metrics) == self.metrics else list(metrics),
            "keep_people": keep_people and bool(self.people),
            "aggregate": aggregate,
            "seed": seed,
        }
        with _BUILDING:
            made = self._panels.setdefault(repr(options), {})
            if (asked, canonical) not in made:
                base = _of_other_aspect(made, asked, canonical)
                if base is None:
                    base = _of_other_aspect(made, asked, False) or self._plain_panel(asked, options)
                    made[base.aspect, False] = base
                    base = base.canonical() if canonical else base
                made[asked, canonical] = base if base.aspect == asked else base.with_aspect(asked)
            while len(self._panels) > MAX_PANEL_OPTIONS:
                del self._panels[next(iter(self._panels))]
            return made[asked, canonical]

    def _plain_panel(self, aspect: str, options: dict[str, Any]) -> Panel:
        """A panel that is not there with another aspect; one with fewer metrics is a part of the one with all."""
        every = self._panels.get(repr({**options, "metrics": None}), {})
        whole = _of_other_aspect(every, aspect, False)
        return Panel.of(self, aspect, **options) if whole is None else whole.with_metrics(options["metrics"], aspect)

    @cached_property
    def _panels(self) -> dict[str, dict[tuple[str, bool], Panel]]:
        """Options of a panel -> its aspect and whether it is canonical -> the panel, made once for all analyses."""
        return {}

    def _repr_html_(self) -> str:
        """As a notebook shows it: what was understood, line by line."""
        first, *rest = card(self)
        lines = "".join(f"<li>{for_html(line)}</li>" for line in rest)
        return f"<p><strong>{for_html(first)}</strong></p><ul>{lines}</ul>"


def _of_other_aspect(made: Mapping[tuple[str, bool], Panel], aspect: str, canonical: bool) -> Panel | None:
    """A panel of the same options that holds the aspect."""
    return next((panel for (_, order), panel in made.items() if order == canonical and aspect in panel.humans), None)
