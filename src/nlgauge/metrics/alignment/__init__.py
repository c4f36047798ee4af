"""Information alignment (deng2021): how much of one text is grounded in another, token by token.

>>> found = align("McConaughey is a football fan.", "He is an avid fan of the football team.")      # doctest: +SKIP
>>> [(token, round(score, 2)) for token, score in zip(found.tokens, found.scores)]                  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nlgauge.errors import NlgaugeError

if TYPE_CHECKING:
    from nlgauge.metrics.alignment.alignments import Alignment

__all__ = ["align"]


def align(a: str, b: str | Sequence[str], *, estimator: str = "E", **options: Any) -> Alignment:
    """align(a → b): the tokens of a and a score in [0, 1] for each: how well b grounds it. b may be several texts.

    Options of estimator E: encoder, layer, window (sentences), match ('all', 'best' or 'sentence'), sharp; of the
    trained D and R: task (summarisation, dialogue, style) or weights (the folder of a training of one's own), encoder.
    """
    from nlgauge.metrics.alignment.alignments import ToAlign
    from nlgauge.models.loading import MINILM, check_ready

    encoder = options.get("encoder", MINILM)
    if estimator in ("D", "R"):
        from nlgauge.metrics.alignment.trained import aligner, base_of

        encoder = base_of(estimator, options.get("weights", ""), encoder)
    check_ready("align", encoder=encoder)
    pair = ToAlign(a, (b,) if isinstance(b, str) else tuple(b))
    if estimator == "E":
        from nlgauge.metrics.alignment.matching import Matching

        return Matching(**options).align([pair])[0]
    if estimator not in ("D", "R"):
        raise NlgaugeError(
            f"estimator='{estimator}'; there are E (embedding matching), D (token classifier) and R (regression)."
        )
    return aligner(estimator, **{"task": "summarisation", "weights": "", "encoder": MINILM, **options}).align([pair])[0]
