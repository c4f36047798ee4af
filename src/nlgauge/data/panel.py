"""Panel: ratings and scores as float arrays, systems × inputs, for statistics; NaN is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nlgauge.data.families import system_families
from nlgauge.data.units import KEY, units_of
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.options import call, option
from nlgauge.stats.correlation.ties import largest, snap
from nlgauge.stats.resampling.canonical import canonical_order, rater_order
from nlgauge.table import Table
from nlgauge.types import Array, AspectScale, Ints

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

Aggregate = Literal["mean", "median", "mace"]
T = TypeVar("T")
MAX_CELLS = 50_000_000  # of annotators × systems × inputs: 400 MB
MAX_CATEGORIES = 20  # distinct ratings for MACE


@dataclass(frozen=True)
class Panel:
    """Human ratings of one aspect and the scores of every metric, on the same grid of systems × inputs.

    `humans` has all aspects (N × M each), `raters` the individual ratings (R × N × M, R as in `rater_names`) if there
    are two or more annotators; `human_systems` names the human-written outputs that were excluded.
    """

    name: str
    aspect: str
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    metrics: dict[str, Array]
    humans: dict[str, Array]
    raters: dict[str, Array]
    rater_names: tuple[str, ...] = ()
    persons: bool = False
    crowd: int = 0  # number of annotators, if too many for an array with one layer each
    human_systems: tuple[str, ...] = ()
    lower: frozenset[str] = frozenset()
    rated_by: str = "humans"
    kept: tuple[str, ...] = ()  # human-written outputs included on request
    aggregate: Aggregate = "mean"
    given: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # systems and inputs in the order of the file
    cluster_column: str = ""  # column of the unit of several inputs (`units_of`); "input" for trials
    cluster_names: tuple[str, ...] = ()  # of each input
    family_column: str = ""  # column or pattern of the systems' families, if any
    family_names: tuple[str, ...] = ()  # of each system
    data: Dataset | None = field(default=None, repr=False, compare=False)  # source of the panel
    # Scores of metrics that evaluate another aspect (`Dataset.metric_aspects`); not part of this panel.
    other_metrics: dict[str, Array] = field(default_factory=dict, repr=False)
    _results: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        data: Dataset,
        aspect: str | None = None,
        *,
        metrics: Sequence[str] | None = None,
        keep_human: bool = False,
        aggregate: Aggregate = "mean",
        seed: int = 0,
    ) -> Panel:
        """Return the panel of a Dataset, without human-written outputs unless `keep_human`.

        `aggregate` combines the ratings of an output: mean, median, or the most probable label by MACE, which weights
        annotators by their competence (`seed` is for its random starts).
        """
        if aggregate not in get_args(Aggregate):
            raise NameUnknown(f"no aggregate '{aggregate}'; use {', '.join(get_args(Aggregate))}.")
        aspect = data.aspect(aspect)
        if metrics is not None:
            data = data.only_metrics(metrics)
        data = data.of_scale(aspect)
        unordered = aspect in data.scales and data.scales[aspect].unordered
        left_out = () if keep_human else tuple(s for s in data.systems if s in data.human_systems)
        systems = [s for s in data.systems if s not in left_out]
        rated = data.ratings.filter(pl.col("system").is_in(systems))
        # Inputs without ratings on any aspect are not needed; leaving them out keeps large sets small.
        rated_inputs = set(rated["input"].unique().to_list())
        inputs = [i for i in data.inputs if i in rated_inputs]
        if not inputs:
            raise DataError("no rated outputs.", data=data.name, code="no_ratings")
        grid = _Grid(systems, inputs)
        names = data.raters if rated["rater"].null_count() < rated.height else []
        persons, crowd = data.persons, 0
        if len(names) * len(systems) * len(inputs) > MAX_CELLS:
            crowd = len(names) if persons else 0
            rated, names, persons = _by_slot(rated)
        humans, raters = {}, {}
        for each in data.aspects:
            cube = grid.cube(rated.filter(pl.col("aspect") == each), names)
            named = cube[: len(names)]
            try:
                if aggregate == "mace":
                    humans[each] = _mace(named, persons, seed)
                else:
                    humans[each] = commonest(cube) if unordered else _combine(cube, aggregate)
            except NeedsMissing as error:
                if each == aspect:
                    code = error.refusals[0].code
                    raise NeedsMissing(str(error), data=data.name, aspect=each, code=code) from None
                continue  # another aspect than the requested one: not in this panel
            if (~np.isnan(named).all(axis=(1, 2))).sum() > 1:
                raters[each] = named
        units = units_of(data, inputs)
        return cls(
            name=data.name,
            aspect=aspect,
            systems=tuple(systems),
            inputs=tuple(inputs),
            metrics=grid.scores(data.scores, data.metrics),
            humans=humans,
            raters=raters,
            rater_names=tuple(names),
            persons=persons,
            crowd=crowd,
            human_systems=left_out,
            lower=data.lower & set(data.metrics),
            rated_by=data.rated_by,
            kept=tuple(s for s in systems if s in data.human_systems),
            aggregate=aggregate,
            cluster_column=units.column,
            cluster_names=units.names,
            **system_families(data, systems),
            data=data,
        ).with_aspect(aspect)

    @property
    def clusters(self) -> tuple[str, ...] | None:
        """The unit of each input (`units_of`) if several inputs share one; None if all are independent."""
        return self.cluster_names or None

    @property
    def units(self) -> tuple[str, ...]:
        """The independent unit of each input: its document or conversation, the input of a trial, or itself."""
        return self.cluster_names or self.inputs

    def unit_codes(self, inputs: Ints) -> NDArray[np.int64]:
        """Return the number of each row's unit, given the index of its input."""
        return np.unique(np.asarray(self.units), return_inverse=True)[1].reshape(-1)[inputs].astype(np.int64)

    def row_units(self, inputs: Ints) -> NDArray[np.str_] | None:
        """Return the name of each row's unit, given the index of its input; None if every row is its own unit."""
        return np.asarray(self.units)[inputs] if self.clusters or self.n_systems > 1 else None

    def row_codes(self, inputs: Ints) -> NDArray[np.int64] | None:
        """Return `row_units` as numbers."""
        units = self.row_units(inputs)
        return None if units is None else np.unique(units, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @property
    def families(self) -> tuple[str, ...] | None:
        """The family of each system; its members are not independent. None without families."""
        return self.family_names or None

    @property
    def nameless(self) -> str:
        """Why ratings cannot be attributed to annotators; empty if they can."""
        if self.persons:
            return ""
        return f"there are too many annotators ({self.crowd:,})" if self.crowd else "annotator IDs are unknown"

    @property
    def scale(self) -> AspectScale:
        """The type of the aspect; numeric unless another type is known."""
        return AspectScale("numeric") if self.data is None else self.data.scale(self.aspect)

    @property
    def human(self) -> Array:
        """Ratings of the aspect, systems × inputs."""
        return self.humans[self.aspect]

    @property
    def names(self) -> list[str]:
        """Names of the metrics."""
        return list(self.metrics)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.systems)

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    def stacked(self) -> Array:
        """Return all metrics as one array K × N × M."""
        self.require_metrics()
        return np.stack(list(self.metrics.values()))

    def require_metrics(self) -> None:
        """Raise an error if there are no metric scores."""
        if not self.metrics:
            raise DataError(
                f"no metric scores found; name their columns with {option('metrics')}, or run {call('score FILE')}.",
                data=self.name,
                code="no_scores",
            )

    def label(self, metric: str) -> str:
        """Return the name of a metric in a table, with an arrow if lower is better and its sign is flipped."""
        return f"{metric} ↓" if metric in self.lower else metric

    def oriented(self) -> Array:
        """Return all metrics as K × N × M, oriented so that higher is better.

        This is the only place where the sign of metrics in `lower` is flipped; all comparisons start from here.
        """
        signs = np.array([-1.0 if name in self.lower else 1.0 for name in self.metrics])
        metrics = self.stacked()
        metrics *= signs[:, None, None]
        return metrics

    def output_lengths(self) -> Array | None:
        """Return the number of characters of each output (systems × inputs); None without texts."""
        if self.data is None or "output" not in self.data.samples.columns:
            return None
        texts = self.data.samples.select(*KEY, pl.col("output").cast(pl.String).str.len_chars().alias("length"))
        if not texts["length"].null_count() < texts.height:
            return None
        return _Grid(self.systems, self.inputs).scores(texts, ["length"])["length"]

    def canonical(self) -> Panel:
        """Return the same panel with systems, inputs and annotators ordered by content (`stats.canonical`).

        Random draws then depend neither on the order of the file nor on names. Analyses use this panel; `given` and
        `listed` have the order of the file for display. Metrics and aspects keep their order.
        """
        if self.given is not None:
            return self
        ratings = [self.raters.get(a, human) for a, human in self.humans.items()]
        # The means as well: ratings without an annotator are in no layer of the cube.
        ratings += [human for a, human in self.humans.items() if a in self.raters]
        order = canonical_order(ratings, self.oriented() if self.metrics else ())
        systems, inputs = order
        who = rater_order(self.raters.values(), order) if self.raters else None

        def reordered(tables: dict[str, Array]) -> dict[str, Array]:
            return {name: table[..., systems, :][..., inputs] for name, table in tables.items()}

        return replace(
            self,
            systems=tuple(self.systems[i] for i in systems),
            inputs=tuple(self.inputs[j] for j in inputs),
            metrics=reordered(self.metrics),
            humans=reordered(self.humans),
            other_metrics=reordered(self.other_metrics),
            raters={a: cube[who] for a, cube in reordered(self.raters).items()},
            rater_names=self.rater_names
            if who is None or not self.rater_names
            else tuple(self.rater_names[r] for r in who),
            given=(self.systems, self.inputs),
            cluster_names=tuple(self.cluster_names[j] for j in inputs) if self.cluster_names else (),
            family_names=tuple(self.family_names[i] for i in systems) if self.family_names else (),
        )

    @property
    def listed(self) -> list[int]:
        """Indices of the systems in the order of the file, in which tables list them."""
        return [self.systems.index(s) for s in (self.given[0] if self.given else self.systems)]

    def with_aspect(self, aspect: str) -> Panel:
        """Return the panel of another aspect."""
        if aspect not in self.humans:
            raise NameUnknown(f"{self.name}: no aspect '{aspect}'. Aspects: {', '.join(self.humans)}.")
        about = {} if self.data is None else self.data.metric_aspects
        if not about:
            return replace(self, aspect=aspect)
        every = {**self.metrics, **self.other_metrics}
        names = [name for name in self.data.metrics if name in every] if self.data else list(every)
        here = {name: every[name] for name in names if about.get(name, aspect) == aspect}
        others = {name: every[name] for name in names if name not in here}
        return replace(self, aspect=aspect, metrics=here, other_metrics=others)

    def with_metrics(self, metrics: Sequence[str], aspect: str) -> Panel:
        """Return the panel of these metrics and this aspect, in the order of the file."""
        assert self.data is not None
        data, every = self.data.only_metrics(metrics), {**self.metrics, **self.other_metrics}
        selected = {name: every[name] for name in data.metrics}
        lower = data.lower & set(data.metrics)
        return replace(self, data=data, metrics=selected, other_metrics={}, lower=lower).with_aspect(aspect)

    def once(self, key: Any, compute: Callable[[], T]) -> T:
        """Return the result of `compute`, computed once per panel and shared by all analyses."""
        if key not in self._results:
            self._results[key] = compute()
        result: T = self._results[key]
        return result

    def correlate(self, measures: str | Sequence[str] | None = None, *, sort: str | None = None) -> Table:
        """Return the metrics × measures table of the analysis `correlate`.

        >>> import nlgauge as ng
        >>> table = ng.example().panel().correlate(measures=["input/kendall"])
        >>> table.rows[0]["metric"]
        'unigram_f1'
        """
        return self.analyze("correlate", measures=measures, sort=sort)

    def analyze(self, name: str, **options: Any) -> Table:
        """Run an analysis on this panel, or on its data set if the analysis needs all of it.

        >>> import nlgauge as ng
        >>> ng.example().panel().analyze("chance").kind
        'chance'
        """
        import nlgauge

        return nlgauge.analyze(name, self, **options)

    def _repr_html_(self) -> str:
        """Return the size, and the metrics and aspects with the number of outputs that have a value, as HTML for
        notebooks.
        """
        rows = [
            {"of": kind, "name": name, "outputs with a value": int(np.isfinite(values).sum())}
            for kind, tables in (("metric", self.metrics), ("aspect", self.humans))
            for name, values in tables.items()
        ]
        title = f"{self.name}, {self.aspect}: {self.n_systems} systems × {self.n_inputs} inputs"
        return Table(title, rows)._repr_html_()


def _by_slot(rated: pl.DataFrame) -> tuple[pl.DataFrame, list[str], bool]:
    """Number the ratings of each output instead of naming annotators, because thousands of crowd workers would make the
    array too large.
    """
    slot = (pl.int_range(pl.len()).over([*KEY, "aspect"]) + 1).cast(pl.String)
    rated = rated.with_columns(pl.when(pl.col("rater").is_not_null()).then(slot).alias("rater"))
    return rated, rated["rater"].drop_nulls().unique(maintain_order=True).to_list(), False


class _Grid:
    """Indices of systems and inputs, to scatter tidy rows into arrays."""

    def __init__(self, systems: Sequence[str], inputs: Sequence[str]) -> None:
        self.shape = (len(systems), len(inputs))
        self.rows = {name: k for k, name in enumerate(systems)}
        self.columns = {name: k for k, name in enumerate(inputs)}

    def _placed(self, frame: pl.DataFrame) -> tuple[Any, tuple[Any, Any]]:
        """Return which rows are on the grid, and their indices.

        The indices are not added to the frame as columns, because a metric may have any name.
        """
        row, column = (
            frame[key].replace_strict(indices, default=-1, return_dtype=pl.Int32).to_numpy()
            for key, indices in zip(KEY, (self.rows, self.columns), strict=True)
        )
        on_grid = (row >= 0) & (column >= 0)
        return on_grid, (row[on_grid], column[on_grid])

    def scores(self, frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Array]:
        on_grid, cells = self._placed(frame)
        scores = {}
        for name in names:
            values = frame[name].cast(pl.Float64).to_numpy()[on_grid]
            values[np.isinf(values)] = np.nan  # it has no mean or correlation; the card counts it
            scores[name] = self._filled(cells, values)
        return scores

    def cube(self, ratings: pl.DataFrame, raters: Sequence[str]) -> Array:
        """Return the ratings as an array with one layer per annotator, and a last layer for averages and ratings
        without an annotator.
        """
        slots = {name: k for k, name in enumerate(raters)}
        on_grid, (row, column) = self._placed(ratings)
        slot = ratings["rater"].replace_strict(slots, default=len(slots), return_dtype=pl.Int64).to_numpy()
        cube = np.full((len(slots) + 1, *self.shape), np.nan)
        cube[slot[on_grid], row, column] = ratings["value"].to_numpy()[on_grid]
        return cube

    def _filled(self, cells: tuple[Any, Any], values: Array) -> Array:
        array = np.full(self.shape, np.nan)
        array[cells] = values
        return array


def _mace(ratings: Array, persons: bool, seed: int) -> Array:
    """Return the most probable label of each output by MACE.

    The expected value is not used, because its rounding errors would break ties.
    """
    # Imported late: it loads scipy.
    from nlgauge.stats.agreement.mace import mace

    if not persons or (~np.isnan(ratings).all(axis=(1, 2))).sum() < 2:
        raise NeedsMissing(
            "MACE weights annotators and needs ratings of at least two annotators with IDs.", code="too_few_raters"
        )
    categories = len(np.unique(ratings[~np.isnan(ratings)]))
    if categories > MAX_CATEGORIES:
        raise NeedsMissing(
            f"MACE needs categories, at most {MAX_CATEGORIES}; the ratings have {categories} distinct values. Use mean "
            "or median.",
            code="unsuited_option",
        )
    order = canonical_order([ratings])
    cells = np.ix_(rater_order([ratings], order), *order)
    result = mace(ratings[cells], np.random.default_rng(np.random.SeedSequence(seed)))
    labels = np.empty(ratings.shape[1:])
    labels[np.ix_(*order)] = np.asarray(result.consensus).reshape(ratings.shape[1:])
    return labels


def commonest(cube: Array) -> Array:
    """Return the commonest code of each output; NaN where two are equally common.

    >>> commonest(np.array([[0.0, 1.0, 2.0], [0.0, 2.0, np.nan], [1.0, 1.0, np.nan]])).tolist()
    [0.0, 1.0, 2.0]
    """
    codes = np.unique(cube[np.isfinite(cube)])
    if not len(codes):
        return np.full(cube.shape[1:], np.nan)
    counts = np.stack([(cube == code).sum(axis=0) for code in codes])
    most = counts.max(axis=0)
    alone = ((counts == most).sum(axis=0) == 1) & (most > 0)
    return np.where(alone, codes[counts.argmax(axis=0)], np.nan)


def _combine(cube: Array, aggregate: Aggregate) -> Array:
    rated = ~np.isnan(cube).all(axis=0)
    combined = np.full(cube.shape[1:], np.nan)
    function = np.nanmean if aggregate == "mean" else np.nanmedian
    combined[rated] = function(cube[:, rated], axis=0)
    # Means of equal ratings may differ in the last bit; ties between human ratings must survive.
    return snap(combined, scale=largest(cube, axis=0))
