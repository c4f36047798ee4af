"""Usage and data errors, each printed as one line without a traceback (the command exits with code 2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from nlgauge.number import some

LONGEST = 1600  # characters
Code = Literal[
    "",  # an analysis that names none, such as a user's own
    "constant",  # values that do not differ
    "missing_cost",
    "no_choices",
    "no_ratings",
    "no_scores",
    "no_scores_of_rated",  # no output has both
    "no_spans",
    "no_texts",
    "not_binary",  # numbers where pass and fail are needed
    "one_data_set",
    "too_few_aspects",
    "too_few_inputs",
    "too_few_labels",
    "too_few_metrics",
    "too_few_outputs",
    "too_few_raters",
    "too_few_systems",
    "undefined",  # a statistic that has no value on these data
    "unknown_name",
    "unordered_classes",  # codes, of which there is no mean
    "unsuited_column",
    "unsuited_option",
]


class Note(str):
    """Note on the data, with a code by which programs recognize it.

    >>> note = Note("3 rows repeat another row and count once", "once")
    >>> note.code, code_of(note), code_of("a remark without a code")
    ('once', 'once', '')
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, text: str, code: str = "") -> Note:  # copies are made without a code, and then get it
        note = super().__new__(cls, text)
        note.code = code
        return note


def code_of(note: str) -> str:
    """Return the code of a remark; empty if it has none."""
    return note.code if isinstance(note, Note) else ""


@dataclass(frozen=True)
class Refusal:
    """Reason why something was not computed, as data; `str` returns the sentence.

    Attributes
    ----------
    reason : str
        The reason alone, without the data set and the aspect.
    code : str
        The kind of reason, for programs.
    analysis, data, aspect, metric : str
        What was asked, and of what; "" where the reason does not depend on it or nobody knows.
    group : mapping
        The value of each column of `by`.
    values : mapping
        Numbers and names behind the reason.
    where : tuple of str
        What the sentence names before the reason: the data set, the data set and the aspect, or nothing.

    Examples
    --------
    >>> str(Refusal("one rater.", "too_few_raters", data="a.csv", aspect="tone", where=("a.csv", "tone")))
    'a.csv, tone: one rater.'
    """

    reason: str
    code: Code = ""
    analysis: str = ""
    data: str = ""
    aspect: str = ""
    metric: str = ""
    group: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{', '.join(self.where)}: {self.reason}" if self.where else self.reason

    def about(self, data: str, aspect: str) -> Refusal:
        """Return the refusal with its data set and aspect, which the message then names."""
        return replace(self, data=data, aspect=aspect, where=tuple(part for part in (data, aspect) if part))

    def to_dict(self) -> dict[str, Any]:
        """Return the facts and the sentence, as results.json holds them."""
        facts = asdict(self)
        del facts["where"]
        return {**facts, "sentence": str(self)}


def merge_refusals(refusals: Iterable[Refusal]) -> list[str]:
    """Return one sentence per reason, with all aspects of a data set to which it applies.

    >>> tone, wit = (Refusal("one rater.", where=("a.csv", aspect)) for aspect in ("tone", "wit"))
    >>> merge_refusals([tone, wit, Refusal("no scores.", where=("a.csv",))])
    ['a.csv, tone and wit: one rater.', 'a.csv: no scores.']
    """
    merged: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for each in refusals:
        merged.setdefault((each.where[:1], each.reason), []).extend(each.where[1:])
    return [
        str(Refusal(reason, where=(*data, *([some(list(dict.fromkeys(aspects)), 6)] if aspects else []))))
        for (data, reason), aspects in merged.items()
    ]


class RowNote(str):
    """A note that summarizes the reasons of rows; omitted where the rows are shown with their reasons."""


class NlgaugeError(Exception):
    """A usage or data error: the message says what happened, where, and what to do.

    It may quote the content of a file or a user's input, so it is limited to one line of bounded length. `data`,
    `aspect`, `metric`, `code` and `values` are the facts of a refusal; `refusals` are given where several are the
    reason.

    >>> str(NlgaugeError("no metric 'a\\nb'"))
    "no metric 'a\\\\nb'"
    >>> error = NlgaugeError("one rater.", data="a.csv", aspect="tone", code="too_few_raters", raters=1)
    >>> str(error), error.refusals[0].reason, error.refusals[0].values
    ('a.csv, tone: one rater.', 'one rater.', {'raters': 1})
    """

    def __init__(
        self,
        reason: str = "",
        *,
        data: str = "",
        aspect: str = "",
        metric: str = "",
        code: Code = "",
        refusals: Iterable[Refusal] = (),
        **values: Any,
    ) -> None:
        own = Refusal(reason, code, metric=metric, values=values).about(data, aspect)
        self.refusals = list(refusals) or [own]
        super().__init__(" ".join(merge_refusals(self.refusals)))

    def locate(self, data: str, aspect: str = "") -> None:
        """Add data and aspect to refusals that have a code and do not say what they are about.

        >>> error = NeedsMissing("one rater.", code="too_few_raters")
        >>> error.locate("a.csv", "tone")
        >>> str(error)
        'a.csv, tone: one rater.'
        """
        self.refusals = [
            each if each.where or not each.code else each.about(data, each.aspect or aspect) for each in self.refusals
        ]
        self.args = (" ".join(merge_refusals(self.refusals)),)

    def __str__(self) -> str:
        said = super().__str__()
        if not said.isprintable():
            said = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in said)
        return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} … {said[-LONGEST // 2 :]}"


class PartlyDone(NlgaugeError):
    """Only part of the work is done; it is saved, and the message says how to resume (exit code 3)."""


class DataError(NlgaugeError):
    """A file or frame that cannot be read as data."""


class NoSuchFile(DataError):
    """No file has this name; it may still be that of a published set."""


class NameUnknown(NlgaugeError):
    """A metric, measure, analysis or reader that does not exist; the message suggests the nearest ones."""


class NeedsMissing(NlgaugeError):
    """The data or the installation lack something that is required."""


class NotHere(DataError, NeedsMissing):
    """A published set that is not redistributed here, and whose file the user does not have (yet)."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, or the name of the error class if it has none."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
