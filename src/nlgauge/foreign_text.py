"""Escaping of untrusted text for output, with one function for each output format.

Names of systems, metrics and columns, output texts and reasons come from files and from models. Every writer of
nlgauge passes them through the function of its target, so that they are read as text and nothing else.
"""

from __future__ import annotations

import json
import math
import re
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_CHARACTERS = 1500  # of a text on the page
CELL = 300  # of a cell

# Invisible characters with an effect: control characters (C0, C1), bidirectional marks, zero-width characters that no
# script requires, line separators, lone surrogates, and tag characters, which can spell invisible text.
_BEYOND_ASCII = (
    "\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\U000e0000-\U000e007f"
)
_ACTING = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f{_BEYOND_ASCII}]|\r(?!\n)")
_ACTING_ON_A_LINE = re.compile(f"[\x00-\x1f{_BEYOND_ASCII}]")
_ACTING_IN_JSON = re.compile(f"[{_BEYOND_ASCII}]")  # JSON escapes the others by itself
_MARKDOWN = re.compile(r"[\\`*\[\]|~$]|(?<!\w)_|_(?!\w)")
_MARKDOWN_START = re.compile(r"#+(?=\s|$)|[+-](?=\s|$|--)|>|=+\s*$|\d+(?=[.)](\s|$))")  # of a block
# Patterns that GitHub and GitLab turn into mentions, references and links after parsing the Markdown.
_LINKED = re.compile(r"(?<=@)(?=\w)|(?<=#)(?=\w)|(?<=!)(?=\d)|(?<=:)(?=//)|(?<=www)(?=\.)", re.I)
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d+)*|\.\d+)(e[+-]?\d+)?%?", re.I)


def visible(value: Any) -> Any:
    """Return a text in which characters that act instead of being seen stand as their code points.

    >>> visible("abc\u202edef")
    'abc⟦U+202E⟧def'
    """
    if type(value) is not str:  # markup that the template made itself stays as it is
        return value
    return _ACTING.sub(_code_point, value)


def _code_point(match: re.Match[str]) -> str:
    return f"⟦U+{ord(match[0]):04X}⟧"


def for_terminal(text: str) -> str:
    r"""Return a text that a terminal shows and does not obey; breaks of lines and tabs become blanks.

    >>> for_terminal("a\x1b[2Jb\r\nc")
    'a⟦U+001B⟧[2Jb c'
    """
    if text.isprintable():
        return text
    return _ACTING_ON_A_LINE.sub(lambda m: " " if m[0] in "\t\n\r" else _code_point(m), text.replace("\r\n", "\n"))


def for_markdown(text: str) -> str:
    """Return a text as Markdown of one line that shows it: no image, link, mention, reference, HTML or cell of a table.

    What stands between backticks stays code.

    >>> for_markdown("![x](http://a.b) | @ann, `a_b`")
    '!\\\\[x\\\\](http:&#8203;//a.b) \\\\| @&#8203;ann, `a_b`'
    """
    parts = re.split(r"`([^`]+)`", for_terminal(text))
    return "".join(f"`{_markdown_code(part)}`" if k % 2 else _markdown(part, k == 0) for k, part in enumerate(parts))


def _markdown(text: str, begins: bool) -> str:
    text = text.lstrip() if begins else text
    start = _MARKDOWN_START.match(text) if begins else None
    text = text.replace("&", "\0")
    text = _MARKDOWN.sub(r"\\\g<0>", _LINKED.sub("\u200b", text))
    if start:
        at = start.end() if start[0].isdigit() else 0
        text = f"{text[:at]}\\{text[at:]}"
    for sign, entity in (("\0", "&amp;"), ("\u200b", "&#8203;"), ("<", "&lt;")):
        text = text.replace(sign, entity)
    return text


def _markdown_code(text: str) -> str:
    """Return code for a Markdown cell, in which only the vertical bar must be escaped."""
    return text.replace("|", "\\|")


def for_html(text: str) -> str:
    """Return a text as HTML, for an element or an attribute in quotes.

    >>> for_html('<a href="x">\\x1b')
    '&lt;a href=&quot;x&quot;&gt;⟦U+001B⟧'
    """
    return escape(visible(text))


def for_spreadsheet(text: str) -> str:
    """Return a text that a spreadsheet does not run as a formula when it opens a CSV file of results.

    >>> for_spreadsheet("=1+1"), for_spreadsheet("-0.5"), for_spreadsheet("bleu")
    ("'=1+1", '-0.5', 'bleu')
    """
    return f"'{visible(text)}" if is_formula(text) else str(visible(text))


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet may read the text as a formula."""
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def for_json(text: str) -> str:
    """Return JSON text in which characters that act on a terminal stand as escapes; it holds the same values.

    >>> for_json(json.dumps("a\\x9bb", ensure_ascii=False))
    '"a\\\\u009bb"'
    """
    return (
        text if text.isascii() and "\x7f" not in text else _ACTING_IN_JSON.sub(lambda m: json.dumps(m[0])[1:-1], text)
    )


def cut(text: str, most: int = MAX_CHARACTERS) -> str:
    """
    >>> cut("abcdef", 4)
    'abcd … (2 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most:,} more characters)"


def with_code(text: str) -> Markup:
    """Return the escaped text, with parts between backticks as code.

    >>> with_code("say `a < b` & go")
    Markup('say <code>a &lt; b</code> &amp; go')
    """
    from markupsafe import Markup, escape

    parts = re.split(r"`([^`\n]+)`", visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in enumerate(parts)
    )


def for_script(value: Any) -> str:
    """Return JSON that is safe inside <script>: no tag or comment can begin in it."""
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
