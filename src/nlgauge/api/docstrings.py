"""numpydoc: the parts of a docstring that the command line shows."""

from __future__ import annotations

import inspect
import re

# A heading, underlined; then its text up to the next one.
HEADING = re.compile(r"^([A-Z][A-Za-z ]*)\n-{3,}\n", re.M)
FIELD = re.compile(r"^(\*{0,2}\w+(?:, \w+)*)(?: : .*)?$")
TYPED = "$ nlgauge"  # how an example for the shell begins


def sections(text: str) -> dict[str, str]:
    """Split a docstring at its headings; the text before the first one stands under the empty name.

    >>> sections("Add.\\n\\nParameters\\n----------\\nx : int\\n    A number.")["Parameters"]
    'x : int\\n    A number.'
    """
    first, *rest = HEADING.split(inspect.cleandoc(text))
    return {"": first.strip()} | {name: body.strip("\n") for name, body in zip(rest[::2], rest[1::2], strict=True)}


def summary(text: str) -> str:
    """Return the first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(text).partition("\n\n")[0].split())


def descriptions(text: str) -> dict[str, str]:
    """Return what a docstring says of each parameter or attribute, each on one line.

    >>> descriptions("Add.\\n\\nParameters\\n----------\\nx, y : int\\n    Numbers\\n    to add.")
    {'x': 'Numbers to add.', 'y': 'Numbers to add.'}
    """
    parts = sections(text)
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in "\n".join(parts.get(name, "") for name in ("Parameters", "Attributes")).splitlines():
        if line[:1].strip() and (field := FIELD.match(line)):
            names = [name.lstrip("*") for name in field[1].split(", ")]
            found |= {name: [] for name in names}
        else:
            for name in names:
                found[name].append(line.strip())
    return {name: " ".join(filter(None, lines)) for name, lines in found.items()}


def fields(text: str) -> dict[str, str]:
    """Return the lines of each entry of `Parameters`, as they are written."""
    found: dict[str, str] = {}
    name = ""
    for line in sections(text).get("Parameters", "").splitlines():
        if line[:1].strip():
            name = line.partition(" : ")[0]
            found[name] = line
        else:
            found[name] += f"\n{line}"
    return found


def shell_examples(text: str) -> list[str]:
    """Return the examples for the shell, without the prompt.

    >>> shell_examples("Add.\\n\\nExamples\\n--------\\n>>> 1\\n1\\n\\n$ nlgauge run   (the example)")
    ['nlgauge run   (the example)']
    """
    lines = sections(text).get("Examples", "").splitlines()
    return [line.removeprefix("$ ") for line in lines if line.startswith(TYPED)]
