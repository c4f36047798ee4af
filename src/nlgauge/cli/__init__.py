"""The command line, defined in `_program`; names are imported when they are first used.

Every run of pytest imports this package with the plugin in it, whether a test uses that or not.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("nlgauge.cli._program"), name)
