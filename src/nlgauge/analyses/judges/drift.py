"""Drift of a judge and of the data between two runs, with outputs that both runs scored as anchors."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from nlgauge import __version__
from nlgauge.analyses import analysis
from nlgauge.analyses.judges._anchors import TwoRuns, two_runs
from nlgauge.analyses.judges.judge_card import compare_card_files, made_otherwise
from nlgauge.analyses.judges.judge_rows import FEWEST, judge_columns, labeled_rows
from nlgauge.data.choice import Choice
from nlgauge.data.dataset import Dataset
from nlgauge.datasets.results import named_alike
from nlgauge.digests import digest
from nlgauge.errors import DataError, NameUnknown, NeedsMissing
from nlgauge.number import interval, number
from nlgauge.options import SOME, call, option
from nlgauge.registry import did_you_mean
from nlgauge.stats.estimation.judge_shift import AGAIN, agreements, anchors_needed, selection_test, shifts
from nlgauge.stats.tests.betting import betting_interval
from nlgauge.stats.tests.corrections import holm
from nlgauge.table import Row, Table, Title, grouped
from nlgauge.types import Bounds

FOUND, NOT_FOUND, INCONCLUSIVE = "found", "not found", "inconclusive"
JUDGE, DATA, TOTAL, SPREAD, POOLED = "judge_shift", "data_shift", "total", "spread", "judge_shift_all_looks"
CHECK_NAMES = {
    TOTAL: "mean score",
    JUDGE: "shift of the judge",
    DATA: "shift of the data",
    SPREAD: "SD of the judge's scores",
    POOLED: "shift of the judge, all tests",
    "agreement": "agreement with human ratings",
}
PLANNED_SHIFT = 0.2  # shift in SDs of the old scores for which the number of anchors is planned
SELECTION_ALPHA = 0.05  # of the test for selected anchors; with 0.01 weak selection causes too many false alarms
Look = Mapping[str, Any]
Level = Annotated[float, Bounds(0.5, 0.9999)]
CODES = {NOT_FOUND: 0, FOUND: 1, INCONCLUSIVE: 3}  # exit codes of the command


def _with_exit_code(table: Table) -> Table:
    table.exit_code = CODES[table.facts["verdict"]]
    return table


@analysis(
    "drift",
    takes="datasets",
    question="Has the judge, or have the data, drifted between two runs?",
    of_files=compare_card_files,
)
def drift(choice: Choice, *, looks: str | Path | None = None, level: Level = 0.95) -> Table:
    """Test whether a judge has drifted between two runs, or whether the data have changed.

    The first data set is the old run and the second the new one. An optional third data set holds outputs of one run
    that were scored by the judge of the other run. Outputs scored by both judges are called anchors.

    Parameters
    ----------
    looks : path, optional
        Log of the tests so far (JSON lines). The error rate of the test for a shift of the judge then holds over all
        tests in the log.

    Returns
    -------
    Table
        One row per judge and check: change of the mean score, the part due to the judge, the part due to the data, the
        change of the SD of the judge's scores, and of the agreement with human ratings; each with interval, p and
        verdict (found, not found, inconclusive).

    Notes
    -----
    The shift of the judge is the mean difference of the two scores of each anchor. Over several tests, half of the
    error rate is spent on a confidence sequence over all anchors so far (Waudby-Smith and Ramdas 2024), and half on
    the anchors of this test. docs/drift.md reports the error rates.

    Examples
    --------
    >>> import nlgauge as ng
    >>> old = [{"id": k, "output": f"answer {k}", "judge": k % 5 + 1} for k in range(40)]
    >>> new = [{**row, "judge": max(1, row["judge"] - 1)} for row in old]
    >>> table = ng.analyze("drift", [ng.load(old, metrics=["judge"]), ng.load(new, metrics=["judge"])])
    >>> table.facts["verdict"], table.rows[1]["measure"], round(table.rows[1]["value"], 2)
    ('found', 'judge_shift', -0.8)

    $ nlgauge analyze drift march.csv april.csv

    $ nlgauge analyze drift march.csv april.csv march_judged_again.csv

    $ nlgauge analyze drift baseline.jsonl today.jsonl --looks looks.jsonl
    """
    path = None if looks is None else Path(looks)
    earlier = None if path is None else _earlier_looks(path, level)
    table = _with_exit_code(compare_runs(choice, earlier, level))
    if path is None or earlier is None:
        return table
    look = {
        "look": len(earlier) + 1,
        "date": datetime.date.today().isoformat(),
        "new": choice.datasets[1].name,
        "level": level,
        "metrics": table.facts["look"],
    }
    if earlier and all(earlier[-1][k] == look[k] for k in ("new", "metrics")):  # the same data are not a new test
        table = _with_exit_code(compare_runs(choice, earlier[:-1], level))
        table.notes.append(f"{path}: the same scores as in test {len(earlier)}, which is not counted again.")
        return table
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(look) + "\n")
    table.notes.append(f"test {look['look']}, recorded in {path}.")
    return table


def _earlier_looks(path: Path, level: float) -> list[dict[str, Any]]:
    """Return the recorded tests; every error names the line of the file."""
    earlier = []
    for place, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else (), 1):
        try:
            look = json.loads(line)
            recorded = float(look["level"]), dict(look["metrics"]), look["new"]
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path}, line {place}: expected a test recorded by `nlgauge analyze drift`.") from None
        if recorded[0] != level:
            raise DataError(
                f"{path}, line {place}: {option('level')} must be {recorded[0]:g} as in the recorded test; got "
                f"{level:g}."
            )
        earlier.append(look)
    return earlier


def compare_runs(choice: Choice, earlier: Sequence[Look] | None, level: float) -> Table:
    """Compare an old run with a new one; `earlier` holds the tests before this one, if tests are recorded."""
    if len(choice.datasets) not in (2, 3):
        raise NeedsMissing("drift requires two runs of a judge: the old table and the new one.", code="one_data_set")
    old, new, *more = named_alike(choice.datasets)
    metrics = _shared(choice, old, new)
    rows: list[Row] = []
    notes: list[str] = []
    look: dict[str, Any] = {}
    representative: dict[str, float] = {}
    for metric in metrics:
        runs, how = two_runs(metric, old, new, more[0] if more else None)
        p, selected = _selection(runs, (old, new)[runs.sampled].name)
        of_metric = _shift_rows(
            metric, runs, None if earlier is None else [k["metrics"].get(metric, {}) for k in earlier], level, selected
        )
        of_metric += _agreement_rows(metric, old, new, choice)
        _decide(of_metric, 1 - level, earlier is not None)
        rows += of_metric
        count = runs.anchors.shape[1]
        notes.append(f"{metric}: {count:,} anchors ({how}), {len(runs.old):,} old and {len(runs.new):,} new scores.")
        if np.isfinite(p):
            representative[metric] = round(p, 6)
            if not selected:
                notes.append(f"{metric}: no evidence that the anchors differ from the other scores (p = {p:.2f}).")
        look[metric] = {"bound": _bound(runs), "inputs": {} if selected else _by_input(runs)}
    changed = {m: parts for m in metrics if (parts := made_otherwise(old.signatures.get(m), new.signatures.get(m)))}
    of_judge = {r["verdict"] for r in rows if r["measure"] in (JUDGE, POOLED)}
    verdict = next((v for v in (FOUND, INCONCLUSIVE) if v in of_judge), NOT_FOUND)
    scope = "over all checks of a judge (Holm)" if earlier is None else "of the judge's shift over all tests"
    return Table(
        title=Title(new.name, f"drift of the judge and of the data since {old.name}"),
        rows=rows,
        shown=["metric", "measure", "old", "new", "value", "p_corrected", "verdict", "n"],
        heads={"metric": "judge", "measure": "change", "value": "difference", "p_corrected": "p (Holm)"},
        cells={
            "measure": lambda r: CHECK_NAMES[r["measure"]] + (f": {r['aspect']}" if r["aspect"] else ""),
            "old": lambda r: number(r["old"], 2),
            "new": lambda r: number(r["new"], 2),
            "value": lambda r: interval(r["value"], r["low"], r["high"], 2),
        },
        method="Shift of the judge: new minus old score of the same output; shift of the data: the rest of the change. "
        f"Jackknife over inputs, Student's t. Error rate with randomly drawn anchors: {number(1 - level, 2)}, {scope} "
        "(simulated in docs/drift.md).",
        answers=[line for of_metric in grouped(rows, "metric").values() for line in _answers(of_metric)]
        + [f"{m} changed: {', '.join(parts)}." for m, parts in changed.items()],
        notes=[*notes, *_unknown(metrics, old, new)],
        facts={"verdict": verdict, "made_otherwise": changed, "representative": representative, "look": look},
        signature=f"nlgauge:{__version__}|level:{level:g}",
    )


def _shared(choice: Choice, old: Dataset, new: Dataset) -> list[str]:
    both = [m for m in old.metrics if m in new.metrics]
    for name in choice.metrics or ():
        if name not in both:
            raise NameUnknown(f"'{name}' not found in both runs.{did_you_mean(name, both)} In both: {', '.join(both)}.")
    if not both:
        raise NeedsMissing(
            f"the runs have no judge in common: {old.name} has {', '.join(old.metrics) or 'no scores'}, {new.name} "
            f"{', '.join(new.metrics) or 'no scores'} ({call('judge FILE', name=SOME)} sets the name of a judge)."
        )
    return list(choice.metrics or both)


def _row(metric: str, measure: str, n: int, **more: Any) -> Row:
    base: Row = {"metric": metric, "aspect": None, "measure": measure}
    base |= dict.fromkeys(("old", "new", "value", "low", "high", "p"), float("nan"))
    return {**base, "n": n, "inputs": None, "reason": None, **more}


def _selection(runs: TwoRuns, source: str) -> tuple[float, str]:
    """Test whether the anchors are a random sample of their run: p, and the reason for no conclusion (else empty)."""
    scores = runs.anchors[runs.sampled]
    if len(np.unique(runs.anchor_codes)) < FEWEST or not len(runs.rest):
        return float("nan"), ""
    location, spread = selection_test((scores, runs.anchor_codes), (runs.rest, runs.rest_codes))
    p = float(np.nanmin([location, spread, 1.0]))
    if p >= SELECTION_ALPHA:
        return p, ""
    every = (runs.old, runs.new)[runs.sampled]
    difference = f"mean {scores.mean():.2f} against {every.mean():.2f}"
    if spread < location:
        difference += f", SD {scores.std():.2f} against {every.std():.2f}"
    run = ("old", "new")[runs.sampled]
    return p, (
        f"the anchors were not a random sample of the {run} scores ({difference}), so a change of the judge cannot be "
        "separated from regression to the mean; draw anchors at random ("
        f"{call('label FILE', how='random', budget=max(anchors_needed(1.0, PLANNED_SHIFT), FEWEST))} of {source})"
    )


def _shift_rows(metric: str, runs: TwoRuns, earlier: list[Look] | None, level: float, selected: str) -> list[Row]:
    """Return the rows of the total change, its two parts and the SD; `selected`: why anchors are unusable, else "
    "empty."""
    changes = shifts((runs.old, runs.old_codes), (runs.new, runs.new_codes), (runs.anchors, runs.anchor_codes))
    n, inputs = runs.anchors.shape[1], len(np.unique(runs.anchor_codes))
    sizes = {TOTAL: len(runs.old) + len(runs.new), JUDGE: n, DATA: runs.others, SPREAD: n}
    old, new = (float(v.mean()) if len(v) else float("nan") for v in (runs.old, runs.new))
    ends = {TOTAL: (old, new)}
    if n:
        before, after = runs.anchors
        ends |= {JUDGE: (float(before.mean()), float(after.mean())), SPREAD: (float(before.std()), float(after.std()))}
    needed = anchors_needed(1.0, PLANNED_SHIFT)
    spent = level if earlier is None else 1 - (1 - level) / 2 / ((len(earlier) + 1) * (len(earlier) + 2))
    rows = []
    for k, measure in enumerate((TOTAL, JUDGE, DATA, SPREAD)):
        if measure == DATA and n and not sizes[DATA]:
            continue  # all outputs are anchors: the data did not change
        facts = {
            "inputs": inputs,
            "old": ends.get(measure, (np.nan, np.nan))[0],
            "new": ends.get(measure, (0, np.nan))[1],
        }
        if measure != TOTAL and (inputs < FEWEST or selected):
            why = f"requires anchors on at least {FEWEST} inputs, and about {needed} to detect a shift of "
            why += f"{number(PLANNED_SHIFT, 1)} SD; found {inputs if n else 'no output that both runs scored'}"
            rows.append(_row(metric, measure, n, **facts, reason=selected or why))
            continue
        half = changes.half(spent if measure == JUDGE else 0.95)[k]
        value = float(changes.value[k])
        rows.append(
            _row(
                metric,
                measure,
                sizes[measure],
                **facts,
                value=value,
                low=float(value - half),
                high=float(value + half),
                p=float(changes.p()[k]),
            )
        )
    if earlier is not None:
        rows.append(_row(metric, POOLED, 0, reason=selected) if selected else _pooled(metric, runs, earlier, level))
    return rows


def _pooled(metric: str, runs: TwoRuns, earlier: list[Look], level: float) -> Row:
    """Return the row of the judge's shift on all anchors so far, each input at its first test."""
    first: dict[str, float] = {}
    for inputs in (*(k.get("inputs", {}) for k in earlier), _by_input(runs)):
        for name in sorted(inputs):
            first.setdefault(name, inputs[name])
    if not first:
        return _row(metric, POOLED, 0, reason="no output was scored in both runs")
    bound = max([_bound(runs), *(float(k.get("bound", 0.0)) for k in earlier)])
    values = np.array(list(first.values()))
    low, high = betting_interval(values, bound, (1 - level) / 2)
    return _row(metric, POOLED, len(values), inputs=len(values), value=float(values.mean()), low=low, high=high)


def _by_input(runs: TwoRuns) -> dict[str, float]:
    """Return the mean difference of the anchors of each input."""
    difference = runs.anchors[1] - runs.anchors[0]
    return {
        digest(runs.inputs[c]).hex(): round(float(difference[runs.anchor_codes == c].mean()), 6)
        for c in np.unique(runs.anchor_codes)
    }


def _bound(runs: TwoRuns) -> float:
    """Return the largest possible difference of two scores of an output: the range of the scores."""
    every = np.concatenate([runs.old, runs.new, runs.anchors.ravel()])
    return float(np.ptp(every)) or 1.0


def _agreement_rows(metric: str, old: Dataset, new: Dataset, choice: Choice) -> list[Row]:
    """Return the rows of the agreement with human ratings, on the rated outputs of each run."""
    rows = []
    both = [a for a in old.aspects if a in new.aspects and (not choice.aspects or a in choice.aspects)]
    (column,) = judge_columns([metric], both)
    for aspect in column.aspects:
        panels = [d.panel(aspect, metrics=[metric], keep_human=choice.keep_human) for d in (old, new)]
        (first, old_inputs), (second, new_inputs) = (labeled_rows(p, metric) for p in panels)
        _, codes = np.unique(np.concatenate([old_inputs, new_inputs]), return_inverse=True)
        values = [first.judge, first.people, second.judge, second.people]
        inputs, n = min(len(np.unique(x)) for x in (old_inputs, new_inputs)), len(first.judge) + len(second.judge)
        if inputs < FEWEST or any(np.ptp(v) == 0 for v in values):
            few = f"requires labels on at least {FEWEST} inputs of each run; found {inputs}"
            why = few if inputs < FEWEST else "all values are equal"
            rows.append(_row(metric, "agreement", n, aspect=aspect, inputs=inputs, reason=why))
            continue
        kappa = set(np.unique(np.concatenate(values))) <= {0.0, 1.0}
        cut = len(old_inputs)
        change = agreements((first.judge, first.people, codes[:cut]), (second.judge, second.people, codes[cut:]), kappa)
        (before, after, value), half = change.value.tolist(), float(change.half()[2])
        rows.append(
            _row(
                metric,
                "agreement",
                n,
                aspect=aspect,
                old=before,
                new=after,
                value=value,
                low=value - half,
                high=value + half,
                p=float(change.p()[2]),
                inputs=inputs,
                coefficient="kappa" if kappa else "pearson",
            )
        )
    return rows


def _decide(rows: list[Row], alpha: float, recorded: bool) -> None:
    """Add verdicts: by Holm over the checks of a judge; if tests are recorded, of the judge's shift by its "
    "intervals."""
    tested = [np.nan if r["measure"] == TOTAL or recorded else r["p"] for r in rows]
    for row, p in zip(rows, holm(tested), strict=True):
        row["p_corrected"] = float(p)
        excludes_zero = row["low"] > 0 or row["high"] < 0
        if row["measure"] == TOTAL or (recorded and row["measure"] not in (JUDGE, POOLED)):
            row["verdict"] = None
        elif recorded:
            row["verdict"] = INCONCLUSIVE if np.isnan(row["low"]) else FOUND if excludes_zero else NOT_FOUND
        else:
            row["verdict"] = INCONCLUSIVE if np.isnan(p) else FOUND if p < alpha else NOT_FOUND


def _answers(rows: list[Row]) -> list[str]:
    metric, by_measure = rows[0]["metric"], {r["measure"]: r for r in rows}
    total, judge, data = by_measure[TOTAL], by_measure[JUDGE], by_measure.get(DATA)
    change = f"the mean score changed by {_change(total)}"
    if judge["verdict"] == INCONCLUSIVE and judge["inputs"] < FEWEST and POOLED not in by_measure:
        return [
            f"{metric}: {change}; inconclusive whether the judge has drifted: {judge['reason']} (assuming that two "
            f"scores of an output correlate by {number(AGAIN, 1)})."
        ]
    lines = []
    tests = [by_measure[k] for k in (JUDGE, POOLED) if k in by_measure]
    shift = next((r for r in tests if r["verdict"] == FOUND), None)
    if judge["verdict"] == INCONCLUSIVE and judge["inputs"] >= FEWEST:
        lines.append(f"inconclusive whether the judge has drifted: {judge['reason']}")
    elif shift:
        lines.append(f"the judge has drifted by {_change(shift)} on the same outputs")
    else:
        known = [r for r in tests if np.isfinite(r["low"])]
        lines.append(" ".join(["no significant drift of the judge", *(_ends(r) for r in known[:1])]))
    if data is not None and data["verdict"] == FOUND:
        lines.append(f"{change}, of which {_change(data)} is due to the data")
    for r in rows:
        if r["measure"] in (SPREAD, "agreement") and r["verdict"] == FOUND:
            what = f"agreement with human ratings of {r['aspect']}" if r["aspect"] else "the SD of its scores"
            lines.append(f"{what} changed by {_change(r)}, from {number(r['old'], 2)} to {number(r['new'], 2)}")
    return [f"{metric}: {'; '.join(lines)}."]


def _change(row: Row) -> str:
    return f"{number(row['value'], 2, sign=True)} {_ends(row)}"


def _ends(row: Row) -> str:
    return f"[{number(row['low'], 2)}, {number(row['high'], 2)}]"


def _unknown(metrics: list[str], old: Dataset, new: Dataset) -> list[str]:
    """Name the judges whose model and prompt are not recorded in both runs."""
    bare = [m for m in metrics if m not in old.signatures or m not in new.signatures]
    return (
        [f"model and prompt are unknown in a run: {', '.join(bare)} (`nlgauge judge -o FILE.jsonl` records them)."]
        if bare
        else []
    )
