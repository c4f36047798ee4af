"""Baselines of Deng et al. (2021), Tables D.1–F.6: their scores and six correlations with human ratings.

The paper took most of these rows from the releases of others, so each follows the program behind that release. The
settings below were selected as those that agree with the printed cells; one setting serves a row in all its tables:

* SummEval toolkit (D.1–D.3) and E.1: ROUGE-1.5.5 with stems, F, the matches of all references over all their n-grams
  ("model average"), ROUGE-L over sentences; BLEU of sacrebleu, lower-cased; chrF of sacrebleu; METEOR 1.5; CIDEr-D on
  Snowball stems, as the toolkit's own program has it.
* Mir et al. (E.1): their released columns on the unmasked texts; the sign of WMD is flipped.
* USR (F.1–F.6): BLEU and ROUGE-L (beta 1.2) of pycocoevalcap on tokens split at white space, METEOR 1.5, and F1 of
  characters, against the original response, which is left out of the systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from nlgauge import Dataset
from nlgauge.metrics import Batch, CachedRunner, Store, metric_from_spec, sentences, tokenized_pairs
from nlgauge.stats import Measure, evaluate
from nlgauge_papers import Difference, Key, LeftOut, Ours, Sources
from nlgauge_papers.common import Array

SIX = [
    (level, coefficient, Measure(grouping, coefficient))
    for level, grouping in (("sample", "global"), ("system", "system"))
    for coefficient in ("pearson", "spearman", "kendall")
]
LEFT_OUT = LeftOut("runs a model: left out by --no-slow")
ENCODER = "the embedded 22M-parameter encoder instead of the paper's model"
VECTORS = "other word vectors than the paper's"


def lines(text: str) -> str:
    """Put each sentence on a line, as ROUGE-1.5.5 expects for ROUGE-L.

    >>> lines("One . Two .")
    'One .\\nTwo .'
    """
    return "\n".join(one for line in text.splitlines() for one in sentences(line))


def pooled_rouge(spec: str, batch: Batch) -> Array:
    """Compute F of a ROUGE with all references together: all their matches over all their n-grams.

    This is the default of ROUGE-1.5.5 ("model average"); the mean of the precisions stands for the output's side.
    """
    rouge: Any = metric_from_spec(spec)
    tokens, pairs = tokenized_pairs(batch, rouge.tokenizer, stem=rouge.stems)
    texts = batch.texts.list()
    each = Batch.from_columns(
        [texts[number] for number in pairs.output.tolist()],
        references=[[texts[number]] for number in pairs.reference.tolist()],
    )
    precision, recall = (replace(rouge, part=part).score(each).values for part in ("p", "r"))
    size = np.maximum(tokens.length[pairs.reference] - (getattr(rouge, "order", 1) - 1), 1).astype(np.float64)
    hits, mass, mean = (_sums(v, pairs.start) for v in (recall * size, size, precision))
    of_all = np.diff(pairs.start)
    p, r = mean / np.maximum(of_all, 1), hits / np.maximum(mass, 1)
    values = 2.0 * p * r / np.where(p + r > 0, p + r, 1.0)
    return np.asarray(pairs.scores(np.where(of_all > 0, values, 0.0)).values)


def _sums(values: Array, start: np.ndarray) -> Array:
    # Each sample by itself: differences of a running sum would break ties by rounding.
    return np.array([values[a:b].sum() for a, b in pairwise(start.tolist())])


@dataclass
class BaselineRows:
    """Collects the cells of a table: correlations of a row's scores with the human ratings of an aspect."""

    sources: Sources
    data: Dataset
    values: dict[Key, float] = field(default_factory=dict)
    reasons: dict[Key, str] = field(default_factory=dict)
    other: dict[Key, Difference] = field(default_factory=dict)
    slips: dict[Key, float] = field(default_factory=dict)

    def arrays(self, scores: Array | str, aspect: str, without: str = "") -> tuple[Array, Array]:
        """Return scores, or a column of the set, and ratings, systems × inputs; human outputs included, `without` a
        system.
        """
        column = scores if isinstance(scores, str) else "scores"
        data = self.data if isinstance(scores, str) else self.data.with_scores({column: scores.tolist()})
        panel = data.panel(aspect, metrics=[column], keep_human=True)
        used = [i for i, system in enumerate(panel.systems) if system != without]
        return panel.stacked()[0, used], panel.human[used]

    def correlate(self, scores: Array | str, aspect: str, without: str = "") -> dict[tuple[str, str], float]:
        """Compute six correlations with the human ratings."""
        x, human = self.arrays(scores, aspect, without)
        result = evaluate(x[None], human, [m for _, _, m in SIX]).value[0]
        return {(level, c): float(v) for (level, c, _), v in zip(SIX, result, strict=True)}

    def split_ties(self, name: str, scores: Array | str, aspect: str, sign: int = 1) -> None:
        """Reproduce an error of plain floating-point means: their sums break a tie of two systems in the last bit."""
        from scipy.stats import kendalltau, spearmanr

        x, human = (values.mean(axis=1) for values in self.arrays(scores, aspect))
        for coefficient, of in (("spearman", spearmanr), ("kendall", kendalltau)):
            self.slips[name, "system", coefficient] = sign * float(of(x, human)[0])

    def add(
        self, name: str, found: Mapping[tuple[str, str], float], reason: str = "", other: Difference | None = None
    ) -> None:
        """Add the cells of a row; `reason` explains them, `other` marks cells that are shown without a verdict."""
        keys: dict[Key, float] = {(name, *key): value for key, value in found.items()}
        self.values |= keys
        if other:
            self.other |= dict.fromkeys(keys, other)
        if reason:
            self.reasons[name,] = reason

    def ours(self, *notes: str) -> Ours:
        """Return the collected cells as the result of a study."""
        return Ours(self.values, self.reasons, notes, self.other, slips=self.slips)


def run_metric(sources: Sources, spec: str, batch: Batch) -> Array:
    """Return scores of a slow metric, cached."""
    sources.tell(spec)
    return CachedRunner(Store(sources.store)).score(metric_from_spec(spec), batch).values
