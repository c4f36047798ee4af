"""Where files are stored on a user's machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_path(variable: str, name: str) -> Path:
    """Return the path that an environment variable names, else `nlgauge/<name>` in the platform's cache folder."""
    if given := os.environ.get(variable):
        return Path(given).expanduser()
    return platformdirs.user_cache_path("nlgauge", appauthor=False, opinion=False) / name
