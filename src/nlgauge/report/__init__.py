"""The report of a data set: the page, the results for machines, the figures and the explorer.

`nlgauge.report` is this package and, as people expect, a function: calling it is calling `report` of `write.py`.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.report.write import Report, report

__all__ = ["Report", "report"]


def __getattr__(name: str) -> Any:
    """Load what writes a page only when it is asked for: a figure of one table needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from nlgauge.report import write

    return getattr(write, name)


class _CallableModule(ModuleType):
    """Module that can be called as `nlgauge.report(...)`, although submodule imports set the name to the package."""

    def __call__(self, *arguments: Any, **options: Any) -> Report:
        made: Report = self.report(*arguments, **options)
        return made

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.report)


sys.modules[__name__].__class__ = _CallableModule
