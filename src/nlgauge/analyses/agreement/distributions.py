"""Agreement of a judge with the distribution of the annotators' ratings, and with groups of annotators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from nlgauge.analyses import analysis
from nlgauge.analyses._common import human_note, ratings_of, signature
from nlgauge.data.panel import Panel
from nlgauge.errors import NameUnknown, NeedsMissing
from nlgauge.number import number, row_interval
from nlgauge.registry import did_you_mean
from nlgauge.stats.agreement.distributions import DIVERGENCES, clustered_mean, face_others
from nlgauge.stats.agreement.label_sets import code_counts, judge_agreement, set_distances
from nlgauge.stats.agreement.two_by_two import Figure
from nlgauge.table import Row, Table, Title
from nlgauge.types import Array

MOST_VALUES = 20  # different ratings that still are levels
WORDS = {
    "jensen_shannon": "Jensen-Shannon divergence (bits)",
    "cross_entropy": "cross-entropy (bits)",
    "earth_mover": "earth mover's distance",
}


@analysis("distributions", question="Does the judge agree with the distribution of annotators?", classes=True)
def distributions(
    panel: Panel, *, groups: Mapping[str, Sequence[str]] | str | None = None, level: float = 0.95
) -> Table:
    """Compare a judge's ratings with the distribution of the annotators' ratings, and with the agreement that one more
    annotator would reach.

    Parameters
    ----------
    panel : Panel
        Metric scores and human ratings of one aspect, of three annotators per output or more.
    groups : mapping or str, optional
        Groups of annotators, as in "experts=ann+bob,crowd=w1+w2", to test whether a judge agrees more with one of them.

    Returns
    -------
    Table
        One row per judge and divergence: `value` of the judge, `annotator` (one annotator, compared with the others),
        and `difference` (judge less annotator: below 0 the judge is nearer to the annotators) with `low`, `high` and
        `p`. With `groups`, one row per judge and group: agreement with single annotators of the group, and the
        difference from the agreement with all others.

    Notes
    -----
    Each annotator is left out in turn. The annotator and the judge are compared with the distribution of the others,
    so that both are compared with the same number of ratings. Jensen-Shannon divergence lies between 0 and 1;
    cross-entropy adds half a vote to each value; the earth mover's distance, for ordered values only, is a share of
    the largest one. Intervals: Student's t over outputs, or clusters of them.

    Examples
    --------
    >>> import nlgauge as ng
    >>> rows = [{"id": i, "human_1": i % 3, "human_2": i % 3, "human_3": i % 2, "judge": i % 3} for i in range(30)]
    >>> table = ng.analyze("distributions", ng.load(rows, name="mine"))
    >>> [row["measure"] for row in table]
    ['jensen_shannon', 'cross_entropy', 'earth_mover']

    $ nlgauge analyze distributions labels.csv --groups experts=ann+bob,crowd=w1+w2
    """
    cube = ratings_of(panel, "distributions", 3)
    panel.require_metrics()
    codes, judged, values = _coded(panel, cube)
    flat = codes.reshape(len(codes), -1)
    unordered = panel.scale.unordered
    rows = [
        row for name, given in judged.items() for row in _rows(panel, name, flat, given, (values, unordered), level)
    ]
    if not any(np.isfinite(row["value"]) for row in rows):
        raise NeedsMissing(
            "no output has three ratings and a value of a judge that annotators use.", code="too_few_raters"
        )
    rows += _group_rows(panel, flat, judged, values, (_parsed(groups), level)) if groups else []
    return Table(
        title=Title(panel.name, f"distribution of the annotators on {panel.aspect}"),
        rows=rows,
        shown=["metric", "measure", "group", "value", "annotator", "difference", "n", "reason"],
        heads={"metric": "judge", "annotator": "one annotator", "n": "outputs"},
        cells={"difference": _difference},
        answers=_answers(rows),
        method=f"{level:.0%} intervals of the difference (judge less annotator): Student's t over "
        f"{'clusters of outputs' if panel.clusters else 'outputs'} with three ratings or more.",
        notes=human_note(panel),
        signature=signature(panel, level=number(level, 2)),
    )


def _coded(panel: Panel, cube: Array) -> tuple[Array, dict[str, Array], int]:
    """Return ratings and judge scores as codes of ordered values, and the number of values."""
    if panel.scale.unordered:
        return cube, {name: v.reshape(-1) for name, v in panel.metrics.items()}, len(panel.scale.names)
    levels = np.unique(cube[np.isfinite(cube)])
    if len(levels) > MOST_VALUES:
        raise NeedsMissing(
            f"annotators gave {len(levels)} different values; at most {MOST_VALUES} are levels.", code="unsuited_column"
        )

    def coded(values: Array) -> Array:
        place = np.clip(np.searchsorted(levels, values), 0, len(levels) - 1)
        return np.where(levels[place] == values, place, np.nan)

    found = {name: coded(v.reshape(-1)) for name, v in panel.metrics.items()}
    return coded(cube), {name: v for name, v in found.items() if np.isfinite(v).any()}, len(levels)


def _rows(panel: Panel, name: str, codes: Array, given: Array, kind: tuple[int, bool], level: float) -> Iterator[Row]:
    values, unordered = kind
    for divergence in DIVERGENCES:
        if divergence == "earth_mover" and unordered:
            continue
        faced = face_others(codes, given, values, divergence)
        clusters = panel.row_codes(faced.outputs % panel.n_inputs)
        found = clustered_mean(faced.judge - faced.annotator, clusters, level, faced.spread)
        value, annotator = (float(v.mean()) if len(v) else np.nan for v in (faced.judge, faced.annotator))
        yield _row(panel, name, divergence, None, (value, annotator), found)


def _row(panel: Panel, name: str, measure: str, group: str | None, values: tuple[float, float], found: Figure) -> Row:
    value, other = values
    return {
        "metric": name,
        "aspect": panel.aspect,
        "measure": measure,
        "group": group,
        "value": value,
        "annotator": other,
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "p": found.p,
        "n": found.n,
        "reason": found.reason or None,
    }


def _parsed(groups: Mapping[str, Sequence[str]] | str) -> dict[str, list[str]]:
    """Parse groups of annotators, as in `experts=ann+bob,crowd=w1+w2`."""
    if isinstance(groups, str):
        pairs = [part.partition("=") for part in groups.split(",") if part.strip()]
        if not all(sign for _, sign, _ in pairs):
            raise NameUnknown(f"groups: found '{groups}', expected pairs such as experts=ann+bob,crowd=w1+w2.")
        return {name.strip(): [who.strip() for who in members.split("+")] for name, _, members in pairs}
    return {name: [members] if isinstance(members, str) else list(members) for name, members in groups.items()}


def _group_rows(
    panel: Panel,
    codes: Array,
    judged: Mapping[str, Array],
    values: int,
    asked: tuple[Mapping[str, Sequence[str]], float],
) -> Iterator[Row]:
    """Compare the agreement of each judge with the annotators of a group to that with all other annotators."""
    groups, level = asked
    cube = panel.raters[panel.aspect]
    rated = np.asarray(np.isfinite(cube).any(axis=(1, 2)))
    names = [name for name, there in zip(panel.rater_names, rated.tolist(), strict=False) if there]
    for group, members in groups.items():
        if unknown := [who for who in members if who not in names]:
            raise NameUnknown(f"group '{group}': no annotator '{unknown[0]}'.{did_you_mean(unknown[0], names)}")
        inside = np.isin(names, list(members))
        parts = [code_counts(codes[mask], values) for mask in (inside, ~inside)]
        for name, given in judged.items():
            yield _group_row(panel, name, group, given, parts, level)


def _group_row(panel: Panel, name: str, group: str, given: Array, parts: Sequence[Array], level: float) -> Row:
    rated = np.isfinite(given) & (parts[0].sum(axis=1) > 0) & (parts[1].sum(axis=1) > 0)
    outputs = np.flatnonzero(rated)
    if not len(outputs):
        missing = Figure(np.nan, reason="no output has ratings of the group and of others")
        return _row(panel, name, "agreement", group, (np.nan, np.nan), missing)
    code = given[outputs].astype(np.int64)
    shares = [c[outputs, code] / c[outputs].sum(axis=1) for c in parts]
    apart = set_distances(np.eye(parts[0].shape[1]), "nominal")
    values = tuple(judge_agreement(code, c[outputs], apart).value for c in parts)
    found = clustered_mean(shares[0] - shares[1], panel.row_codes(outputs % panel.n_inputs), level, 1.0)
    return _row(panel, name, "agreement", group, (values[0], values[1]), found)


def _difference(row: Row) -> str:
    return row_interval({"value": row["difference"], "low": row["low"], "high": row["high"]})


def _answers(rows: Sequence[Row]) -> list[str]:
    """Summarize whether each judge is closer to the annotators than another annotator, and which group it favors."""
    lines = []
    for row in rows:
        if row["measure"] == "jensen_shannon" and np.isfinite(row["low"]):
            how = "is nearer to the annotators than" if row["high"] < 0 else "is farther from the annotators than"
            if row["low"] <= 0 <= row["high"]:
                how = "is not significantly nearer to the annotators, or farther from them, than"
            lines.append(
                f"{row['metric']} {how} one more annotator: Jensen-Shannon divergence {number(row['value'], 2)}, "
                f"annotator {number(row['annotator'], 2)}, difference {_difference(row)}."
            )
    tests = [row for row in rows if row["group"] is not None and np.isfinite(row["p"])]
    for row in tests:
        if row["p"] * len(tests) < 0.05:
            side = "with" if row["difference"] > 0 else "against"
            lines.append(f"{row['metric']} sides {side} {row['group']}: agreement differs by {_difference(row)}.")
    return lines
