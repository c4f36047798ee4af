"""Where things are kept on a user's machine."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def kept_at(variable: str, name: str) -> Path:
    """The place a user set by an environment variable, else `nlgauge/<name>` in the platform's cache folder."""
    if given := os.environ.get(variable):
        return Path(given).expanduser()
    return platformdirs.user_cache_path("nlgauge", appauthor=False, opinion=False) / name
