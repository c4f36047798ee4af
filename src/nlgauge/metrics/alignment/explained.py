"""Explanation of one output: the token scores behind its score."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nlgauge.errors import NlgaugeError
from nlgauge.foreign_text import for_terminal
from nlgauge.metrics.alignment.alignments import Alignment
from nlgauge.metrics.alignment.ctc import Aligned
from nlgauge.metrics.base import Metric
from nlgauge.models.embeddings import embeddings
from nlgauge.models.encoder import DEFAULT
from nlgauge.table import Table
from nlgauge.text.batch import Batch
from nlgauge.text.windows import sentence_spans

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.text import Text

# Words with a lower cosine (E) or probability (D, R) are listed by `nlgauge score --explain`.
WEAK = {"E": 0.6, "D": 0.5, "R": 0.5}
# Color scale from ungrounded to grounded; cosines of this encoder family are mostly above .3.
COLORS = ((0.45, "bold red"), (0.6, "yellow"), (0.75, "default"), (1.01, "green"))
NAMES = {"x": "source", "c": "context", "y": "output", "r": "reference"}


@dataclass(frozen=True)
class AlignedPart:
    """Tokens of one text, each with the degree to which others ground it; `name` as in 'output → source'."""

    name: str
    alignment: Alignment


@dataclass(frozen=True)
class SentenceSupport:
    """A sentence of the output, its content words with a low score, and the best matching sentence of source or
    context.
    """

    sentence: str
    weak: list[tuple[str, float]]
    evidence: str
    fit: float


@dataclass(frozen=True)
class AlignedOutput:
    """The score of one output by a metric, and the alignments behind it; `which` names the output.

    `support`: each sentence of the output with its best match, where the metric compares it with a source or context;
    `weak`: the score below which its words are listed.
    """

    metric: str
    score: float
    parts: list[AlignedPart]
    which: str = ""
    support: list[SentenceSupport] = field(default_factory=list)
    weak: float = WEAK["E"]
    lines = None
    unfinished = ""

    @property
    def tables(self) -> list[Table]:
        """The score of each token, as a table."""
        rows = [
            {"part": part.name, "token": token, "value": value, "metric": self.metric, "score": self.score}
            for part in self.parts
            for token, value in zip(part.alignment.tokens, part.alignment.scores.tolist(), strict=True)
        ]
        return [Table("nlgauge explain", rows, kind="explain")]

    @property
    def remarks(self) -> list[str]:
        """Return which output this is."""
        return [self.which] if self.which else []

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Print words over their scores, colored; then unsupported words, and the sentence that matches best."""
        from rich.text import Text

        for part in self.parts:
            mean, total = part.alignment.mean(), part.alignment.sum()
            yield Text(f"{part.name}: mean {mean:.3f}, sum {total:.2f}", style="bold")
            yield from words_over_scores(part.alignment.words(), options.max_width)
        if unsupported := [s for s in self.support if s.weak]:
            yield Text(f"Content words below {self.weak:g}, and the sentence that matches best", style="bold")
            for s in unsupported:
                weak = ", ".join(f"{word} {score:.2f}" for word, score in s.weak)
                yield Text(for_terminal(weak), style="yellow")
                yield Text(f"  {for_terminal(s.evidence)} (match {s.fit:.2f})")
        elif self.support:
            yield Text(f"No content word of the output is below {self.weak:g}.")
        yield Text(f"{self.metric} = {self.score:.4f}")


def words_over_scores(alignment: Alignment, width: int) -> list[Text]:
    """Return words over their scores, as in Deng et al. (2021, Table C.1), which is readable without colors."""
    from rich.text import Text

    lines: list[Text] = []
    above, below = Text(), Text()
    for token, score in zip(map(for_terminal, alignment.tokens), alignment.scores.tolist(), strict=True):
        room = max(len(token), 3) + 1
        if above.cell_len + room > width and above.cell_len:
            lines += [above, below]
            above, below = Text(), Text()
        style = next(color for top, color in COLORS if score < top)
        number = "1.0" if score >= 0.995 else f"{score:.2f}"[1:]
        above.append(token.ljust(room), style=style)
        below.append(number.ljust(room), style="dim")
    return [*lines, above, below]


def aligned_output(metric: Metric, batch: Batch, which: str = "") -> AlignedOutput:
    """Return the first output of a batch with its explanation by ctc or align-expr."""
    if not isinstance(metric, Aligned):
        raise NlgaugeError(f"-m {metric}: has no token scores; use ctc or align-expr.")
    metric.ready()
    scores, aligned = metric.explain(batch)
    if not aligned[0]:
        raise NlgaugeError(f"{metric}: no score ({scores.reasons[0]}).")
    parts, weak = [], WEAK[metric.align]
    support: list[SentenceSupport] = []
    for k, terms in enumerate(aligned[0]):
        for (a, b), alignment in terms.items():
            number = f" {k + 1}" if "r" in (a, *b) and len(aligned[0]) > 1 else ""
            if a == "y" and not support and (evidence := _evidence(batch, b)):
                support = _support(metric, batch, alignment.words().content(), evidence, weak)
            parts.append(AlignedPart(f"{NAMES[a]} → {' and '.join(NAMES[f] for f in b)}{number}", alignment))
    return AlignedOutput(str(metric), float(scores.values[0]), parts, which, support, weak)


def _evidence(batch: Batch, fields: Iterable[str]) -> list[str]:
    """Return the sentences of source and context, where the output is compared with these."""
    given = [batch.text(int({"x": batch.source, "c": batch.context}[f][0])) for f in fields if f in "xc"]
    return [text[a:b] for text in given if text for a, b in sentence_spans(text)]


def _support(
    metric: Aligned, batch: Batch, words: Alignment, evidence: list[str], weak: float
) -> list[SentenceSupport]:
    selected = embeddings(batch, DEFAULT if metric.by_authors() else metric.encoder)
    layer = selected.want(metric.settings().layer)
    spans = sentence_spans(words.text)
    own_part = selected.of([words.text[a:b] for a, b in spans], layer)
    others = [e.tokens for e in selected.of(evidence, layer)]
    results = []
    for (first, last), own in zip(spans, own_part, strict=True):
        fits = [float((own.tokens @ e.T).max(axis=1).mean()) if len(own.tokens) and len(e) else 0.0 for e in others]
        best = max(range(len(fits)), key=fits.__getitem__)
        inside = zip(words.tokens, words.scores.tolist(), words.spans[:, 0].tolist(), strict=True)
        low = [
            (token, score)
            for token, score, index in inside
            if first <= index < last and score < weak and not words.whole
        ]
        results.append(SentenceSupport(words.text[first:last], low, evidence[best], fits[best]))
    return results
