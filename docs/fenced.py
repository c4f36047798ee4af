"""For the docs site: docstrings have the parameters that functions share, and examples (`>>>`) stand in code blocks.

Markdown would take examples for quotations and links.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

# Decorators that complete the docstring of a function when it is defined.
COMPLETED = re.compile(r"analysis\(|with_shared_parameters|with_options_of\(")
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.M)


def fenced(text: str) -> str:
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


class Fenced(griffe.Extension):
    def on_instance(self, *, obj: griffe.Object, **more: Any) -> None:
        if obj.docstring is not None:
            text = obj.docstring.value
            if isinstance(obj, griffe.Function) and any(COMPLETED.match(str(d.value)) for d in obj.decorators):
                function = getattr(importlib.import_module(obj.path.rpartition(".")[0]), obj.name)
                text = inspect.getdoc(function) or text
            obj.docstring.value = fenced(text)
