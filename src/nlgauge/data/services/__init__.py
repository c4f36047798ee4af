"""Services that keep logs: `mlflow://EXPERIMENT`, `phoenix://PROJECT` and `langfuse://` in place of a file.

Addresses and keys of a service come from its own environment variables and from nowhere else; they are in no file, no
message and no report. What a service gives is written to a temporary file in the form that its reader takes.
"""

from __future__ import annotations

import atexit
import importlib
import re
import shutil
import tempfile
from pathlib import Path

from nlgauge.errors import DataError

SERVICES = ("langfuse", "mlflow", "phoenix")
ADDRESS = re.compile(rf"({'|'.join(SERVICES)})://([^?#]*)")


def is_address(data: object) -> bool:
    """Return whether data are given as the address of a service.

    >>> is_address("mlflow://stations"), is_address("scores.csv"), is_address("s3://bucket/x")
    (True, False, False)
    """
    return isinstance(data, str) and bool(ADDRESS.fullmatch(data))


def fetch(address: str) -> Path:
    """Read a project or experiment, page by page, into a temporary file that the reader of the service knows."""
    scheme, name = _parts(address)
    folder = Path(tempfile.mkdtemp(prefix="nlgauge-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    stem = re.sub(r"[^\w-]+", "-", name) or scheme
    path: Path = importlib.import_module(f"nlgauge.data.services.{scheme}").fetch(name, folder / stem)
    return path


def send(address: str, figures: dict[str, float], files: list[Path], about: dict[str, str]) -> str:
    """Write figures and files of a report to a service, and return where they are.

    Parameters
    ----------
    address : str
    figures : dict
        Name -> value.
    files : list of path
        The report and its results.json.
    about : dict
        Facts about the report, as texts.
    """
    scheme, name = _parts(address)
    module = importlib.import_module(f"nlgauge.data.services.{scheme}")
    if not hasattr(module, "send"):
        raise DataError(f"{address}: results can be written to mlflow://EXPERIMENT; {scheme} has no place for them.")
    place: str = module.send(name, figures, files, about)
    return place


def _parts(address: str) -> tuple[str, str]:
    match = ADDRESS.fullmatch(address)
    if not match:
        raise DataError(f"{address}: expected {', '.join(f'{s}://NAME' for s in SERVICES)}.")
    return match[1], match[2].strip("/")
