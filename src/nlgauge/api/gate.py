"""Limits for the agreement of a judge with human labels; each check passes, fails or is undecided."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Unpack

import numpy as np

from nlgauge.analyses.comparing.changes import compare_results
from nlgauge.analyses.comparing.earlier_run import EarlierRun
from nlgauge.analyses.judges.judge_rows import judge_columns
from nlgauge.analyses.verdicts.verdicts import CEILING
from nlgauge.api.limits import (
    ESTIMATES,
    FAILED,
    PASSED,
    SEVERAL,
    UNDECIDED,
    Limits,
    check_figures,
    check_request,
    correct_failures,
    correction_notes,
    describe_method,
    is_figure,
    level_of_look,
    limit_row,
    read_limits,
    verdict_row,
)
from nlgauge.api.policies import policy_limits
from nlgauge.api.questions import ChoiceOptions, select
from nlgauge.data.choice import listed
from nlgauge.datasets.results import holds_results, read_results
from nlgauge.docstrings import with_shared_parameters
from nlgauge.errors import NeedsMissing, Refusal, RowNote
from nlgauge.number import interval, number, some
from nlgauge.options import option
from nlgauge.session import Session
from nlgauge.table import Row, Table, Title
from nlgauge.types import Bounds, Mask, Names

CODES = {PASSED: 0, FAILED: 1, UNDECIDED: 3}  # exit codes of the command


@with_shared_parameters
def gate(
    data: Any,
    aspect: Names = None,
    metrics: Names = None,
    *,
    min: Limits | None = None,
    against: Any = None,
    max_drop: Limits | None = None,
    policy: str | Path | None = None,
    looks: Annotated[int, Bounds(1)] | None = None,
    human_pass_from: float | None = None,
    judge_pass_from: float | None = None,
    allow_undecided: bool = False,
    measure: str | None = None,
    fail_drop: Annotated[float, Bounds(0)] = 0.02,
    alpha: Annotated[float, Bounds(0, 1)] = 0.05,
    **choice: Unpack[ChoiceOptions],
) -> Table:
    """Test a judge's agreement with human labels, or the pass rate of the outputs, against limits.

    Each check passes, fails or is undecided. Exit codes: 0 = all checks pass; 1 = at least one check fails (after Holm
    correction); 2 = usage or data error; 3 = undecided (the table gives the approximate number of labels needed).
    With two results.json files, the later run is compared with the earlier one. The gate fails if a metric has dropped
    significantly and by more than `fail_drop`.

    Parameters
    ----------
    data : path, data frame, rows, Dataset or Session
        A table of scores and labels, or the results.json of the later of two runs.
    aspect : str or sequence of str, optional
        Aspects to test. Default: all.
    metrics : str or sequence of str, optional
        Judges to test; every judge must pass. Default: all.
    min : mapping or str, optional
        Minimum of each statistic, such as kappa=.6,tnr=.8: statistics of pass and fail verdicts (kappa, mcc,
        agreement, fail_recall or tnr, pass_recall or tpr, …), correlations (input/kendall=.4), and the human pass rate
        or mean rating of all outputs, estimated with the help of the judge (pass_rate=.8 or mean=3.5).
    against : path, data frame, rows, Dataset or Session, optional
        Data or results.json of an earlier run.
    max_drop : mapping or str, optional
        Maximum drop in each agreement statistic since the earlier run, such as kappa=.05, computed on the outputs that
        both runs share.
    policy : path, optional
        Policy file written by `analyze delegate`. The gate then tests on new labels whether the error rate of the
        judge's automatic verdicts stays within the limit of the policy.
    looks : int, optional
        Number of planned looks, that is, runs of the gate on a growing set of labels or on new versions of the judge.
        The error rates are then controlled over all looks. Default: one look.
    allow_undecided : bool, default False
        Return exit code 0 instead of 3 if the gate is undecided.
    measure : str, optional
        For two results.json files: the gate measure that both runs must have; any other measure is an error.
    fail_drop : float, default 0.02
        For two results.json files: drops up to this size never fail the gate.
    alpha : float, default 0.05
        For two results.json files: significance level of the test for a drop, after Holm correction.

    Returns
    -------
    Table
        One row per judge and limit; `labels` is the approximate number of labels needed for a decision.
        `facts["verdict"]` is 'failed' if a check fails, otherwise 'undecided' if one is undecided, otherwise 'passed'.
        For two results.json files, one row per aspect and metric: old and new value, change, p, and the verdict.

    Notes
    -----
    A check passes if the 95% CI lies at or above the limit. All checks must pass, so their number needs no correction
    (intersection-union test). A check fails if the CI lies below the limit after Holm's correction over all checks: the
    nominal family-wise rate of false failures is 2.5%. With `looks`, the error rates are controlled over all looks: the
    level of each look is 1 - .05 / looks (Bonferroni). docs/gate.md gives the simulated rates.

    Examples
    --------
    >>> import nlgauge as ng
    >>> table = ng.gate(ng.example(), metrics=["unigram_f1", "random"], min={"input/kendall": 0.3})
    >>> [(row["metric"], row["verdict"]) for row in table], table.facts["verdict"]
    ([('unigram_f1', 'passed'), ('random', 'failed')], 'failed')
    >>> ng.gate(ng.example(), metrics="unigram_f1", against=ng.example(), max_drop="input/kendall=.1").facts["verdict"]
    'passed'

    $ nlgauge gate answers.csv --min kappa=.6,tnr=.8

    $ nlgauge gate answers.csv --min kappa=.6 --metrics my-judge -f md   (for a pull request)

    $ nlgauge gate answers.csv --against main.results.json --max-drop kappa=.05

    $ nlgauge gate answers.csv --min kappa=.6 --looks 12   (run monthly for a year, with more labels each time)

    $ nlgauge gate log.csv --labels labels.csv --min pass_rate=.8   (the outputs, not the judge)

    $ nlgauge gate new.csv --labels audit.csv --policy policy.json   (is the judge's error rate still within its limit?)

    $ nlgauge gate branch.results.json --against main.results.json --fail-drop .03
    """
    limits = {} if min is None else read_limits(min, "kappa=.6")
    drops = {} if max_drop is None else read_limits(max_drop, "kappa=.05")
    if holds_results(data) and holds_results(against) and not limits and not drops:
        options: dict[str, Any] = {"metrics": listed(metrics), "aspects": listed(aspect), "seed": choice.get("seed", 0)}
        table = compare_results(against, data, measure=measure, fail_drop=fail_drop, alpha=alpha, **options)
    else:
        cuts = {"human_pass_from": human_pass_from, "judge_pass_from": judge_pass_from}
        session, notes = select(data, aspect, metrics, **choice), list[str]()
        if policy is not None:
            session, promised, notes, rule = policy_limits(session, policy)
            limits |= promised
            cuts = {"human_pass_from": human_pass_from or rule.human_pass_from, "judge_pass_from": 0.5}
        table = _hold_limits(session.declared(), limits, against, drops, looks, cuts)
        table.notes = [*notes, *table.notes]
        table.exit_code = CODES[table.facts["verdict"]]
    if allow_undecided and table.facts["verdict"] == UNDECIDED:
        table.exit_code = CODES[PASSED]
    return table


gate.reads_files = holds_results  # type: ignore[attr-defined]  # the command line leaves these files to it


def _hold_limits(
    chosen: Session,
    limits: Mapping[str, float],
    against: Any,
    drops: Mapping[str, float],
    looks: int | None,
    cuts: Mapping[str, float | None],
) -> Table:
    """Return the table of all statistics with their limits and verdicts."""
    check_request(limits, against, drops, looks)
    human_pass_from = cuts["human_pass_from"]
    earlier = _earlier(against, chosen) if drops else None

    def compute_rows(level: float) -> tuple[list[Row], list[str]]:
        """Return every figure alongside its limit, with intervals at this level, and notes on them."""
        notes: list[str] = []
        rows = _agreement(chosen, limits, cuts, level, notes)
        rows += _estimates(chosen, limits, human_pass_from, level, notes)
        if earlier is not None:
            rows += _changes(chosen, drops, earlier, cuts, level, notes)
        return rows, notes

    level = level_of_look(looks or 1)
    rows, notes = compute_rows(level)
    if not rows:
        names = ", ".join({**limits, **drops})
        raise NeedsMissing(f"{chosen.data.name}: cannot compute {names} for any judge; check the roles of the columns.")
    highs = {level: [row["high"] for row in rows]}

    def lies_below(at_level: float) -> Mask:
        """Return whether each interval at this level lies below its limit."""
        if at_level not in highs:
            highs[at_level] = [row["high"] for row in compute_rows(at_level)[0]]
        return np.array([high < row["limit"] for high, row in zip(highs[at_level], rows, strict=True)])

    tested = sum(not math.isnan(row["value"] + row["low"] + row["high"]) for row in rows)
    failed, level_failed = correct_failures(lies_below, tested, level)
    ends = highs.get(level_failed, [None] * len(rows))
    uncorrected = int((lies_below(level) & ~failed).sum())
    rows = [verdict_row(r, bool(f), level, level_failed, high) for r, f, high in zip(rows, failed, ends, strict=True)]
    verdicts = {row["verdict"] for row in rows}
    verdict = next(v for v in (FAILED, UNDECIDED, PASSED) if v in verdicts)
    facts = {
        "verdict": verdict,
        "counts": {v: sum(r["verdict"] == v for r in rows) for v in (PASSED, FAILED, UNDECIDED)},
        "limits": tested,
        "looks": looks or 1,
        "level": level,
        "level_failed": level_failed,
    }
    corrections = correction_notes(uncorrected, tested, looks)
    notes = [*_left_out(chosen, rows), *_notes(rows), *dict.fromkeys(notes), *corrections]
    method = describe_method(level, looks, tested, level_failed)
    return _table(chosen, rows, method, notes, facts, _signature(limits, drops, looks))


def _table(
    chosen: Session, rows: list[Row], method: str, notes: list[str], facts: dict[str, Any], signature: str
) -> Table:
    verdict = facts["verdict"]
    return Table(
        title=Title(chosen.data.name, f"gate {verdict}"),
        rows=rows,
        kind="gate",
        shown=[*chosen.columns, "metric", "aspect", "measure", "limit", "value", "verdict", "labels"],
        heads={"metric": "judge", "measure": "figure", "limit": "at least", "labels": "labels needed"},
        cells={"measure": _figure, "value": _value, "limit": lambda r: number(r["limit"], 2), "labels": _labels},
        method=method,
        answers=[f"The gate {'is ' * (verdict == UNDECIDED)}{verdict}: {_words(rows, verdict, chosen.columns)}."],
        notes=notes,
        facts=facts,
        signature=signature,
    )


def _signature(limits: Mapping[str, float], drops: Mapping[str, float], looks: int | None) -> str:
    parts = [f"{kind}:{n}={v:g}" for kind, given in (("min", limits), ("max_drop", drops)) for n, v in given.items()]
    return "|".join([*parts, *([] if looks is None else [f"looks:{looks}"])])


def _agreement(
    chosen: Session, limits: Mapping[str, float], cuts: Mapping[str, float | None], level: float, notes: list[str]
) -> list[Row]:
    """Return statistics of verdicts, and correlations; a column of one aspect is compared with that aspect only."""
    rows, refused = list[Row](), list[Refusal]()
    if any(is_figure(name) for name in limits):
        found, said = _rows(chosen, refused, "verdicts", **cuts, level=level)
        notes += said
        at = [*chosen.columns, "metric", "aspect"]
        labels = {tuple(r[k] for k in at): r["n"] for r in found if r["measure"] == "agreement"}
        for r in found:
            if r["measure"] in limits:
                row = limit_row(r, limits[r["measure"]], labels.get(tuple(r[k] for k in at)))
                rows.append({**{k: r[k] for k in chosen.columns}, **row})
    if rows:
        check_figures(limits, [r["measure"] for r in rows], chosen.data.class_labels(chosen.wanted), refused)
    measures = [name for name in limits if not is_figure(name) and name not in ESTIMATES]
    if measures:
        found, said = _rows(chosen, refused, "intervals", measures=measures, level=level)
        notes += said
        counts = _counts(chosen)
        for r in found:
            n = counts[tuple(r[k] for k in (*chosen.columns, "metric", "aspect"))]
            row = limit_row(r, limits[r["measure"]], n.judged, grows="labels" if n.systems == 1 else SEVERAL)
            rows.append({**{k: r[k] for k in chosen.columns}, **row})
    return [*rows, *_rows_without_value(chosen, limits, rows, refused)]


def _rows_without_value(
    chosen: Session, limits: Mapping[str, float], rows: list[Row], refused: list[Refusal]
) -> list[Row]:
    """Return undecided rows for requested statistics that could not be computed for a judge, group or aspect."""
    keys = [*chosen.columns, "metric", "aspect"]
    own, added = _own_aspects(chosen), list[Row]()
    for measure in (name for name in limits if name not in ESTIMATES):
        mine = [r for r in rows if r["measure"] == measure]
        judges, held = chosen.metrics or {r["metric"] for r in mine}, {tuple(r[k] for k in keys) for r in mine}
        for at, n in _counts(chosen).items() if mine else ():
            metric, aspect = at[-2:]
            if metric in judges and aspect in own[metric] and at not in held:
                row = dict(zip(keys, at, strict=True))
                group = {column: row[column] for column in chosen.columns}
                own_reasons = [
                    r.reason
                    for r in refused
                    if r.analysis == ("verdicts" if is_figure(measure) else "intervals")
                    and (r.aspect, r.group) == (aspect, group)
                    and r.metric in ("", metric)
                ]
                reason = next(iter(own_reasons), f"cannot be computed for {metric} on these outputs")
                found = {**row, "measure": measure, "value": None, "low": None, "high": None, "reason": reason}
                added.append(row | limit_row(found, limits[measure], n.judged))
    return added


def _estimates(
    chosen: Session, limits: Mapping[str, float], human_pass_from: float | None, level: float, notes: list[str]
) -> list[Row]:
    """Estimate the human ratings of all outputs of each system, with the judge's scores of unlabeled ones."""
    wanted = {name: limit for name, limit in limits.items() if name in ESTIMATES}
    rows = []
    for table in chosen.each("estimate", human_pass_from=human_pass_from, level=level) if wanted else []:
        name = "pass_rate" if table.facts["share"] else "mean"
        if other := next((w for w in wanted if w != name), None):
            words = (
                "the human labels are pass or fail; use a limit on pass_rate."
                if name == "pass_rate"
                else (
                    "the human labels are ratings; use a limit on mean, or set the lowest rating that passes "
                    f"({option('human_pass_from')})."
                )
            )
            raise NeedsMissing(f"{chosen.data.name}: limit '{other}': {words}")
        notes += _other_notes(table)
        several = len({r["system"] for r in table}) > 1
        for system in dict.fromkeys(r["system"] for r in table if not several or r["system"] != "all"):
            mine = {r["measure"]: r for r in table if r["system"] == system}
            r = mine.get("ppi_plus", mine["labels_only"])
            doubt = " ".join(table.headlines)  # labeled outputs are unlike the others: the interval does not hold
            ends = {"low": r["low_alone"], "high": r["high_alone"]}  # each is compared with the limit for itself
            ends |= {"low": math.nan, "high": math.nan, "reason": doubt} if doubt else {}
            row = limit_row({**r, **ends, "measure": name}, wanted[name], r["n"])
            rows.append({**{k: r[k] for k in chosen.columns}, **row, "system": system if several else None})
    return rows


def _earlier(against: Any, chosen: Session) -> EarlierRun:
    if holds_results(against):
        path = Path(against)
        return EarlierRun.of_results(path.name, read_results(path))
    return EarlierRun.of_data(select(against, chosen.aspects, chosen.metrics))


def _changes(
    chosen: Session,
    drops: Mapping[str, float],
    earlier: EarlierRun,
    cuts: Mapping[str, float | None],
    level: float,
    notes: list[str],
) -> list[Row]:
    if name := next((n for n in drops if n in ESTIMATES or n.startswith("gain_")), None):
        raise NeedsMissing(f"{option('max_drop', name)}applies only to measures of agreement with human labels.")
    if any(cut is not None for cut in cuts.values()) and any(is_figure(name) for name in drops):
        raise NeedsMissing(
            f"{option('max_drop')} for verdicts requires pass or fail of annotators and judge in both runs."
        )
    if chosen.columns:
        raise NeedsMissing(
            f"{option('max_drop')} compares all outputs with the earlier run and cannot be combined with "
            f"{option('by')}."
        )
    rows, own, counts = list[Row](), _own_aspects(chosen), dict[str, list[str]]()
    for aspect in chosen.wanted:
        for r in earlier.changes(chosen.panel(aspect), list(drops), level):
            if aspect not in own[r["metric"]]:
                continue
            alone = is_figure(r["measure"]) or chosen.panel(aspect).n_systems == 1
            row = limit_row(r, -drops[r["measure"]], r["n"], grows="labels" if alone else SEVERAL)
            rows.append({**row, "against": earlier.name, "relabeled": r["relabeled"], "lost": r["lost"]})
            counts.setdefault(r["unit"], []).append(f"{r['n']:,}")
    for unit, ns in counts.items():
        notes.append(
            f"change: new minus old since {earlier.name}, on the {some(list(dict.fromkeys(ns)))} {unit} of both runs."
        )
    if "inputs" in counts:
        notes.append(
            f"{earlier.name} has values per input and no scores: the change is for these systems on other inputs; "
            "the earlier data would generalize to other systems too."
        )
    if relabeled := max((r["relabeled"] for r in rows), default=0):
        notes.append(f"{relabeled:,} outputs whose human label changed are excluded from the change.")
    return rows


def _rows(chosen: Session, refused: list[Refusal], analysis: str, **options: Any) -> tuple[list[Row], list[str]]:
    """Return the rows and notes of an analysis, each judge on its own aspects; add missing results to `refused`."""
    tables, of_parts = chosen.ask(analysis, **options)
    refused += of_parts
    for table in tables:
        first = table.rows[0]
        group = {column: first[column] for column in chosen.columns}
        refused += [
            Refusal(reason, analysis=analysis, aspect=first["aspect"], metric=metric, group=group)
            for metric, reason in table.facts.get("left_out", {}).items()
        ]
    own = _own_aspects(chosen)
    rows = [r for table in tables for r in table if r["metric"] != CEILING and r["aspect"] in own[r["metric"]]]
    return rows, [note for table in tables for note in _other_notes(table)]


def _other_notes(table: Table) -> list[str]:
    """Return the notes of a table without those on single rows: the rows of the gate have their reasons."""
    return [note for note in table.notes if not isinstance(note, RowNote)]


def _own_aspects(chosen: Session) -> dict[str, list[str]]:
    return {c.metric: c.aspects for c in judge_columns(chosen.metrics or chosen.data.metrics, chosen.wanted)}


class _Count(NamedTuple):
    systems: int
    rated: int
    judged: int  # of the rated rows


def _counts(chosen: Session) -> dict[tuple[Any, ...], _Count]:
    """Return the numbers of labeled rows and of labeled rows with a score, by (group, judge, aspect)."""
    found = {}
    for part in chosen.parts:
        for aspect in chosen.aspects or part.data.aspects:
            panel = part.panel(aspect)
            rated = np.isfinite(panel.human)
            for metric, scores in panel.metrics.items():
                judged = int((rated & np.isfinite(scores)).sum())
                found[*part.group.values(), metric, aspect] = _Count(panel.n_systems, int(rated.sum()), judged)
    return found


def _left_out(chosen: Session, rows: list[Row]) -> list[str]:
    """State the labeled outputs without a verdict of the judge, which are excluded."""
    asked = {(r["metric"], r["aspect"]) for r in rows if r["measure"] not in ESTIMATES}
    return [
        f"{n.rated - n.judged:,} of {n.rated:,} labeled outputs"
        f"{''.join(f', {c} {v}' for c, v in zip(chosen.columns, at, strict=False))} have no value of {at[-2]} and are "
        "left out."
        for at, n in _counts(chosen).items()
        if at[-2:] in asked and n.judged < n.rated
    ]


def _figure(row: Row) -> str:
    of = f" of {row['system']}" if row["system"] else ""
    return f"change of {row['measure']}" if row["against"] else row["measure"] + of


def _value(row: Row) -> str:
    text = interval(row["value"], row["low"], row["high"], 2)
    return f"+{text}" if row["against"] and row["value"] > 0 else text


def _labels(row: Row) -> str:
    if row["verdict"] != UNDECIDED:
        return ""
    if row["labels"] is not None:
        return f"about {row['labels'] - row['n']:,} more labels ({row['labels']:,} in total)"
    times = row["times"] and f"about {number(row['times'], 0 if row['times'] >= 10 else 1)} times as many {SEVERAL}"
    return times or row["reason"] or "too close to the limit"


def _words(rows: list[Row], verdict: str, columns: list[str]) -> str:
    mine = [r for r in rows if r["verdict"] == verdict]
    several = len({r["aspect"] for r in rows}) > 1
    about = [f" on {r['aspect']}" * several + "".join(f", {c} {r[c]}" for c in columns) for r in mine]
    told = "; ".join(
        f"{r['metric']} {_figure(r)}{where} {_value(r)} (limit {number(r['limit'], 2)})"
        for r, where in zip(mine[:4], about, strict=False)
    )
    return told + (f"; and {len(mine) - 4} more" if len(mine) > 4 else "")


def _notes(rows: list[Row]) -> list[str]:
    """Return notes on the method and on the sample sizes of the table."""
    notes = [
        f"{name}: {ESTIMATES[name]} of all outputs, from labels and the judge's scores of other outputs (PPI++)."
        for name in dict.fromkeys(r["measure"] for r in rows if r["measure"] in ESTIMATES)
    ]
    if any(r["times"] for r in rows):
        notes.append(
            "labels needed: for a decision with 80% power if the estimate is the true value (simulated in "
            "docs/gate.md)."
        )
    return notes
