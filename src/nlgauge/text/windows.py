"""Sentences of a text with their positions, and overlapping windows of them, because small encoders blur long
inputs.
"""

from __future__ import annotations

from nlgauge.text.sentences import sentences


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return where each sentence begins and ends; a new line also ends one.

    >>> sentence_spans("One. Two!\\nthree")
    [(0, 4), (5, 9), (10, 15)]
    """
    spans, line_start = [], 0
    for line in text.splitlines(keepends=True):
        place = 0
        for sentence in sentences(line):
            first = line.find(sentence, place)
            place = first + len(sentence)
            spans.append((line_start + first, line_start + place))
        line_start += len(line)
    return spans


def windows(text: str, size: int) -> list[str]:
    """Return all runs of `size` consecutive sentences; 0: the whole text.

    >>> windows("One. Two. Three.", 2)
    ['One. Two.', 'Two. Three.']
    """
    spans = sentence_spans(text) if size else []
    if len(spans) <= size or not size:
        return [text]
    return [text[spans[i][0] : spans[i + size - 1][1]] for i in range(len(spans) - size + 1)]
