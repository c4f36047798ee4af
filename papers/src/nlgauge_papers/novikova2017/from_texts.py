"""The 21 metrics of Novikova et al. (2017) computed from the texts, compared with the columns that the authors
published.

The texts and references that a metric received were determined by comparison (datasets/bagel_texts.py has their
preprocessing); CIDEr and NIST counted frequencies over one data set and one system's file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from nlgauge import Dataset, NlgaugeError, Table
from nlgauge.metrics import Batch, metric_from_spec
from nlgauge.plugins import NameUnknown, Row, did_you_mean
from nlgauge_papers import Sources, further, meteor_1_5
from nlgauge_papers.common import KEY, Array, Mask
from nlgauge_papers.novikova2017._shared import METRICS, SET

PRESET = "preset='novikova2017'"
WITHIN = 0.01


class How(NamedTuple):
    """Our metric for one of the paper's, and its preprocessing."""

    spec: str
    texts: str
    references: str = "all"
    scale: float = 1.0  # ours is per cent
    by_file: bool = False

    @property
    def as_released(self) -> How:
        """Return the same metric for the released texts, which it tokenizes itself."""
        own = self.spec.replace(", tokenize='none'", "").replace("(tokenize='none')", "")
        return How(own if self.texts == "tokenized" else self.spec, "released", scale=self.scale)


HOW: dict[str, How] = {
    "TER": How("ter", "delexicalised", scale=0.01),
    **{
        f"BLEU{n}": How(f"bleu(order={n}, preset='coco', tokenize='none')", "tokenized", scale=0.01)
        for n in (1, 2, 3, 4)
    },
    "ROUGE": How("rouge-l(preset='coco', tokenize='none')", "tokenized"),
    "NIST": How("nist", "delexicalised", "last", by_file=True),
    "LEPOR": How("lepor(tokenize='none', alpha=1, beta=1)", "delexicalised", "first"),
    "CIDEr": How("cider-d(tokenize='none')", "tokenized", by_file=True),
    "METEOR": How(meteor_1_5.spec(), "tokenized"),
    "SIM": How("sim", "authors"),
    "RE": How(f"flesch({PRESET})", "authors"),
    "cpw": How("cpw", "authors"),
    "len": How("len", "authors"),
    **{name: How(f"{name}({PRESET})", "authors") for name in ("wps", "sps", "spw", "pol", "ppw")},
    "msp": How("msp", "authors"),
    "prs": How("prs", "authors"),
}
WHY = {
    "NIST": "likely its weights were counted over texts that are not in the files; the order of the references is lost",
    **({} if meteor_1_5.files() else {"METEOR": meteor_1_5.WITHOUT}),
    "CIDEr": "repetitions of references, which the files do not have, count in its mean; RNNLG's frequencies likely "
    "came from other texts",
    "TER": "likely repetitions of references, which the files do not have: they count in the mean length",
    "LEPOR": "likely how it places words that occur twice",
    "SIM": "a web service with LSA and WordNet that is no longer there; ours has word vectors",
    "prs": "the Stanford parser's log-probability; ours is the cost of link grammar",
    "msp": "another dictionary, which the paper does not name",
    **dict.fromkeys(("RE", "sps", "spw", "pol", "ppw"), "syllables of single names: another dictionary"),
}


def scored(how: How, data: Dataset) -> Array:
    """Return our values in the order of the samples, by file where frequencies are counted within one."""
    metric = metric_from_spec(how.spec)
    if not how.by_file:
        return how.scale * metric.score(Batch.of(data)).values
    results: dict[tuple[str, str], float] = {}
    for _, part in data.by("dataset", "system"):
        keys = part.samples.select(KEY).rows()
        results |= dict(zip(keys, metric.score(Batch.of(part)).values.tolist(), strict=True))
    return how.scale * np.array([results[key] for key in data.samples.select(KEY).rows()])


def compare_columns(ours: Array, theirs: Array) -> tuple[float, Mask]:
    """Return Spearman's correlation with the published column, and which values are within 1% of it.

    Ours with the digits that were published, so that what is tied there (0.999999999) is tied here.
    """
    from scipy.stats import spearmanr

    ours = np.array([float(f"{value:.8g}") for value in ours])
    near = np.abs(ours - theirs) <= WITHIN * np.abs(theirs) + 1e-12
    return float(spearmanr(ours, theirs, nan_policy="omit")[0]), near


@further(
    "novikova2017", "from-texts", title="Its 21 metrics from the texts, compared with the published scores", sets=[SET]
)
def study(sources: Sources, only: Sequence[str] | str = ()) -> list[Table]:
    """Return every metric, or `only` those with the given names of the paper."""
    wanted = [only] if isinstance(only, str) else list(only or HOW)
    for name in wanted:
        if name not in HOW:
            raise NameUnknown(f"only={name}: no metric of novikova2017.{did_you_mean(name, HOW)}")
    rows = [_row(name, HOW[name], sources) for name in wanted]
    return [
        Table(
            "The metrics of novikova2017 from the texts, compared with its published scores",
            rows,
            method="rho: Spearman's correlation with the published column over all outputs; within 1%: the share of "
            "outputs so near to it; lowest: in the file (data set and system) where that share is lowest. released: "
            "with the texts as they were released; else as the authors' programs had them (found by comparing, the "
            "paper does not say).",
            answers=[_answer([r for r in rows if not r["reason"]])],
            notes=[f"{name}: {WHY[name]}." for name in wanted if name in WHY]
            + [f"{r['metric']}: not computed, {r['reason']}" for r in rows if r["reason"]],
            kind="from-texts",
            shown=[
                "metric",
                "spec",
                "texts",
                "references",
                "rho_released",
                "within_released",
                "rho",
                "within",
                "lowest",
            ],
            heads={"rho_released": "rho, released", "within_released": "within 1%", "within": "within 1%"},
            cells={name: partial(_share, name) for name in ("within_released", "within", "lowest")},
            decimals=4,
        )
    ]


def _row(name: str, how: How, sources: Sources) -> Row:
    spec = meteor_1_5.shown(how.spec)
    sources.tell(f"{name}: {spec}")
    data = sources(SET, texts=how.texts, references=how.references)
    others = data.scores[METRICS[name]].to_numpy()
    row: Row = {
        "metric": name,
        "column": METRICS[name],
        "spec": spec,
        "texts": how.texts,
        "references": how.references,
        **dict.fromkeys(("rho_released", "within_released", "rho", "within", "lowest"), math.nan),
        "n": len(others),
        "reason": "",
    }
    try:
        rho, near = compare_columns(scored(how, data), others)
        released, before = compare_columns(scored(how.as_released, sources(SET)), others)
    except NlgaugeError as error:  # a program or an extra is not installed
        return row | {"reason": str(error)}
    file = np.array([" ".join(f) for f in data.samples.select("dataset", "system").rows()])
    return row | {
        "rho_released": released,
        "within_released": float(before.mean()),
        "rho": rho,
        "within": float(near.mean()),
        "lowest": min(float(near[file == one].mean()) for one in np.unique(file)),
    }


def _answer(rows: Sequence[Row]) -> str:
    def many(column: str, share: float) -> int:
        return sum(r[column] >= share for r in rows)

    return (
        f"Of {len(rows)} metrics {many('within', 0.99)} are within 1% of the published score in 99% of the outputs, "
        f"{many('within', 0.85)} in 85%; with the texts as released {many('within_released', 0.99)} and "
        f"{many('within_released', 0.85)}."
    )


def _share(column: str, row: Row) -> str:
    value = row[column]
    return "" if math.isnan(value) else f"{100 * value:.2f}%"
