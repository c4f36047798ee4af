"""Public programs of metrics that rest on a model, and tiny weights that they and we read from one folder.

The programs ask for versions of numpy, torch and transformers that ours cannot live with, so they stand in a folder of
their own, without what they ask for: `make peers` (tests/parity/peers.txt). Where one calls what newer libraries no
longer have, the test puts it back at the smallest place and says so.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("NLGAUGE_THREADS", "1")  # threads of tiny models only wait for each other
FOLDER = Path(os.environ.get("NLGAUGE_PEERS") or Path(__file__).parents[2] / ".venv" / "peers")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
# Whole words; all others fall into pieces.
WORDS = (
    "the a an of in on by and to was were is it that said not had from with for at as he she they town river bridge "
    "flood water council money people old new mill built closed open school road house rain after before week year "
    "monday engineers traffic repair cost stone first second three market street train anna paris london mayor"
).split()
ENDS = ["##s", "##ed", "##ing", "##er", "##ly", "##en", "##al", "##ion"]
VOCABULARY = list(dict.fromkeys([*SPECIAL, *".,!?;:'\"()-$%", *LETTERS, *(f"##{c}" for c in LETTERS), *ENDS, *WORDS]))

SOURCE = (
    "The old stone bridge of the town closed on Monday after a week of rain. Engineers said that the river had taken "
    "three of its stones. The council wants to repair it before the market opens, and the money is to come from the "
    "mayor. Anna Weber, who built the mill, says that the cost is not known! Traffic from Paris now uses the second "
    "road. Was it closed in the year of the great flood? It was, and people went to school by train."
)
OTHER = (
    "A new school opened in London in the first week of the year. The mayor said it cost 3 million. Children from the "
    "old house came by train, and Anna gave them water after the opening."
)
SUMMARIES = [
    "The stone bridge closed after rain, engineers said.",
    "Anna built a school. The mayor repaired the river!",
    "The council said that people had to repair the bridge before Monday; traffic uses the second road, and the money "
    "came from the town.",
    "Flooding.",
]


def installed(*names: str) -> None:
    """Skip the test where a program is neither in the folder of the programs nor installed."""
    for package in ("torch", "transformers", "ot"):
        pytest.importorskip(package, reason=f"extra 'neural' is not installed ({package})")
    if FOLDER.is_dir() and str(FOLDER) not in sys.path:
        sys.path.append(str(FOLDER))
    for name in names:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"the program {name} is not installed: make peers")


def program(name: str) -> ModuleType:
    installed(name.partition(".")[0])
    return importlib.import_module(name)


def stand_in(patch: pytest.MonkeyPatch, name: str, **has: Any) -> ModuleType:
    """A module that a program imports and does not need for what is asked of it here."""
    made = ModuleType(name)
    made.__dict__.update(has)
    patch.setitem(sys.modules, name, made)
    return made


def bert(kind: str, folder: Path, seed: int = 3, length: int = 512, likely: str = "", **more: Any) -> str:
    """A BERT of random weights with a vocabulary of word pieces: model (plain), MaskedLM, SequenceClassification …

    likely: words among which a masked one is guessed; with random weights no guess would ever be right.
    """
    import torch
    import transformers as tf

    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    small = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": length,
        "initializer_range": 0.5,
        **more,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = getattr(tf, "BertModel" if kind == "model" else f"BertFor{kind}")(tf.BertConfig(**small))
    words = {word: i for i, word in enumerate(VOCABULARY)}
    if likely:
        with torch.no_grad():
            model.cls.predictions.bias[[words[w] for w in likely.split()]] += 30.0
    model.eval().save_pretrained(folder)
    tf.BertTokenizer(vocab=words, do_lower_case=True, model_max_length=length).save_pretrained(folder)
    return str(folder)


def batch(outputs: list[str], sources: list[str] | None = None, references: list[str] | None = None) -> Any:
    from nlgauge.metrics import Batch

    given = {"references": [[r] for r in references]} if references else {}
    return Batch.from_columns(outputs, sources, **given) if sources else Batch.from_columns(outputs, **given)


def ours(spec: str, given: Any) -> list[float]:
    from nlgauge.metrics import metric_from_spec

    return [float(v) for v in metric_from_spec(spec).score(given).values]


def agree(what: str, found: Sequence[float], theirs: Sequence[float], within: float) -> None:
    """All values that close; `pytest -rP` shows the largest difference, which docs/metrics_compared.md states."""
    apart = [abs(float(a) - float(b)) for a, b in zip(found, theirs, strict=True)]
    print(f"{what}: {len(apart)} values, largest difference {max(apart):.1e}")
    assert all(d <= within for d in apart), (what, list(found), list(theirs))  # NaN is not


def tokenizers_as_they_were(patch: pytest.MonkeyPatch) -> None:
    """transformers 5 has neither encode_plus nor batch_encode_plus; both are a call of the tokenizer."""
    from transformers import PreTrainedTokenizerBase

    def options(more: dict[str, Any]) -> dict[str, Any]:
        strategy = more.pop("truncation_strategy", None) or ("longest_first" if "max_length" in more else None)
        if more.pop("pad_to_max_length", False):
            more["padding"] = "max_length"
        return {**more, "truncation": strategy or more.get("truncation", False)}

    def one(self: Any, *texts: str, **more: Any) -> Any:
        return self(*texts, **options(more))

    def many(self: Any, texts: Sequence[Any], **more: Any) -> Any:
        pairs = [t if isinstance(t, tuple) else (t,) for t in texts]
        return self(*(list(side) for side in zip(*pairs, strict=True)), **options(more))

    patch.setattr(PreTrainedTokenizerBase, "encode_plus", one, raising=False)
    patch.setattr(PreTrainedTokenizerBase, "batch_encode_plus", many, raising=False)
