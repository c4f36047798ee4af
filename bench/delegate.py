"""How often is the error rate of a judge that decides alone above its limit, and how much does it decide?

    python -m bench.delegate --write docs/delegate.md     (the tables of the page; real data sets from NLGAUGE_DATA)

A judge's score is normal with unit variance, higher by `apart` for outputs that humans pass, so error rates of a rule and
the largest share that any rule could decide (the oracle, which knows the population) are known exactly.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom, norm

from bench._cells import cells_or_page
from bench._trust_page import table
from nlgauge.stats.agreement.selective import both_thresholds, selective_rule

KEPT = Path(__file__).with_name("delegate.json")
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "delegate.svg"
DATA_SETS, ERROR, DELTA = 2000, 0.05, 0.1
QUALITY = {"weak": 1.0, "good": 2.5, "strong": 4.0}  # difference of the means, in SD: ROC areas .76, .96, .998
PREVALENCE = (0.05, 0.2, 0.5, 0.8, 0.95)
SIZES = (50, 100, 200, 500, 1000)
SPLITS = 200
Floats = NDArray[np.float64]
Row = dict[str, Any]


class Judge(NamedTuple):
    """Scores of outputs that humans pass are higher by `apart`; `fooled` of the failures score far above everything."""

    apart: float
    passes: float
    fooled: float = 0.0

    def above(self, t: Any) -> tuple[Any, Any]:
        """Shares of all outputs that score above t: human passes and human failures."""
        good, bad, fooled = ndtr(self.apart - t), ndtr(-t), ndtr(9 - t)
        return self.passes * good, (1 - self.passes) * ((1 - self.fooled) * bad + self.fooled * fooled)

    def errors(self, pass_above: float, fail_below: float) -> tuple[float, float, float]:
        """Error rates of passes and of fails, and the share decided."""
        right, wrong = self.above(pass_above) if pass_above < np.inf else (0.0, 0.0)
        kept, caught = self.above(fail_below) if fail_below > -np.inf else (self.passes, 1 - self.passes)
        missed, failed = self.passes - kept, 1 - self.passes - caught
        shares = right + wrong, missed + failed
        rates = [(e / s if s > 1e-12 else 0.0) for e, s in zip((wrong, missed), shares, strict=True)]
        return rates[0], rates[1], shares[0] + shares[1]

    def oracle(self) -> float:
        """Largest share that thresholds could decide with both error rates within the limit."""
        grid = np.linspace(-6, 14, 4001)
        right, wrong = self.above(grid)
        passing = wrong <= ERROR * (right + wrong)
        missed, failed = self.passes - right, 1 - self.passes - wrong
        failing = missed <= ERROR * (missed + failed)
        best_pass = float((right + wrong)[passing].max(initial=0.0))
        best_fail = float((missed + failed)[failing].max(initial=0.0))
        return min(best_pass + best_fail, 1.0)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Floats]:
        passed = rng.random(n) < self.passes
        return passed, rng.normal(size=n) + self.apart * passed + 9 * (~passed & (rng.random(n) < self.fooled))


def rules(
    passed: NDArray[np.bool_], score: Floats, delta: float, clusters: Any = None, error: float = ERROR
) -> tuple[float, float]:
    """Thresholds of the two rules: above the first the judge passes, below the second it fails."""
    up = selective_rule(score, ~passed, error=error, delta=delta / 2, clusters=clusters)
    down = selective_rule(-score, passed, error=error, delta=delta / 2, clusters=clusters)
    above, below = both_thresholds(score, passed, up, down)
    return np.inf if above is None else above, -np.inf if below is None else below


def naive(passed: NDArray[np.bool_], score: Floats) -> tuple[float, float]:
    """The usual choice: the lowest threshold whose error rate on the labels is within the limit."""
    found = []
    for sign, wrong in ((1, ~passed), (-1, passed)):
        order = np.argsort(-sign * score)
        rate = np.cumsum(wrong[order]) / np.arange(1, len(order) + 1)
        last = np.flatnonzero(rate <= ERROR)
        at = sign * score[order]
        found.append(np.inf if not len(last) else at[last[-1] + 1] if last[-1] + 1 < len(at) else -np.inf)
    above, below = found[0], -found[1]
    return above, below if below <= above else -np.inf


def summary(results: list[tuple[float, float, float]], judge: Judge, **about: Any) -> Row:
    """Share of data sets in which one of the error rates is above the limit, refusals, and the mean share decided."""
    rates = np.array(results)
    return {
        **about,
        "exceeded": float((rates[:, :2].max(axis=1) > ERROR + 1e-9).mean()),
        "refused": float((rates[:, 2] < 1e-9).mean()),
        "decided": float(rates[:, 2].mean()),
        "oracle": judge.oracle(),
        "data sets": len(results),
    }


def plain(quality: str, passes: float, n: int, fooled: float = 0.0, rounded: bool = False) -> Row:
    judge, rng = Judge(QUALITY[quality], passes, fooled), np.random.default_rng([n, int(1000 * passes), len(quality)])
    found, usual = [], []
    for _ in range(DATA_SETS):
        passed, score = judge.draw(n, rng)
        if rounded:  # five steps: a score above a step is a latent score above its upper edge
            edges = np.array([-1.0, 0.5, 1.5, 3.0])
            above, below = rules(passed, np.searchsorted(edges, score).astype(float), DELTA)
            upper = np.concatenate([[-np.inf], edges, [np.inf]])  # of steps -1 to 4
            found.append(
                judge.errors(
                    above if np.isinf(above) else float(upper[int(np.floor(above)) + 1]),
                    below if np.isinf(below) else float(upper[int(np.ceil(below))]),
                )
            )
        else:
            found.append(judge.errors(*rules(passed, score, DELTA)))
            usual.append(judge.errors(*naive(passed, score)))
    row = summary(found, judge, quality=quality, passes=passes, n=n)
    return row if rounded else {**row, "naive": summary(usual, judge)["exceeded"]}


def clustered(quality: str, passes: float, clusters: int, alike: float, size: int | None = None) -> Row:
    """Conversations of 1 to 8 outputs (or trials: `size` outputs of each input), alike in verdict and score."""
    judge, rng = Judge(QUALITY[quality], passes), np.random.default_rng([clusters, int(100 * passes), int(100 * alike)])
    found, usual = [], []
    for _ in range(DATA_SETS):
        code = np.repeat(np.arange(clusters), rng.integers(1, 9, clusters) if size is None else size)
        latent, noise = (
            np.sqrt(alike) * rng.normal(size=clusters)[code] + np.sqrt(1 - alike) * rng.normal(size=len(code))
            for _ in range(2)
        )
        passed = latent > norm.isf(passes)
        score = noise + judge.apart * passed
        found.append(judge.errors(*rules(passed, score, DELTA, code)))
        usual.append(judge.errors(*rules(passed, score, DELTA)))
    row = summary(found, judge, quality=quality, passes=passes, clusters=clusters, alike=alike)
    return {**row, "as independent": summary(usual, judge)["exceeded"]}


def among_signals(passes: float, n: int, signals: int = 5) -> Row:
    """The best of five judges, delta split over them; next to the best of five without the split."""
    judge, rng = Judge(QUALITY["good"], passes), np.random.default_rng([n, signals])
    found, unsplit = [], []
    for _ in range(DATA_SETS // 2):
        passed, common = judge.draw(n, rng)
        scores = [
            np.sqrt(0.5) * (common - judge.apart * passed) + np.sqrt(0.5) * rng.normal(size=n) + judge.apart * passed
            for _ in range(signals)
        ]
        for split, results in ((signals, found), (1, unsplit)):
            each = [judge.errors(*rules(passed, score, DELTA / split)) for score in scores]
            results.append(max(each, key=lambda r: r[2]))
    row = summary(found, judge, passes=passes, n=n)
    return {**row, "without the split": summary(unsplit, judge)["exceeded"]}


def published() -> Iterator[tuple[str, NDArray[np.bool_], Floats, NDArray[Any]]]:
    """Name, human verdict, judge's score and cluster of the outputs of four published sets."""
    home = Path(os.environ["NLGAUGE_DATA"])

    def lines(path: str) -> list[dict[str, Any]]:
        opened: Callable[..., Any] = gzip.open if path.endswith(".gz") else open
        with opened(home / path, "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    people = {
        (r["model_id"], r["id"]): r["expert_annotations"]
        for r in lines("summeval/summeval_12systems_individual_annotations.jsonl")
    }
    replies = lines("summeval/summeval_llm_judge_responses.jsonl.gz")
    for aspect in ("coherence", "relevance"):
        rows = [
            (np.mean([float(a[aspect]) for a in people[key]]) >= 4, r["score_parsed_here"], r["id"])
            for r in replies
            if r["evaluator"].startswith("gpt-4") and r["aspect"] == aspect and r["score_parsed_here"] is not None
            if (key := (r["system"], r["id"])) in people
        ]
        yield (f"SummEval {aspect}, GPT-4", *_columns(rows))
    chats = lines("usr_dialogue/usr_topical_chat.jsonl")
    rows = [
        (np.mean([a["Overall"] for a in r["ratings"]]) >= 4, r["metrics"]["overall_unieval"], r["context_id"])
        for r in chats
        if "overall_unieval" in r["metrics"]
    ]
    if rows:
        yield ("USR Topical-Chat, UniEval", *_columns(rows))
    import polars as pl

    frame = pl.read_parquet(home / "wmt23_metrics" / "wmt23_zh-en_segment.parquet")
    for metric in ("XCOMET-Ensemble-refA", "GEMBA-MQM-src"):
        column = f"metric.{metric}"
        known = frame.filter(pl.col("human.mqm").is_not_nan() & pl.col(column).is_not_nan())
        rows = [(m >= -1, x, s) for m, x, s in known.select("human.mqm", column, "seg").iter_rows()]
        yield (f"WMT23 zh-en, {metric.rsplit('-', 1)[0]}", *_columns(rows))
    arena = [r for r in lines("cje_arena/base_responses.jsonl.gz") if r.get("oracle_label") is not None]
    rows = [(r["oracle_label"] >= 0.7, r["judge_score"], r["prompt_id"]) for r in arena]
    yield ("CJE arena sample, base", *_columns(rows))


def _columns(rows: list[Any]) -> tuple[NDArray[np.bool_], Floats, NDArray[Any]]:
    passed, score, unit = zip(*rows, strict=True)
    return np.array(passed, bool), np.array(score, float), np.array(unit)


def held_back(name: str, passed: NDArray[np.bool_], score: Floats, unit: NDArray[Any], error: float) -> Row:
    """Rules from three quarters of the inputs drawn at random, and their error rate on the others."""
    rng = np.random.default_rng(0)
    code = np.unique(unit, return_inverse=True)[1]
    rows = []
    for _ in range(SPLITS):
        first = (rng.permutation(code.max() + 1) < (code.max() + 1) * 0.75)[code]
        above, below = rules(passed[first], score[first], DELTA, code[first], error)
        rest, right = score[~first], passed[~first]
        decided = (rest > above) | (rest < below)
        wrong = ((rest > above) & ~right) | ((rest < below) & right)
        rows.append((decided.mean(), wrong.sum(), decided.sum()))
    share, wrong, count = np.array(rows).T
    holds = count > 0
    rate = wrong[holds] / count[holds]
    return {
        "data": name,
        "outputs": len(passed),
        "inputs": int(code.max()) + 1,
        "passes": float(passed.mean()),
        "limit": error,
        "rule": float(holds.mean()),
        "decided": float(share[holds].mean()) if holds.any() else None,
        "realized": float(wrong.sum() / count.sum()) if holds.any() else None,
        "above the limit": float((rate > error).mean()) if holds.any() else None,
    }


def compute(only: str = "") -> dict[str, list[Row]]:
    """Compute the cells; those of another name are kept as they are."""
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    made: dict[str, Callable[[], list[Row]]] = {
        "plain": lambda: [plain(q, p, n) for q in QUALITY for p in PREVALENCE for n in SIZES],
        "steps": lambda: [plain(q, p, n, rounded=True) for q in QUALITY for p in (0.2, 0.8) for n in (100, 500)],
        "fooled": lambda: [
            plain("strong", p, n, fooled=f) for p in (0.5, 0.8) for n in (200, 1000) for f in (0.02, 0.1)
        ],
        "clusters": lambda: [clustered("good", p, c, 0.5) for p in (0.5, 0.9) for c in (60, 150, 300, 600)],
        "trials": lambda: [clustered("good", p, c, 0.8, size=5) for p in (0.5, 0.9) for c in (60, 150, 300)],
        "signals": lambda: [among_signals(p, n) for p in (0.5, 0.8) for n in (200, 500)],
        "published": lambda: [held_back(*each, error) for each in published() for error in (0.05, 0.1, 0.2)],
    }
    for name, make in made.items():
        if name.startswith(only):
            kept[name] = make()
            print(name, len(kept[name]), flush=True)
            KEPT.write_text(json.dumps(kept, indent=0), encoding="utf-8")
    return kept


def band() -> float:
    """Largest share of exceeded limits that chance explains at delta (upper 99.9% point)."""
    return float(binom.ppf(0.999, DATA_SETS, DELTA)) / DATA_SETS


def page(kept: dict[str, list[Row]]) -> dict[str, str]:
    """Return the tables of the page, and draw its figure."""
    draw(kept)
    lines = []
    extras = {
        "plain": "naive",
        "fooled": "naive",
        "clusters": "as independent",
        "trials": "as independent",
        "signals": "without the split",
    }
    titles = {
        "plain": "independent outputs",
        "steps": "scores of five steps",
        "fooled": "most confident verdicts wrong",
        "clusters": "conversations of 1 to 8 outputs",
        "trials": "5 trials of each input",
        "signals": "best of 5 judges",
    }
    for name, title in titles.items():
        rows = kept[name]
        other = extras.get(name, "")
        lines.append(
            [
                title,
                len(rows),
                max(r["exceeded"] for r in rows),
                sum(r["exceeded"] for r in rows) / len(rows),
                f"{max(r[other] for r in rows):.3f} ({other})" if other else "",
                sum(r["decided"] for r in rows) / len(rows),
                sum(r["oracle"] for r in rows) / len(rows),
            ]
        )
    first = table(
        ["data", "settings", "exceeded, most", "exceeded, mean", "exceeded otherwise, most", "decided", "oracle"], lines
    )
    grid = {(r["quality"], r["passes"], r["n"]): r for r in kept["plain"]}
    second = table(
        ["judge", "humans pass", *(f"{n:,} labels" for n in SIZES), "oracle"],
        [
            [
                q,
                f"{p:.0%}",
                *(f"{grid[q, p, n]['decided']:.2f} ({grid[q, p, n]['refused']:.2f})" for n in SIZES),
                grid[q, p, 50]["oracle"],
            ]
            for q in QUALITY
            for p in PREVALENCE
        ],
    )
    third = table(
        ["data", "inputs", "humans pass", "limit", "splits with a rule", "decided", "error rate on held-back labels"],
        [
            [
                r["data"],
                r["inputs"],
                f"{r['passes']:.0%}",
                f"{r['limit']:.0%}",
                r["rule"],
                *("–" if r[k] is None else r[k] for k in ("decided", "realized")),
            ]
            for r in kept["published"]
        ],
    )
    return {
        "exceeded": "\n".join(first) + "\n",
        "decided": "\n".join(second) + "\n",
        "published": "\n".join(third) + "\n",
    }


def draw(kept: dict[str, list[Row]]) -> None:
    """Draw the share decided by number of labels."""
    import plotly.graph_objects as go

    from nlgauge.report.figures.svg import svg_of

    figure = go.Figure()
    for quality in QUALITY:
        rows = [r for r in kept["plain"] if (r["quality"], r["passes"]) == (quality, 0.8)]
        x, name = [str(r["n"]) for r in rows], f"{quality} judge"
        figure.add_scatter(x=x, y=[r["decided"] for r in rows], name=name, mode="lines+markers")
        figure.add_scatter(
            x=x, y=[r["oracle"] for r in rows], name=f"{quality} judge, oracle", mode="lines", line={"dash": "dot"}
        )
    figure.update_layout(
        xaxis={"title": {"text": "labels (humans pass 80%)"}, "type": "category"},
        yaxis={"title": {"text": "share of outputs decided alone"}, "range": [0, 1.02]},
        width=760,
        height=380,
    )
    text = svg_of(figure, "share of outputs that the judge decides alone, by number of labels")
    text = text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace("currentColor", "#444")
    IMAGE.write_text(text, encoding="utf-8")


def main() -> None:
    cells_or_page("delegate", __doc__ or "", KEPT, compute, page)


if __name__ == "__main__":
    main()
