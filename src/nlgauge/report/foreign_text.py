"""How foreign text is shown: as text. Cut visibly, invisible signs made visible, safe inside a script element."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_CHARACTERS = 1500  # of a text on the page
CELL = 300  # of a cell

# Signs that turn the direction of what follows, or that HTML cannot hold: a reader should see them, not suffer them.
_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ud800-\udfff]")


def visible(value: Any) -> Any:
    """
    >>> visible("abc\u202edef")
    'abc⟦U+202E⟧def'
    """
    if type(value) is not str:  # markup that the template made itself stays as it is
        return value
    return _TURNING.sub(lambda m: f"⟦U+{ord(m[0]):04X}⟧", value)


def cut(text: str, most: int = MAX_CHARACTERS) -> str:
    """
    >>> cut("abcdef", 4)
    'abcd … (2 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def with_code(text: str) -> Markup:
    """Escaped, and what stands between backticks as code.

    >>> with_code("say `a < b` & go")
    Markup('say <code>a &lt; b</code> &amp; go')
    """
    from markupsafe import Markup, escape

    parts = re.split(r"`([^`\n]+)`", visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in enumerate(parts)
    )


def for_script(value: Any) -> str:
    """JSON that may stand inside <script>: no tag or comment can begin in it."""
    plain = json.dumps(_seen(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _seen(value: Any) -> Any:
    if isinstance(value, str):
        return visible(str(value))
    if isinstance(value, dict):
        return {_seen(k): _seen(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
