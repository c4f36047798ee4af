"""The key of an endpoint: from the environment or a file, and nowhere else; never printed, stored or reported."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from nlgauge.errors import DataError


@dataclass(frozen=True)
class Secret:
    """A key that hides itself.

    >>> key = Secret("sk-123456", "a test")
    >>> key, key.hide("Incorrect API key: sk-123456")
    (Secret(…), 'Incorrect API key: …')
    """

    VARIABLE: ClassVar[str] = "OPENAI_API_KEY"
    _value: str = field(default="", repr=False)
    source: str = ""

    def __repr__(self) -> str:
        return "Secret(…)" if self._value else "Secret()"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        return text.replace(self._value, "…") if self._value else text


def find_key(file: str | Path | None = None) -> Secret:
    """The key in that file, else in NLGAUGE_API_KEY or OPENAI_API_KEY; none is fine for a local server."""
    if file is not None:
        try:
            return Secret(Path(file).expanduser().read_text(encoding="utf-8").strip(), str(file))
        except (OSError, ValueError, RuntimeError) as error:
            raise DataError(f"{file}: the key cannot be read ({error}).") from None
    for variable in ("NLGAUGE_API_KEY", Secret.VARIABLE):
        if value := os.environ.get(variable, "").strip():
            return Secret(value, variable)
    return Secret()
