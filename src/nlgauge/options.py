"""Options as text: how a message names one, and the grammar of `--columns`.

A message names an option with `option` or `call`. The command line then prints `--columns human=…` or `--by topic`, and
Python prints `human=` or `by='topic'`, from the same sentence.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nlgauge.errors import DataError, NameUnknown
from nlgauge.registry import did_you_mean

# Options of `load`: roles of one column, roles of several columns, and how the file is read.
ONE_COLUMN = ("system", "input", "output", "source", "context", "control", "rater", "part")
SEVERAL = (
    "references", "human", "metrics", "ignore", "lower", "higher", "human_systems", "person_raters", "model_raters",
    "ordinal", "nominal", "multilabel",
)  # fmt: skip
SETTINGS = ("repeats", "values", "sheet", "encoding", "reader")
ROLES = (*ONE_COLUMN, *SEVERAL, *SETTINGS)
LABELED = ("human", "metrics", "values")  # may be mappings: human.quality=rater_1+rater_2, values.good=3
SOME = "…"  # stands for a value that the reader of a message chooses

_commands: list[None] = []  # one entry while this process runs a command, whose reader types options


@contextmanager
def command_line() -> Iterator[None]:
    """Name options as they are typed on the command line, until the block ends."""
    _commands.append(None)
    try:
        yield
    finally:
        _commands.pop()


def option(name: str, value: Any = None, *, choice: bool = False) -> str:
    """Return how the reader of a message gives this option: an argument in Python, an option on the command line.

    Call it when the message is made, not in a constant of a module. With `choice`, it is the option that chooses among
    the data (`--metrics bleu`), where a role of columns has the same name (`--columns metrics=bleu`).

    >>> option("human"), option("human", ["coherence", "fluency"]), option("keep_human", True)
    ('human=', "human=['coherence', 'fluency']", 'keep_human=True')
    >>> with command_line():
    ...     print(option("human"), option("human", ["coherence", "a, b"]), option("keep_human", True), sep="; ")
    --columns human=…; --columns 'human=coherence+"a, b"'; --keep-human
    """
    if isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    role, _, label = name.partition(".")
    if label and role in LABELED:
        name, value = role, {label: SOME if value is None else value}
    if not _commands:
        return f"{name}=" if value is None else f"{name}={_literal(value)}"
    if name in ROLES and not choice:
        return f"--columns {_quoted(write_columns({name: SOME if value is None else value}))}"
    flag = f"--{name.rstrip('_').replace('_', '-')}"
    return flag if value is None or value is True else f"{flag} {_quoted(_word(value))}"


def call(words: str, **options: Any) -> str:
    """Return a command for the shell, or the call of the function behind it; FILE stands for the data.

    >>> call("analyze wins FILE", aspect="tone")
    "`nlgauge.analyze('wins', data, aspect='tone')`"
    >>> with command_line():
    ...     print(call("analyze wins FILE", aspect="tone"))
    `nlgauge analyze wins FILE --aspect tone`
    """
    told = [option(name, value) for name, value in options.items()]
    if _commands:
        return f"`{' '.join(['nlgauge', words, *told])}`"
    verb, *rest = words.split()
    verb = {"run": "report"}.get(verb, verb)  # the one command whose function has another name
    data = [word for word in rest if word == "FILE"]
    return f"`nlgauge.{verb}({', '.join([*(repr(w) for w in rest if w != 'FILE'), *('data' for _ in data), *told])})`"


def _literal(value: Any) -> str:
    """Return a value as Python source; placeholders for the reader's choice are unchanged."""
    if value == SOME:
        return SOME
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_literal(each)}" for key, each in value.items()) + "}"
    return repr(list(value) if isinstance(value, tuple) else value)


def _word(value: Any) -> str:
    """Return a value as one word of a command."""
    if isinstance(value, Mapping):
        return ",".join(f"{key}={_word(each)}" for key, each in value.items())
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _quoted(text: str) -> str:
    bare = text.replace(SOME, "_")
    return text if shlex.quote(bare) == bare else shlex.quote(text)


# --- the grammar of --columns -----------------------------------------------------------------------------------------


def parse_columns(text: str) -> dict[str, Any]:
    """Return role -> column, list of columns or mapping, as a text such as `system=model,human=coherence+fluency` says.

    Commas separate roles, `+` the columns of one role; a value that begins with `+` adds to what is inferred.
    `human.quality=r1+r2` names the annotators' columns of one aspect. A name with one of these signs is quoted; signs
    in parentheses belong to a name.

    >>> parse_columns("system=model,human.quality=r1+r2,metrics=+bleu(order=2,eff=True),ignore='a, b'")
    {'system': 'model', 'human': {'quality': ['r1', 'r2']}, 'metrics': ['+bleu(order=2,eff=True)'], 'ignore': ['a, b']}
    """
    found: dict[str, Any] = {}
    for item in _split(text, ","):
        if not item:
            continue
        name, *rest = _split(item, "=", 1)
        if not rest:
            raise DataError(
                f"{option('columns')}: found '{item}', expected role=column; several columns of one role are joined "
                "by +, as in human=coherence+fluency, and a name with a comma is quoted."
            )
        role, *label = (_unquoted(part) for part in _split(name, ".", 1))
        check_role(role, option("columns"), labeled=bool(label))
        value = _columns_of(role, rest[0])
        if label:
            labels = found.setdefault(role, {})
            labels = found[role] = {"": labels} if isinstance(labels, list) else labels
            _put(labels, label[0], value, name)
        elif role in LABELED and isinstance(found.get(role), dict):
            _put(found[role], "", value, name)
        else:
            _put(found, role, value, name)
    return found


def check_role(role: str, where: str, labeled: bool = False) -> None:
    """Answer an unknown role with the known ones."""
    if role not in ROLES:
        raise NameUnknown(f"{where}: no role '{role}'.{did_you_mean(role, ROLES)} Roles: {', '.join(ROLES)}.")
    if labeled and role not in LABELED:
        raise DataError(f"{where}: '{role}' takes no name after a dot; only {', '.join(LABELED)} do.")


def write_columns(roles: Mapping[str, Any]) -> str:
    """Return the text that `parse_columns` reads as these roles.

    >>> write_columns({"system": "model", "human": {"quality": ["r1", "r+2"]}, "metrics": ["+a", "+b"]})
    'system=model,human.quality=r1+"r+2",metrics=+a+b'
    """
    items = []
    for role, value in roles.items():
        for label, names in value.items() if isinstance(value, Mapping) else (("", value),):
            several = [names] if isinstance(names, str) or not isinstance(names, Sequence) else names
            more = bool(several) and all(str(name).startswith("+") for name in several)
            written = "+".join(_written(str(name).removeprefix("+") if more else str(name)) for name in several)
            named = f"{role}.{_written(label, ',+=.')}" if label else role
            items.append(f"{named}={'+' if more else ''}{written}")
    return ",".join(items)


def _columns_of(role: str, value: str) -> Any:
    more = value.startswith("+") and role in SEVERAL
    parts = _split(value.removeprefix("+") if more else value, "+") if role in SEVERAL else [value]
    names = [_unquoted(part) for part in parts]
    if role in SEVERAL and names == [""] and not more:
        return []  # none is
    if "" in names and role not in SETTINGS:
        raise DataError(f"{option('columns')}: found '{role}={value}', expected a name of a column behind every sign.")
    return [f"+{name}" if more else name for name in names] if role in SEVERAL else names[0]


def _put(found: dict[str, Any], name: str, value: Any, written: str) -> None:
    if name in found:
        raise DataError(f"{option('columns')}: '{written}' is named twice; join several columns of one role by +.")
    found[name] = value


def _split(text: str, sign: str, most: int = -1) -> list[str]:
    """Split a text at separators, at most so many times; separators in quotes and parentheses do not count."""
    parts, quote, closed, depth = [""], "", "", 0
    for letter in text:
        begins = letter in "\"'" and (parts[-1].rstrip()[-1:] in ("", ",", "=", "+", ".") or letter == closed)
        closed = letter if quote and letter == quote else ""
        if quote:
            quote = "" if letter == quote else quote
        elif begins:
            quote = letter
        elif letter == sign and not depth and most:
            parts.append("")
            most -= 1
            continue
        else:
            depth = max(0, depth + (letter in "([") - (letter in ")]"))
        parts[-1] += letter
    if quote or depth:
        raise DataError(f"{option('columns')}: found '{text}', whose {'quote' if quote else 'parenthesis'} has no end.")
    return [part.strip() for part in parts]


def _unquoted(name: str) -> str:
    name = name.strip()
    if len(name) > 1 and name[0] in "\"'" and name[-1] == name[0]:
        return name[1:-1].replace(name[0] * 2, name[0])
    return name


def _written(name: str, signs: str = ",+") -> str:
    """Return a name as the grammar parses it, quoted if necessary."""
    try:
        plain = bool(name) and _unquoted(name) == name and all(_split(name, sign) == [name] for sign in signs)
    except DataError:
        plain = False
    return name if plain else '"' + name.replace('"', '""') + '"'
