"""The command line, which is made in `_program`; a name is imported when it is first used.

Every run of pytest imports this package with the plugin in it, whether a test uses that or not.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(import_module("nlgauge.cli._program"), name)
