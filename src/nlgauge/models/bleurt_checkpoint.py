"""Google's own BLEURT checkpoints (TensorFlow) in transformers' form: converted once, without TensorFlow."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from nlgauge.errors import NlgaugeError
from nlgauge.models.loading import save_converted
from nlgauge.models.tensorflow_checkpoint import tensors
from nlgauge.places import kept_at

FACTS, INDEX = "bleurt_config.json", Path("variables") / "variables.index"
LAYER = re.compile(r"layer_(\d+)")
ENDS = {"kernel": "weight", "gamma": "weight", "beta": "bias", "bias": "bias"}


def is_google(name: str) -> bool:
    """Whether the folder holds a checkpoint as Google publishes it."""
    folder = Path(name).expanduser()
    return (folder / "saved_model.pb").is_file() or (folder / FACTS).is_file()


def check(name: str) -> None:
    """Say at once why a checkpoint cannot be converted."""
    folder = Path(name).expanduser()
    facts = _facts(folder)
    if facts.get("sp_model") or facts.get("dynamic_seq_length"):
        raise NlgaugeError(
            f"bleurt: model='{name}' is a BLEURT-20 (RemBERT with SentencePiece), which is not converted here; name a "
            "copy in transformers' form, or one of bleurt-tiny, -base and -large (128 or 512)."
        )
    for path in (folder / INDEX, folder / facts["bert_config_file"], folder / facts["vocab_file"]):
        if not path.is_file():
            raise NlgaugeError(f"bleurt: model='{name}': {path.relative_to(folder)} is missing there.")


def place(name: str) -> Path:
    """Where its converted form is kept: named after the folder and a hash of its weights."""
    folder = Path(name).expanduser()
    seen = hashlib.blake2b(digest_size=6)
    for path in sorted((folder / "variables").glob("variables.*")):
        with path.open("rb") as file:
            seen.update(str(path.stat().st_size).encode() + file.read(1 << 20))
    return kept_at("NLGAUGE_MODELS", "models") / f"bleurt-{folder.resolve().name}-{seen.hexdigest()}"


def converted(name: str) -> str:
    """The folder with the same weights as safetensors; made on first use and kept beside the other models."""
    check(name)
    made = place(name)
    if not (made / "model.safetensors").is_file():
        _write(Path(name).expanduser(), made)
    return str(made)


def _write(folder: Path, made: Path) -> None:
    import torch
    import transformers

    made_of: Any = transformers  # its classes are looked up by name, some without types
    facts = _facts(folder)
    config = made_of.BertConfig(**json.loads((folder / facts["bert_config_file"]).read_text("utf-8")), num_labels=1)
    weights = {
        new: torch.from_numpy(table.T.copy() if old.endswith("kernel") else table.copy())
        for old, table in tensors(folder / INDEX).items()
        if (new := renamed(old))
    }
    model = made_of.BertForSequenceClassification(config)
    missing, unknown = model.load_state_dict(weights, strict=False)
    if missing := [n for n in missing if not n.endswith("position_ids")]:
        raise NlgaugeError(
            f"bleurt: model='{folder}': no weights for {', '.join(missing[:3])} among its {len(weights)} tensors "
            f"({len(missing)} missing); it is no BLEURT on BERT."
        )
    if unknown:
        raise NlgaugeError(
            f"bleurt: model='{folder}': {', '.join(unknown[:3])} have no place in a BERT ({len(unknown)})."
        )
    tokenizer = made_of.BertTokenizerFast(
        str(folder / facts["vocab_file"]), do_lower_case=bool(facts.get("do_lower_case", True)),
        model_max_length=int(facts.get("max_seq_length", 512)),
    )  # fmt: skip
    save_converted(made, config, tokenizer, model.state_dict())


def renamed(old: str) -> str:
    """The name of a variable in transformers; '' for what scoring does not need (steps, the optimizer's).

    >>> renamed("bert/encoder/layer_3/attention/self/query/kernel")
    'bert.encoder.layer.3.attention.self.query.weight'
    >>> renamed("dense/bias"), renamed("global_step"), renamed("dense/bias/adam_m")
    ('classifier.bias', '', '')
    """
    *where, end = old.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE").split("/")
    if where[:1] == ["bert"]:
        if end.endswith("_embeddings"):
            return ".".join([*where, end, "weight"])
        return LAYER.sub(r"layer.\1", ".".join([*where, ENDS[end]])) if end in ENDS else ""
    return f"classifier.{ENDS[end]}" if where == ["dense"] and end in ENDS else ""


def _facts(folder: Path) -> dict[str, Any]:
    usual = {"bert_config_file": "bert_config.json", "vocab_file": "vocab.txt"}
    try:
        given = json.loads((folder / FACTS).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise NlgaugeError(f"bleurt: model='{folder}': {FACTS}: {error}") from None
    # Names of files beside it, never paths to elsewhere.
    return usual | {k: Path(v).name if isinstance(v, str) else v for k, v in given.items()}
