"""Where things are kept on a user's machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def kept_at(variable: str, name: str) -> Path:
    """The place a user set by an environment variable, else `nlgauge/<name>` in the platform's cache folder."""
    if given := os.environ.get(variable):
        return Path(given).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache = home / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return cache / "nlgauge" / name
