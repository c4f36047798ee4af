"""What can go wrong for a user, each with one clear line and no traceback (the CLI exits with code 2)."""

from __future__ import annotations

LONGEST = 1600  # characters


class NlgaugeError(Exception):
    """An error that its reader can mend: says what was found, where, and what to do.

    It may quote what a file or a person said, so it keeps itself to one line of bounded length.

    >>> str(NlgaugeError("no metric 'a\\nb'"))
    "no metric 'a\\\\nb'"
    """

    def __str__(self) -> str:
        said = super().__str__()
        if not said.isprintable():
            said = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in said)
        return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} … {said[-LONGEST // 2 :]}"


class PartlyDone(NlgaugeError):
    """Part of the work is done and kept, and the rest is not; the line says how to go on (exit code 3)."""


class DataError(NlgaugeError):
    """A file or frame that cannot be read as data."""


class NoSuchFile(DataError):
    """A name that no file has; it may still be that of a published set."""


class NameUnknown(NlgaugeError):
    """A metric, measure, analysis or reader that does not exist; the message suggests the nearest ones."""


class NeedsMissing(NlgaugeError):
    """Something asked for needs what the data or the installation do not have."""


class NotHere(DataError, NeedsMissing):
    """A published set that is not redistributed here, and whose file the user does not have (yet)."""


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or the name of its kind where it says nothing."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
