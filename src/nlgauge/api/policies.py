"""Application of a policy: outputs for human review, the judge's decisions as a column, and limits for a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from nlgauge.analyses.verdicts.delegate_words import share
from nlgauge.analyses.verdicts.policy import Policy, read_policy
from nlgauge.data.dataset import Dataset
from nlgauge.data.labels import PROBABILITY, ROUND, STRATUM
from nlgauge.data.units import KEY
from nlgauge.errors import NlgaugeError
from nlgauge.number import count, some
from nlgauge.options import call
from nlgauge.session import Session
from nlgauge.table import Table, Title

HUMAN, AUDIT = "humans decide", "audit of the judge"  # strata of a queue
FIGURE_OF = {"pass": "pass_precision", "fail": "fail_precision"}  # 1 - error rate of the verdicts of one kind


def decided_column(name: str) -> str:
    """Return the name of the column that holds the decisions: 1 pass, 0 fail, empty where humans decide."""
    return f"policy: {name}"


def queue(data: Dataset, path: str | Path, audit: int, seed: int) -> Table:
    """Return the outputs that a policy sends to humans, and a random sample of the others to audit the judge.

    Parameters
    ----------
    data : Dataset
    path : path
        Of the policy.
    audit : int
        Outputs to draw among those that the judge decides.
    seed : int
        Seed of that draw.

    Returns
    -------
    Table
        As that of `label`; rows come in an order that does not tell the two kinds apart.
    """
    policy = read_policy(path)
    labeled = data.ratings.filter(pl.col("aspect") == policy.aspect).select(KEY).unique()
    open_rows = policy.decisions(data).join(labeled, on=KEY, how="anti").sort(KEY)
    humans = open_rows.filter(pl.col("decision") == "human")
    judged = open_rows.filter(pl.col("decision") != "human")
    if not 0 <= audit <= judged.height:
        raise NlgaugeError(f"{data.name}: budget {audit}: the judge decides {judged.height:,} outputs without a label.")
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    drawn = judged[np.sort(rng.permutation(judged.height)[:audit])]
    rounds = data.samples[ROUND].cast(pl.Int64, strict=False).max() if ROUND in data.samples.columns else None
    draw = int(rounds or 1) + 1 if labeled.height else 1  # type: ignore[arg-type]
    rows = [
        {**row, PROBABILITY: probability, STRATUM: stratum, ROUND: draw}
        for frame, probability, stratum in ((humans, 1.0, HUMAN), (drawn, audit / max(judged.height, 1), AUDIT))
        for row in frame.select(KEY).iter_rows(named=True)
    ]
    counts = dict(open_rows["decision"].value_counts().iter_rows())
    return Table(
        title=Title(data.name, f"{len(rows)} outputs for humans, of {open_rows.height:,} without a label"),
        rows=[rows[k] for k in rng.permutation(len(rows))],
        kind="next",
        shown=["system", "input", PROBABILITY],
        heads={PROBABILITY: "drawn with probability"},
        method=f"policy {path}: passes {counts.get('pass', 0):,}, fails {counts.get('fail', 0):,}, to humans "
        f"{humans.height:,}; audit: {audit} of the outputs that the judge decides, at random; seed {seed}.",
        notes=[*range_notes(policy, data), *_audit_note(policy, audit)],
        facts={"outputs": open_rows.height, "to_humans": humans.height, "audit": audit, "draw": draw},
    )


def _audit_note(policy: Policy, audit: int) -> list[str]:
    if audit:
        return []
    return [
        f"without an audit nothing tells whether the error rate stays at most {share(policy.error)}: a budget draws so "
        f"many of the outputs that the judge decides, and {call('gate FILE', policy='policy.json')} tests their labels."
    ]


def range_notes(policy: Policy, data: Dataset) -> list[str]:
    """State where the data leave what the policy was calibrated on: other systems, scores beyond those labeled."""
    notes = []
    new = [system for system in data.systems if system not in policy.systems]
    if new and policy.systems:
        notes.append(
            f"{count(len(new), 'system')} without labels when the policy was made ({some(new)}): its guarantee does "
            "not hold for outputs of other systems until an audit of them shows it."
        )
    score = policy.decisions(data)["score"].to_numpy()
    known = score[np.isfinite(score)]
    outside = int(((known < policy.lowest) | (known > policy.highest)).sum())
    labels = int(policy.facts.get("labels", 0))
    # On average, a fraction 2 / (n + 1) of new exchangeable outputs falls outside the range of n labeled outputs. More
    # than twice this expected number plus 5 is unlikely to be chance.
    if outside > 4 * len(known) / (labels + 1) + 5:
        notes.append(
            f"{outside:,} of {len(known):,} scores lie beyond the labeled ones ({policy.lowest:.4g} to "
            f"{policy.highest:.4g}): the guarantee does not reach there; label some of them and make the policy again."
        )
    return notes


def with_decisions(data: Dataset, path: str | Path) -> tuple[Dataset, list[str]]:
    """Return the data with a column `decision` (pass, fail, human), and what was decided in words."""
    policy = read_policy(path)
    decisions = policy.decisions(data)
    samples = data.samples.drop("decision", strict=False)
    samples = samples.join(decisions.select(*KEY, "decision"), on=KEY, how="left", maintain_order="left")
    counts = dict(decisions["decision"].value_counts().iter_rows())
    line = (
        f"policy {path}: {policy.signal.name} passes {counts.get('pass', 0):,} and fails {counts.get('fail', 0):,} of "
        f"{decisions.height:,} outputs alone; {counts.get('human', 0):,} go to humans"
    )
    return replace(data, samples=samples), [line, *range_notes(policy, data)]


def policy_limits(session: Session, path: str | Path) -> tuple[Session, Mapping[str, float], list[str], Policy]:
    """Return the session with the decisions as its judge, the limits that the policy promises, and remarks."""
    policy = read_policy(path)
    if policy.pass_above is None and policy.fail_below is None:
        raise NlgaugeError(f"{path}: the judge decides nothing by this policy, so there is nothing to check.")
    decisions = policy.decisions(session.data)
    value = pl.col("decision").replace_strict({"pass": 1.0, "fail": 0.0, "human": None}, return_dtype=pl.Float64)
    name = decided_column(policy.signal.name)
    data = session.data.with_scores(decisions.select(*KEY, value.alias(name)))
    given: Sequence[str] = [side for side in FIGURE_OF if decisions["decision"].eq(side).any()]
    limits = {FIGURE_OF[side]: 1 - policy.error for side in given}
    if not limits:
        raise NlgaugeError(
            f"{session.data.name}: the policy sends every output to humans, so there is nothing to check."
        )
    chosen = replace(session, data=data, metrics=[name], aspects=[policy.aspect])
    return chosen, limits, range_notes(policy, session.data), policy
