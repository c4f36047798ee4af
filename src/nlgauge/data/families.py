"""Families of metrics (variants of one metric, which can be averaged) and of systems (variants of one model, which are
not independent).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from nlgauge.data.tables.vocabulary import listed
from nlgauge.errors import DataError, NameUnknown
from nlgauge.registry import did_you_mean

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset

Families = Mapping[str, str | Sequence[str]]
FAMILY_COLUMNS = ("family", "system_family", "model_family")  # used by default
# Base models, with the prefixes of their variants: chatgpt, mbart, distilbert, llama3.
BASE_MODEL = re.compile(
    r"(?:chat|code|distil|flan|instruct|m|mini|mt|open|tiny)?(gpt|llama|claude|gemini|gemma|mistral|mixtral|qwen|"
    r"deepseek|falcon|bloom|palm|phi|vicuna|alpaca|olmo|bart|bert|roberta|pegasus|unilm|t5|nllb)(?:\d\w*)?"
)
# Words that number variants of one model: checkpoint-100, prompt_b.
VARIANTS = re.compile(r"(prompt|checkpoint|ckpt|epoch|seed)s?\d*[a-z]?")
# Words that do not identify a system; what follows them does (online-a, model 3, baseline-forge).
GENERIC = re.compile(
    r"(?:\w*systems?|sys|\w*models?|online|team|run|method|approach|baseline|output|out|hyp|hypothesis|candidate|"
    r"llm|lm|nmt|smt|mt|nlp|nlg|ai|agent|bot|chatbot|assistant|engine|config|setup|variant|version|exp|experiment|"
    r"submission|entry|peer|participant|human|ref|reference|gold|ours|our|my|the|new|old|best|proposed|lead|longest|"
    r"random|oracle|finetuned|pretrained|tuned|text|summarizer|transformer|ensemble|lstm|rnn|cnn|seq2seq|"
    r"openai|anthropic|google|meta|microsoft|azure|huggingface|hf|ollama)([a-z]|\d*)"
)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    table = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return [(family, re.compile(pattern, re.I)) for family, pattern in table["families"]]


def family_of(column: str) -> str:
    """Return the family of a metric, inferred from its column name; an unknown metric is its own family.

    >>> family_of("ROUGE-2 F-Score"), family_of("bert_f1_src"), family_of("my score")
    ('ROUGE', 'BERTScore', 'my score')
    """
    return next((family for family, pattern in _patterns() if pattern.search(column)), column)


def families_of(columns: Sequence[str], given: Families | None = None) -> dict[str, str]:
    """Return the family of each column of scores: variants of one metric.

    Parameters
    ----------
    columns : sequence of str
    given : mapping, optional
        {column: family} or {family: [columns]}; overrides the inferred families.

    Returns
    -------
    dict
        Column -> family; an unknown metric is its own family.

    Examples
    --------
    >>> families_of(["rouge-l", "mine", "yours"], {"ours": ["mine", "yours"]})
    {'rouge-l': 'ROUGE', 'mine': 'ours', 'yours': 'ours'}
    """
    declared: dict[str, str] = {}
    for key, value in (given or {}).items():
        declared |= {key: value} if isinstance(value, str) else dict.fromkeys(value, key)
    if unknown := [name for name in declared if name not in columns]:
        raise NameUnknown(
            f"families: no metric '{unknown[0]}'.{did_you_mean(unknown[0], columns)} Metrics: {', '.join(columns)}."
        )
    return {name: declared.get(name, family_of(name)) for name in columns}


def system_families(data: Dataset, systems: Sequence[str]) -> dict[str, Any]:
    """Return the family of each system from the declared column or pattern, else from a column named family.

    A system without a value, or whose name does not match the pattern, forms a separate family. Empty without families.
    """
    for column in [data.family] if data.family else FAMILY_COLUMNS:
        if column in data.samples.columns:
            families = _families_in_column(data, column)
        elif data.family:
            families = {name: family_in_name(data.family, name) for name in systems}
        else:
            continue
        names = tuple((families or {}).get(system) or system for system in systems)
        groups = len(set(names))
        if groups < len(systems) and (groups > 1 or data.family):
            return {"family_column": column, "family_names": names}
    return {}


def _families_in_column(data: Dataset, column: str) -> dict[str, str | None] | None:
    """Return the value of a column for each system.

    If a system has several values, return None, or raise an error if the user declared the column.
    """
    if data.samples[column].dtype.is_nested():
        return None
    values = data.samples.select("system", pl.col(column).cast(pl.String).alias("family")).drop_nulls().unique()
    several = [system for system, n in Counter(values["system"]).items() if n > 1]
    if not several:
        return dict(values.iter_rows())
    if data.family:
        system = min(several)
        values_of_system = sorted(values.filter(pl.col("system") == system)["family"])
        raise DataError(
            f"{data.name}: column '{column}' cannot be the family of the systems, since it differs between the outputs "
            f"of system '{system}': {', '.join(values_of_system[:3])}{', …' if len(values_of_system) > 3 else ''}."
        )
    return None


def family_in_name(pattern: str, system: str) -> str | None:
    """Return the family that a pattern with one group finds in the name of a system, in lower case, or None.

    >>> family_in_name("^([a-z0-9]+)-", "GPT-4-turbo")
    'gpt'
    """
    match = re.search(pattern, system, re.I)
    return match.group(1).lower() if match and match.group(1) else None


def check_family(data: Dataset) -> None:
    """Raise an error if the declared family is neither a column of systems nor a pattern for their names."""
    family = data.family
    if family in data.samples.columns:
        _families_in_column(data, family)
        return
    try:
        groups = re.compile(family).groups
    except re.error:
        groups = 0
    if groups != 1:
        raise NameUnknown(
            f"{data.no_column(family)} A pattern for the names of systems needs one group, as in '^([a-z0-9]+)-'."
        )
    if not any(family_in_name(family, system) for system in data.systems):
        raise NameUnknown(f"{data.name}: the pattern '{family}' matches no system. Systems: {listed(data.systems, 8)}.")


def related_systems(names: Sequence[str]) -> dict[str, list[str]]:
    """Propose groups of systems whose names look like variants of one model: shared stem -> names.

    The stem is the first word that is neither a number nor generic (`system`, `online`), without the digits at its end;
    a generic word includes the identifier after it (`online-a`, `modelb`). A name with a stem of its own joins the base
    model, or the stem of another name, that it contains (`MV_BART` joins `BART`). If more than half of the systems have
    names of one unknown word and a number, that is an enumeration, not a group.

    >>> related_systems(["BART", "S_BART", "gpt-4-0613", "gpt-4o", "PGN", "system1", "system2"])
    {'bart': ['BART', 'S_BART'], 'gpt': ['gpt-4-0613', 'gpt-4o']}
    """
    stems = {name: _stem(name) for name in names}
    count = Counter(stems.values())
    for name, stem in stems.items():
        if not stem or count[stem] == 1:
            others = (w for w in _words(name) if w != stem and (BASE_MODEL.fullmatch(w) or (len(w) > 2 and w in count)))
            stems[name] = next(others, stem)
    groups: dict[str, list[str]] = {}
    for name, stem in stems.items():
        groups.setdefault(stem, []).append(name)
    return {
        stem: group
        for stem, group in groups.items()
        if stem and len(group) > 1 and not (2 * len(group) > len(stems) and _is_enumeration(stem, group))
    }


def _words(name: str) -> list[str]:
    """Split a name into lower-case words, without the owner before a slash; base models lose their
    prefix and version.
    """
    words = re.findall(r"[^\W_]+", name.lower().rpartition("/")[2])
    return [match.group(1) if (match := BASE_MODEL.fullmatch(word)) else word for word in words]


def _stem(name: str) -> str:
    """Return the part of a system's name that identifies the model; empty if there is none."""
    bare = name.lower().rpartition("/")[2]
    parts = list(re.finditer(r"[^\W_]+", bare))
    while parts and parts[0].group().isdigit():
        parts.pop(0)
    start = 0
    for k, part in enumerate(parts):
        word = part.group()
        if match := BASE_MODEL.fullmatch(word) or VARIANTS.fullmatch(word):
            return match.group(1)
        generic = GENERIC.fullmatch(word)
        start = start if k else part.start()
        if generic and not generic.group(1):
            continue
        letters = word.rstrip("0123456789")
        end = part.start() + len(letters if len(letters) > 2 and not generic else word)
        stem = bare[start:end]
        return stem if len(stem) > 2 or any(sign.isdigit() for sign in stem) else ""
    return ""


def _is_enumeration(stem: str, names: Sequence[str]) -> bool:
    """Return whether the names consist of one word and a number or a letter, and the word is not a base model."""
    if BASE_MODEL.fullmatch(stem) or VARIANTS.fullmatch(stem):
        return False
    return all(re.fullmatch(rf"{re.escape(stem)}[\W_]*(\d*|[a-z])", name.lower()) for name in names)
