"""Ensembles of metrics: their agreement with human ratings, within and across domains (Novikova et al. 2017, section
11).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from nlgauge import Dataset, NlgaugeError, Table
from nlgauge.plugins import Choice, NeedsMissing, Row, Title, analysis, counted, families_of, panels_of
from nlgauge.stats import Measure, evaluate, single, williams_test
from nlgauge_papers.common import KEY, Array, Families, Named, Steps

LEAST = 20  # outputs needed for training
IN, CROSS, REST = "in-domain", "cross-domain", "all other parts"


@analysis(
    "ensemble",
    trials="mean",
    paper="novikova2017",
    takes="groups",
    question="Does an ensemble of metrics agree better with human ratings, and does it transfer to another domain?",
)
def ensemble(
    choice: Choice,
    *,
    families: Families | None = None,
    measure: Named = "global/spearman",
    folds: int = 5,
    ridge: float = 1.0,
    progress: Steps | None = None,
) -> Table:
    """Compare a regression on all metrics with the best single metric, within and across parts of the data.

    Parameters
    ----------
    families : mapping, optional
        Metrics that are combined into one feature, as {column: family} or {family: [columns]}.
    measure : str or Measure, default 'global/spearman'
        One correlation over outputs: global/pearson, global/spearman or global/kendall.
    folds : int, default 5
        Number of cross-validation folds within a part; no input is in two folds.
    ridge : float, default 1.0
        Penalty of the regression.

    Returns
    -------
    Table
        One row per aspect, part tested on and part learned from, next to the metric that is best on the outputs learned
        from.

    Notes
    -----
    Section 11 of Novikova et al. (2017). A feature is the mean rank of a family's metrics among the outputs of the
    part, so parts need no common scale. Williams' test of the two takes outputs as independent.
    """
    data, seed = choice.data, choice.seed
    chosen = single(measure, "ensemble")
    if folds < 2:
        raise NlgaugeError(f"ensemble: folds must be 2 or more; found {folds}.")
    parts = choice.parts
    wanted = choice.wanted
    family = families_of(list(choice.metrics or data.metrics), families)
    rows: list[Row] = []
    notes: list[str] = []
    for aspect in counted(wanted, progress):
        domains = _domains(parts, aspect, family, notes)
        for domain in domains:
            rows.append(_inside(domain, aspect, chosen, folds, ridge, seed))
            others = [d for d in domains if d is not domain]
            rows += [_across([o], domain, o.name, aspect, chosen, ridge) for o in others]
            if len(others) > 1:
                rows.append(_across(others, domain, REST, aspect, chosen, ridge))
    if not rows:
        raise NeedsMissing(
            f"no part has {LEAST} outputs with ratings and scores ({'; '.join(dict.fromkeys(notes))}).",
            data=data.name,
            code="too_few_outputs",
        )
    columns = choice.columns
    if len(parts) < 2:
        notes.append("one part only: name the column of the domains (by=…, or --by) for cross-domain scores.")
    return Table(
        title=Title(
            data.name, f"an ensemble of {len(set(family.values()))} families of metrics, {chosen} with {data.rated_by}"
        ),
        rows=rows,
        shown=["aspect", "test", "train", "setting", "value", "best_single", "metric", "gain", "p", "n"],
        heads={"value": "ensemble"},
        definitions={str(chosen): chosen.definition},
        method=f"Ridge regression (penalty {ridge:g}) on standardized mean ranks of each family within a part, "
        f"ratings as ranks too; in-domain: {folds} folds in which no input is on both sides, predictions of all folds "
        "together; cross-domain: learnt on the whole other part. Best single: the metric with the highest absolute "
        "correlation on the outputs learnt from (in-domain in each fold; the most frequent one is named), with the "
        "sign it has there. p: Williams' test of the two on the tested outputs, two-sided, which it takes as "
        "independent.",
        notes=list(dict.fromkeys(notes)),
        signature=f"by:{','.join(columns) or 'none'}|measure:{chosen}"
        f"|folds:{folds}|ridge:{ridge:g}|aggregate:{choice.aggregate}|seed:{seed}",
    )


@dataclass(frozen=True)
class Domain:
    """Outputs of a part as points: features (n × families), scores (n × metrics), ranks of the ratings, inputs."""

    name: str
    features: Array
    scores: Array
    metrics: tuple[str, ...]
    rating: Array
    inputs: np.ndarray


def _domains(parts: Sequence[Choice], aspect: str, family: dict[str, str], notes: list[str]) -> list[Domain]:
    panels = []
    for part, panel in panels_of(parts, aspect, notes):
        if np.isfinite(panel.human).sum() < LEAST:
            notes.append(f"{part.name}, {aspect}: fewer than {LEAST} rated outputs")
        else:
            panels.append((part, panel))
    # A family that is missing in one of the parts cannot transfer.
    scored = [m for m in family if all(m in p.metrics and _varies(p.metrics[m], p.human) for _, p in panels)]
    if lacking := [m for m in family if m not in scored]:
        notes.append(f"left out, not scored (or constant) in every part: {', '.join(lacking)}")
    names = list(dict.fromkeys(family[m] for m in scored))
    if not scored:
        return []
    results = []
    for part, panel in panels:
        rated = np.isfinite(panel.human)
        turned = dict(zip(panel.names, panel.oriented(), strict=True))
        placed = {m: ranks(np.where(rated, turned[m], np.nan))[rated] for m in scored}
        missing = sum(int(np.isnan(v).sum()) for v in placed.values())
        if missing:
            notes.append(f"{part.name}: {missing} missing scores get the middle rank")
        filled = {m: np.where(np.isnan(v), 0.5, v) for m, v in placed.items()}
        features = np.stack([np.mean([filled[m] for m in scored if family[m] == f], axis=0) for f in names], axis=1)
        source = _sources(part.data)
        where = np.array(
            [source.get((panel.systems[i], panel.inputs[j]), panel.inputs[j]) for i, j in np.argwhere(rated)]
        )
        results.append(
            Domain(
                part.name,
                features,
                np.stack(list(filled.values()), axis=1),
                tuple(scored),
                ranks(panel.human)[rated],
                where,
            )
        )
    return results


def ranks(values: Array) -> Array:
    """Rank the known values from 0 to 1; ties share a rank.

    >>> ranks(np.array([3.0, 1.0, 3.0, np.nan])).tolist()
    [0.75, 0.0, 0.75, nan]
    """
    valid = np.isfinite(values)
    placed = np.full(values.shape, np.nan)
    placed[valid] = (rankdata(values[valid]) - 1) / max(int(valid.sum()) - 1, 1)
    return placed


def _varies(scores: Array, human: Array) -> bool:
    available = scores[np.isfinite(scores) & np.isfinite(human)]
    return len(np.unique(available)) > 1


def _sources(data: Dataset) -> dict[tuple[str, str], str]:
    """Group outputs of one source even where their inputs have different numbers."""
    if "source" not in data.samples.columns:
        return {}
    return {(s, i): text for s, i, text in data.samples.select(*KEY, "source").iter_rows() if text}


def fit(features: Array, target: Array, ridge: float) -> tuple[Array, Array, Array]:
    """Fit a ridge regression on standardized features, and return center, scale and weights."""
    centre, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    x = (features - centre) / spread
    weights = np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ (target - target.mean()))
    return centre, spread, weights


def _predict(model: tuple[Array, Array, Array], features: Array) -> Array:
    centre, spread, weights = model
    return np.asarray((features - centre) / spread @ weights)


def _inside(domain: Domain, aspect: str, measure: Measure, folds: int, ridge: float, seed: int) -> Row:
    # Inputs by their first output in canonical order, so that renaming inputs does not change the folds.
    groups = list(dict.fromkeys(domain.inputs.tolist()))
    where = np.array([groups.index(i) for i in domain.inputs.tolist()])
    count = min(folds, len(groups))
    predicted, alone = np.full((2, len(domain.rating)), np.nan)
    picked: list[int] = []
    if count > 1:
        rng = np.random.default_rng(np.random.SeedSequence(seed))
        fold = rng.permutation(len(groups))[where] % count
        for k in range(count):
            inside, out = fold != k, fold == k
            model = fit(domain.features[inside], domain.rating[inside], ridge)
            predicted[out] = _predict(model, domain.features[out])
            best, sign = _best(domain.scores[inside], domain.rating[inside], measure)
            alone[out] = _turned(domain.scores[out, best], sign)
            picked.append(best)
    name = domain.metrics[max(set(picked), key=picked.count)] if picked else None
    return _row(domain, domain.name, IN, aspect, predicted, alone, name, measure)


def _across(train: Sequence[Domain], test: Domain, name: str, aspect: str, measure: Measure, ridge: float) -> Row:
    features, scores = (np.concatenate(part) for part in ([d.features for d in train], [d.scores for d in train]))
    rating = np.concatenate([d.rating for d in train])
    predicted = _predict(fit(features, rating, ridge), test.features)
    best, sign = _best(scores, rating, measure)
    return _row(test, name, CROSS, aspect, predicted, _turned(test.scores[:, best], sign), test.metrics[best], measure)


def _best(scores: Array, rating: Array, measure: Measure) -> tuple[int, float]:
    """Return the metric with the highest absolute correlation, and its sign."""
    result = evaluate(scores.T[:, None], rating[None], [measure]).value[:, 0]
    best = 0 if np.isnan(result).all() else int(np.nanargmax(np.abs(result)))
    return best, -1.0 if result[best] < 0 else 1.0


def _turned(place: Array, sign: float) -> Array:
    """Reverse the ranks where the metric correlates negatively, so that folds with different metrics are comparable."""
    return place if sign > 0 else 1 - place


def _row(
    test: Domain,
    train: str,
    setting: str,
    aspect: str,
    predicted: Array,
    alone: Array,
    metric: str | None,
    measure: Measure,
) -> Row:
    ours, others = _r(predicted, test.rating, measure), _r(alone, test.rating, measure)
    p = float(williams_test(ours, others, _r(predicted, alone, measure), len(test.rating)))
    return {
        "aspect": aspect,
        "test": test.name,
        "train": train,
        "setting": setting,
        "measure": str(measure),
        "value": ours,
        "best_single": others,
        "metric": metric,
        "gain": ours - others,
        "p": p,
        "n": len(test.rating),
        "families": test.features.shape[1],
    }


def _r(x: Array, z: Array, measure: Measure) -> float:
    return float(evaluate(x[None, None], z[None], [measure]).value[0, 0])
