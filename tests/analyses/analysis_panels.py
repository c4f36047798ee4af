"""Small panels for the tests of analyses: known arrays, nothing read from files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from nlgauge.data.dataset import Dataset
from nlgauge.data.load import load
from nlgauge.data.panel import Panel


def panel_of(
    human: np.ndarray,
    metrics: dict[str, np.ndarray],
    *,
    raters: np.ndarray | None = None,
    persons: bool = True,
    lower: Iterable[str] = (),
    **more: Any,
) -> Panel:
    n, m = human.shape
    return Panel(
        name="test",
        aspect="quality",
        systems=tuple(f"s{i}" for i in range(n)),
        inputs=tuple(f"i{j}" for j in range(m)),
        metrics=metrics,
        humans={"quality": human},
        raters={} if raters is None else {"quality": raters},
        rater_names=() if raters is None else tuple(f"r{k}" for k in range(len(raters))),
        persons=persons,
        lower=frozenset(lower),
        **more,
    )


def noisy_panel(
    seed: int = 0, systems: int = 8, inputs: int = 20, raters: int = 3, noise: Iterable[float] = (0.3, 1.0, 3.0, 9.0)
) -> Panel:
    """Ratings 1–5 of some raters; metrics m0, m1, … that follow the truth less and less."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, (systems, 1)) + rng.normal(0, 1, (systems, inputs))
    cube = np.clip(np.round(3 + truth + rng.normal(0, 0.6, (raters, systems, inputs))), 1, 5)
    metrics = {f"m{k}": truth + rng.normal(0, sd, truth.shape) for k, sd in enumerate(noise)}
    return panel_of(cube.mean(axis=0), metrics, raters=cube if raters > 1 else None)


def with_metrics(panel: Panel, metrics: dict[str, np.ndarray], lower: Iterable[str] = ()) -> Panel:
    return replace(panel, metrics=metrics, lower=frozenset(lower))


def upside_down(panel: Panel, name: str) -> Panel:
    """The same panel with one metric negated and declared lower-is-better: every conclusion must stay the same."""
    return with_metrics(panel, {k: -v if k == name else v for k, v in panel.metrics.items()}, lower=[name])


def reordered(panel: Panel) -> Panel:
    return with_metrics(panel, dict(reversed(panel.metrics.items())))


def with_holes(panel: Panel, seed: int = 1, share: float = 0.1) -> Panel:
    rng = np.random.default_rng(seed)
    return with_metrics(panel, {k: np.where(rng.random(v.shape) < share, np.nan, v) for k, v in panel.metrics.items()})


def by(table: Any, *keys: str) -> dict[Any, dict[str, Any]]:
    """Rows by one or more columns."""
    return {tuple(row[k] for k in keys) if len(keys) > 1 else row[keys[0]]: row for row in table.rows}


def same_rows(a: Any, b: Any) -> bool:
    """Equal rows, NaN equal to NaN, by way of JSON."""
    return bool(a.to_dict()["rows"] == b.to_dict()["rows"])


def two_domains(inputs: int = 40, systems: str = "AB", seed: int = 0) -> Dataset:
    """`good` follows people in news only, `flat` nowhere, `back` is lower-is-better and follows them everywhere."""
    rng = np.random.default_rng(seed)
    rows = []
    for domain in ("news", "chat"):
        for i in range(inputs):
            for s in systems:
                q = float(rng.integers(1, 7))
                rows.append(
                    {
                        "system": s,
                        "input": f"{domain}{i}",
                        "domain": domain,
                        "output": f"{s} says " + "word " * int(rng.integers(1, 9)),
                        "references": [f"reference {i}"] * (1 + i % 3),
                        "quality": q,
                        "style": float(rng.integers(1, 7)),
                        "good": q + rng.normal(0, 0.5 if domain == "news" else 20),
                        "flat": rng.normal(),
                        "back": -q + rng.normal(0, 2),
                    }
                )
    return load(rows, human=["quality", "style"], metrics=["good", "flat", "back"], lower=["back"])


def frame(data: Dataset, aspect: str = "quality") -> Any:
    return (
        data.samples.join(data.scores, on=["system", "input"])
        .join(data.ratings.filter(data.ratings["aspect"] == aspect), on=["system", "input"])
        .to_pandas()
    )
