"""Load a Hugging Face model and its tokenizer: a folder, this machine's cache, then the hub. Safetensors only.

Without a network the hub's own client tries for a minute and a half and says so in many lines; here one look whether
the hub answers comes first, and a failure is one line.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from nlgauge.errors import NlgaugeError

PATIENCE = 5.0  # seconds for the hub to answer at all


def pretrained(name: str, where: str, kind: str, option: str, advice: str) -> tuple[Any, Any]:
    """Tokenizer and model (`kind`: the class of transformers that loads it); `option` and `advice` are for the message."""
    import transformers
    from transformers import AutoTokenizer

    loader = getattr(transformers, kind)

    def load(local: bool) -> tuple[Any, Any]:
        tokenizer = AutoTokenizer.from_pretrained(
            where, use_fast=True, local_files_only=local, trust_remote_code=False
        )
        model = loader.from_pretrained(
            where, use_safetensors=True, trust_remote_code=False, local_files_only=local, dtype="float32"
        )
        return tokenizer, model.eval()

    folder = Path(where).is_dir()
    with _quiet(transformers.logging):
        try:
            return load(local=True)
        except (OSError, ValueError, ImportError) as error:
            if folder:
                raise NlgaugeError(_why(name, option, error)) from None
        if reachable():
            try:
                return load(local=False)
            except (OSError, ValueError, ImportError) as error:
                if "safetensors" in str(error):
                    raise NlgaugeError(_why(name, option, error)) from None
    raise NlgaugeError(
        f"{option}='{name}': not in this machine's cache and the hub was not reached or does not have it; {advice}"
    )


def reachable() -> bool:
    """Whether the hub may be asked and answers. Behind a proxy only trying can tell."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    if getproxies():
        return True
    place = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co"))
    try:
        with socket.create_connection((place.hostname or "", place.port or 443), timeout=PATIENCE):
            return True
    except OSError:
        return False


def _why(name: str, option: str, error: Exception) -> str:
    said = str(error)
    if "safetensors" in said:
        return f"{option}='{name}': no weights as model.safetensors there; other formats are not read (they can run code)."
    first = said.splitlines()[0][:160] if said else type(error).__name__
    return f"{option}='{name}': the folder holds no model that transformers can load ({first})"


@contextmanager
def _quiet(said: Any) -> Iterator[None]:
    """No progress bars and warnings from the loaders: what went wrong is said by us, in one line."""
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
