"""METEOR 1.5 as in the papers: with its own function words, paraphrases and tokenizer.

The first two are files of its program that pycocoevalcap contains (`pip install pycocoevalcap`); without them METEOR is
computed with our function words and without paraphrases.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

WITHOUT = (
    "METEOR 1.5's function words and paraphrase table are not installed (pip install pycocoevalcap): computed without "
    "them; with them the values match"
)
WITH_FILES = (
    "with METEOR 1.5's own function words, paraphrases and tokenizer; its program (Java) gives every printed cell, "
    "ours aligns 1 to 3 outputs of 1,000 otherwise (tests/real/test_meteor_program.py)"
)


def files() -> tuple[Path, Path] | None:
    """Return the files of function words (inside a jar) and of paraphrases, if pycocoevalcap is installed."""
    result = find_spec("pycocoevalcap")
    if result is None or not result.submodule_search_locations:
        return None
    folder = Path(next(iter(result.submodule_search_locations))) / "meteor"
    both = folder / "meteor-1.5.jar", folder / "data" / "paraphrase-en.gz"
    return both if all(path.is_file() for path in both) else None


def spec() -> str:
    """Return the spec of the metric."""
    if (result := files()) is None:
        return "meteor(tokenize='meteor')"
    jar, table = result
    return f"meteor(tokenize='meteor', function_words={str(jar)!r}, paraphrases={str(table)!r})"


def shown(spec: str) -> str:
    """Return a spec with the names of METEOR's files instead of their paths."""
    for path in files() or ():
        spec = spec.replace(repr(str(path)), repr(path.name))
    return spec


def reason() -> str:
    """Return why a cell is not equal."""
    return WITHOUT if files() is None else WITH_FILES
