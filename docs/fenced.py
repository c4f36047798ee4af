"""For the docs site: docstrings get the parameters that functions share, and examples (`>>>`) stand in code blocks.

Markdown would take examples for quotations and links.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe

from nlgauge.docstrings import completed

COMPLETED = re.compile(r"analysis\(|with_shared_parameters")
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).+)*", re.M)


def fenced(text: str) -> str:
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)


class Fenced(griffe.Extension):
    def on_instance(self, *, obj: griffe.Object, **more: Any) -> None:
        if obj.docstring is not None:
            text = obj.docstring.value
            if isinstance(obj, griffe.Function) and any(COMPLETED.match(str(d.value)) for d in obj.decorators):
                text = completed(text, {name_of(p): default_of(p) for p in obj.parameters})
            obj.docstring.value = fenced(text)


def name_of(parameter: griffe.Parameter) -> str:
    """The name of a parameter as numpydoc writes it."""
    return f"{'**' * (parameter.kind is griffe.ParameterKind.var_keyword)}{parameter.name}"


def default_of(parameter: griffe.Parameter) -> str | None:
    """The default of a parameter as Python writes it; None where one is required."""
    variadic = parameter.kind in (griffe.ParameterKind.var_keyword, griffe.ParameterKind.var_positional)
    text = None if parameter.default is None or variadic else str(parameter.default)
    try:
        return text and repr(ast.literal_eval(text))
    except ValueError:
        return text
