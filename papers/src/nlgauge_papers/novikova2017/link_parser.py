"""Debian's `link-parser` command: sentences in, costs out, on all cores."""

from __future__ import annotations

import functools
import math
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

from nlgauge.plugins import NeedsMissing

# Guessing unknown words takes four times as long, and spelling is measured by msp.
OPTIONS = ["-verbosity=1", "-echo=0", "-graphics=0", "-width=10000", "-spell=0", "-limit=100"]
# First whole linkages; a sentence that has none is parsed again with words left out. That time grows with the cube of
# the length and the number of words left out, a minute for fifty garbled words: so long sentences go in pieces.
WHOLE, GAPS = ["-null=0"], ["-null=1", "-short=6"]
LONGEST, PIECE = 60, 20
COST = re.compile(r"UNUSED=(\d+) DIS= ?(-?[\d.]+)")
# A command with a known answer after each sentence: so a sentence without an answer cannot shift the others.
FENCE, ANSWER = "!limit=100", "limit set to 100"
# Characters that would be read as a command, a comment or a marker.
LEADING = re.compile(r"^[\s!%*:#]+")
UNSAFE = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]+")


@functools.cache
def version() -> str:
    """Return the version of link-parser; an error says how to install it."""
    if shutil.which("link-parser") is None:
        raise NeedsMissing("'prs' needs the command link-parser: apt install link-grammar link-grammar-dictionaries-en")
    text = subprocess.run(["link-parser", "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"link-grammar-([\d.]+)", text.stdout + text.stderr)
    return match[1] if match else "unknown"


def costs(sentences: Sequence[str]) -> dict[str, float]:
    """Compute the cost of the best linkage of each sentence: 0 is a clean parse; NaN if the parser gave none.

    One unused word costs 1, and an unlikely use of a word has the cost in the dictionary (mostly below 3).
    """
    result = _spread([s for s in sentences if len(s.split()) <= LONGEST], WHOLE)
    broken = {s: _pieces(s) for s in sentences if math.isnan(result.get(s, math.nan))}
    cost = _spread(sorted({piece for pieces in broken.values() for piece in pieces}), GAPS)
    return result | {s: math.fsum(cost[piece] for piece in pieces) for s, pieces in broken.items()}


def _pieces(sentence: str) -> list[str]:
    """Split a sentence into pieces of about equal length with at most PIECE words each."""
    words = sentence.split()
    many = -(-len(words) // PIECE)
    cuts = [round(i * len(words) / many) for i in range(many + 1)]
    return [" ".join(words[a:b]) for a, b in pairwise(cuts)]


def _spread(sentences: Sequence[str], options: list[str]) -> dict[str, float]:
    """Use all cores; the parser processes each sentence independently, so the split does not affect the results."""
    cores = os.cpu_count() or 1
    size = min(max(len(sentences) // (4 * cores), 10), 200)
    chunks = [sentences[i : i + size] for i in range(0, len(sentences), size)]
    with ThreadPoolExecutor(cores) as pool:
        result = pool.map(partial(_run, options=options), chunks)
        return dict(zip(sentences, (cost for values in result for cost in values), strict=True))


def _run(sentences: Sequence[str], options: list[str]) -> list[float]:
    asked = "\n".join([FENCE, *(f"{LEADING.sub('', UNSAFE.sub(' ', s))}\n{FENCE}" for s in sentences), ""])
    text = subprocess.run(
        ["link-parser", "en", *OPTIONS, *options],
        input=asked.encode("utf-8"),
        capture_output=True,
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    # The first answers belong to the options and the opening fence.
    answers = text.stdout.decode("utf-8", "replace").split(ANSWER)[2:-1]
    if len(answers) != len(sentences):
        return [float("nan")] * len(sentences)
    return [_cost(answer) for answer in answers]


def _cost(answer: str) -> float:
    match = COST.search(answer)
    return float(match[1]) + float(match[2]) if match else float("nan")
