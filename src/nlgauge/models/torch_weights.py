"""Weights in PyTorch's own format (.bin, .pt, .pth, .ckpt): rejected unless requested, then read as tensors only.

Such a file is a pickle, and a pickle can run code. torch reads it with `weights_only=True`: tensors and plain
containers are built, anything else stops the reading before it is called. That is an allow-list inside torch, not a
code-free format, so it must be requested (NLGAUGE_TORCH_WEIGHTS=1) and is reported each time.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

from nlgauge.errors import NlgaugeError

ASKED = "NLGAUGE_TORCH_WEIGHTS"
SUFFIXES = (".bin", ".pt", ".pth", ".ckpt")
BIN, SHARDS = "pytorch_model.bin", "pytorch_model.bin.index.json"
# Other files that a training writes next to the weights.
BESIDE = ("training_args", "optimizer", "scheduler", "scaler", "rng_state")
WITHIN = ("state_dict", "model_state_dict")  # where a training's checkpoint keeps the weights


class TorchWeights(UserWarning):
    """Weights were read from a pickle, tensors only."""


def allowed() -> bool:
    """Return whether the user allows weights in PyTorch's own format."""
    return os.environ.get(ASKED, "").strip().lower() in ("1", "on", "yes", "true")


def torch_files(folder: Path) -> list[Path]:
    """Return the weights in PyTorch's format in a folder without safetensors; none where it has these."""
    if any(folder.glob("*.safetensors")):
        return []
    if (folder / SHARDS).is_file():
        try:
            named = json.loads((folder / SHARDS).read_text("utf-8"))["weight_map"].values()
            return [folder / Path(str(name)).name for name in sorted(set(named))]
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise NlgaugeError(f"{folder / SHARDS}: no readable list of files ({error}).") from None
    if (folder / BIN).is_file():
        return [folder / BIN]
    result = (p for p in sorted(folder.iterdir()) if p.suffix.lower() in SUFFIXES and p.is_file())
    return [p for p in result if not p.name.startswith(BESIDE)]


def missing_safetensors(said: str, file: str = "") -> str:
    """Return the error line for weights in PyTorch's format; `said` is the option with its value, `file` the content of
    a file.
    """
    if file:
        return (
            f"{said}: {file} in PyTorch's own format (.bin, .pt, .ckpt) are a pickle, which can run code, and are not "
            f"read. Where you trust the file: {ASKED}=1 reads it with weights-only loading; or save its tensors as "
            "safetensors and name that file."
        )
    return (
        f"{said}: no weights as model.safetensors there; PyTorch's own format (.bin, .pt, .ckpt) is a pickle, which "
        f"can run code, and is not read. Where you trust it: {ASKED}=1 reads it with weights-only loading; or load it "
        "once and save_pretrained() it to a folder, which writes safetensors, and name the folder."
    )


def check_torch_weights(said: str, file: str = "") -> None:
    """Raise NlgaugeError unless the user allows weights in PyTorch's own format."""
    if not allowed():
        raise NlgaugeError(missing_safetensors(said, file))


def warn_torch_weights(said: str) -> None:
    """Warn that weights were read from a pickle."""
    warnings.warn(
        f"{said}: weights read from a pickle with weights-only loading ({ASKED}=1); safetensors need no such trust.",
        TorchWeights,
        stacklevel=2,
    )


def read_torch(path: Path, said: str) -> dict[str, Any]:
    """Read the tensors of a checkpoint by name, onto the CPU, if the user allows it; nothing in the file is called."""
    import torch

    check_torch_weights(said, "weights")
    if not path.is_file():
        raise NlgaugeError(f"{said}: weight file {path.name} not found.")
    warn_torch_weights(said)
    try:
        result = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # the unpickler's own error, or any error that a damaged file causes
        raise NlgaugeError(refused(said, path.name, error)) from None
    for key in WITHIN:
        if isinstance(result, dict) and isinstance(result.get(key), dict):
            result = result[key]
    if not isinstance(result, dict) or not all(isinstance(v, torch.Tensor) for v in result.values()) or not result:
        raise NlgaugeError(f"{said}: {path.name} holds no table of tensors (a state_dict).")
    return {str(k): v for k, v in result.items()}


def refused(said: str, name: str, error: Exception) -> str:
    """Return the error line for a file that weights-only loading refuses."""
    if named := re.search(r"GLOBAL ([\w.]+)", str(error)):
        return (
            f"{said}: {name} holds more than tensors (it names {named[1]}) and was refused by weights-only loading; "
            "nothing of it ran."
        )
    return (
        f"{said}: {name} is not read by weights-only loading ({type(error).__name__}): it is broken, of another format "
        "or more than tensors; nothing of it ran."
    )


def load_pickled(loader: Any, where: str, files: list[Path], said: str, offline: bool) -> Any:
    """Load a transformers model, tensors only, from a folder (which contains `files`) or by name from the hub."""
    if files and not any((Path(where) / name).is_file() for name in (BIN, SHARDS)):
        if len(files) > 1:
            raise NlgaugeError(f"{said}: {', '.join(p.name for p in files)}; found several weight files, expected one.")
        return load_alone(loader, where, files[0], said)
    warn_torch_weights(said)
    try:
        return loader.from_pretrained(
            where,
            use_safetensors=False,
            weights_only=True,
            trust_remote_code=False,
            local_files_only=offline,
            dtype="float32",
        )
    except (OSError, ValueError, ImportError, KeyError):
        raise
    except Exception as error:  # the unpickler's own kind, or whatever a broken file leads to
        raise NlgaugeError(refused(said, files[0].name if files else BIN, error)) from None


def load_alone(loader: Any, where: str, path: Path, said: str) -> Any:
    """Load a model with a folder's configuration and the weights of a file that transformers would not find."""
    from transformers import AutoConfig

    weights = read_torch(path, said)
    config = AutoConfig.from_pretrained(where, local_files_only=True, trust_remote_code=False)
    model = loader.from_config(config, dtype="float32")
    own = set(model.state_dict())
    # If the model was trained inside a wrapper module, every parameter name in the checkpoint has a prefix.
    heads = {key.split(".", 1)[0] + "." for key in weights if key not in own}
    for head in sorted(heads) if not own & set(weights) else []:
        if own & {k.removeprefix(head) for k in weights if k.startswith(head)}:
            weights = {k.removeprefix(head): v for k, v in weights.items() if k.startswith(head)}
            break
    try:
        missing, unknown = model.load_state_dict(weights, strict=False)
    except RuntimeError as error:  # sizes that differ
        raise NlgaugeError(
            f"{said}: {path.name} does not fit config.json ({' '.join(str(error).split())[:200]})."
        ) from None
    tied = {k for k in missing if k in (getattr(model, "all_tied_weights_keys", None) or ())}
    if lacking := [k for k in missing if k not in tied and not k.endswith("position_ids")]:
        raise NlgaugeError(
            f"{said}: {path.name} has no weights for {', '.join(lacking[:3])} ({len(lacking)} missing, "
            f"{len(unknown)} of its {len(weights)} not known); it is not the model of config.json."
        )
    model.tie_weights()
    return model
