"""Readers: one file per format. A reader recognizes files of its format and converts them to a Dataset.

    @register("reader", "summeval", only="json")
    class SummEval(Reader):
        \"\"\"SummEval jsonl: model outputs with every expert and crowd rating.\"\"\"

        takes = Takes("JSON lines with `model_id` …", human="…", scores="…")
        keys = ({"model_id", "expert_annotations"},)  # or a method `recognizes`

        @staticmethod
        def read(path: Path, **options: Any) -> Dataset: ...

`nlgauge.load` tries every reader; a file that no reader recognizes is read as a plain table (`data/load.py`). A reader
for files of one kind declares it with `only` (json, zip, text or folder, see `Peek.kind`) and is not imported for
others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    from nlgauge.data.dataset import Dataset
    from nlgauge.data.peek import Peek


class Takes(NamedTuple):
    """What a reader accepts, for `nlgauge data formats`."""

    files: str
    human: str = "–"  # what becomes human ratings or comparisons
    scores: str = "–"  # what becomes scores of metrics and judges
    tested: str = ""  # the tool and version whose files the tests read


TABLE = Takes(
    "any other table: CSV, TSV, JSON, JSON lines, Parquet (also gzipped), Excel; frames in Python",
    human="columns named like ratings, or declared as human",
    scores="all other numeric columns, or those declared as metrics",
)  # if no reader recognizes the file


class Reader:
    """Base class of the readers of one format."""

    takes: ClassVar[Takes]
    whole: ClassVar[bool] = False  # the format names the metrics for which lower is better
    keys: ClassVar[tuple[set[str], ...]] = ()  # each set of keys of the first object identifies the format
    pattern: ClassVar[str] = ""  # of the files in a folder of this format

    @classmethod
    def recognizes(cls, peek: Peek) -> bool:
        """Return whether a file begins like this format; must not raise."""
        return any(keys <= peek.keys for keys in cls.keys) or bool(cls.pattern and peek.holds(cls.pattern))

    @staticmethod
    def read(*args: Any, **options: Any) -> Dataset:
        """Read a file or folder of this format; the parameters are the options of the reader."""
        raise NotImplementedError
