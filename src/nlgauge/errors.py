"""What can go wrong for a user, each with one clear line and no traceback (the CLI exits with code 2)."""

from __future__ import annotations


class NlgaugeError(Exception):
    """An error that its reader can mend: says what was found, where, and what to do."""


class DataError(NlgaugeError):
    """A file or frame that cannot be read as data."""


class NameUnknown(NlgaugeError):
    """A metric, measure, analysis or reader that does not exist; the message suggests the nearest ones."""


class NeedsMissing(NlgaugeError):
    """Something asked for needs what the data or the installation do not have."""
