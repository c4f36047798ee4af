"""One run dealt out to many jobs of a batch system: each scores its shard of the batches, and `merge` joins what they
left.

All jobs have the same command line but for the number of their shard, and write to the folder beside the same file. A
batch belongs to a shard by its number alone, so no job needs to know of the others, and a job that is repeated skips
what is done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from nlgauge.errors import NlgaugeError
from nlgauge.metrics import Batch, Facts, Metric, Scores
from nlgauge.scoring.outcomes import Sums
from nlgauge.scoring.parts_folder import DAMAGED, PartsFolder
from nlgauge.scoring.plan import known_metric, parse
from nlgauge.scoring.score_batch import signature_of
from nlgauge.scoring.scored_parts import ScoredParts, join, kind_of
from nlgauge.scoring.stream import Streamed


class Shard(NamedTuple):
    """Shard `at` of `of`, counted from 1.

    >>> Shard.parse("3/8")
    Shard(at=3, of=8)
    >>> [number for number in range(20) if Shard(3, 8).has(number)]
    [2, 10, 18]
    """

    at: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        found = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", text, re.ASCII)
        if not found:
            raise NlgaugeError(f"--shard {text}: write which of how many, as in 3/8.")
        shard = cls(int(found[1]), int(found[2]))
        if not 1 <= shard.at <= shard.of:
            raise NlgaugeError(
                f"--shard {text}: shards count from 1, here 1/{shard.of} to {shard.of}/{shard.of}; "
                f"a Slurm array that fits is --array=1-{shard.of}."
            )
        return shard

    def has(self, number: int) -> bool:
        """Whether a batch (from 0) is one of its own."""
        return number % self.of == self.at - 1

    def end(self, folder: PartsFolder, batches: int) -> None:
        """Mark that the shard is through, and of how many batches the run consists."""
        folder.mark(f"shard-{self.at}-of-{self.of}", shard=self.at, shards=self.of, batches=batches)

    @staticmethod
    def ended(folder: PartsFolder) -> list[tuple[int, int]]:
        """Of every shard that is through: of how many it is one, and the batches of the run."""
        found = []
        for path in sorted(folder.path.glob("shard-*.json")):
            with suppress(*DAMAGED):
                said = folder.marked(path.stem) or {}
                if said["shards"] >= said["shard"] >= 1 and said["batches"] >= 0:
                    found.append((int(said["shards"]), int(said["batches"])))
        return found

    def __str__(self) -> str:
        return f"{self.at}/{self.of}"


class Recorded(Metric):
    """A metric of which only the scores are here: its name, its signature, and no code."""

    def __init__(self, name: str, signature: str, lower: bool) -> None:
        self.name, self.recorded = name, signature
        ends = float("-inf"), float("inf")
        self.facts = Facts(name, "recorded", frozenset({"output"}), lower, ends, 0, "", "", "", "")

    @property
    def signature(self) -> str:
        return self.recorded

    def __str__(self) -> str:
        return self.name

    def score(self, batch: Batch) -> Scores:
        raise NlgaugeError(f"{self.name}: its scores were read from a file; it cannot be run here.")


def merge(outs: Sequence[str | Path], out: str | Path | None = None, metrics: Sequence[str | Metric] = ()) -> Streamed:
    """Join the shards of a run into the file that a run in one piece writes, and give its tables.

    `outs` are the files that the shards were told to write: mostly one and the same. Several, where each job wrote to a
    place of its own, need `out`.

    What stands in a folder is data: it never makes us run a Python file. Scores of a metric in a file of yours are
    joined as they are; only its values of a corpus need its code, which `metrics` names (`["my.py@wit"]`).

    >>> merge(["scores.parquet"]).rows    # doctest: +SKIP
    10000000
    """
    parts = [ScoredParts.known(ScoredParts.beside(each)) for each in dict.fromkeys(map(str, outs))]
    first, facts = parts[0], parts[0].facts
    for name, kind in (("lower", list), ("metrics", dict), ("file", str), ("by", str), ("batch", int)):
        if not isinstance(facts.get(name), kind):
            raise NlgaugeError(f"{first.path}: run.json is damaged ({name}); remove the folder and score again.")
    for each in parts[1:]:
        if other := first.difference(each):
            raise NlgaugeError(f"{first.path} and {each.path} are of different runs (other {other}).")
        if each.kind != first.kind:
            raise NlgaugeError(f"{first.out} and {each.out} are not of one format.")
    if out is not None and kind_of(Path(out)) != first.kind:
        raise NlgaugeError(f"-o {out}: the shards were scored for a .{first.kind} file; name one.")
    if len(parts) > 1 and out is None:
        raise NlgaugeError("several files to merge: say with -o which file to write.")
    batches = _complete(parts)
    merged = _metrics(first, parse(metrics, allow_code=True))
    total = Sums()
    for number in range(batches):
        total += next(sums for each in parts if (sums := each.done(number)) is not None)
    join(parts, batches, Path(out or first.out))
    tables = total.tables(facts["file"], facts["by"], merged, facts["batch"])
    if summed := [m for m in merged if isinstance(m, Recorded) and _has_sums(total, str(m))]:
        tables[1].notes = [
            *tables[1].notes,
            f"no corpus value of {', '.join(map(str, summed))}, as its code is not here and a folder's word runs none; "
            "`nlgauge merge FILE -m my.py@name` names it",
        ]
    return Streamed(total.rows, merged, *tables, batches, batches, batches)


def _metrics(run: PartsFolder, named: Sequence[Metric]) -> list[Metric]:
    """The metrics of a run: those that the caller names, those known by name, else only what is recorded of them."""
    typed = {str(m): m for m in named}
    found: list[Metric] = []
    for name, said in run.facts["metrics"].items():
        metric = typed.pop(name, None) or known_metric(name)
        if metric is not None and signature_of(metric) != said:
            raise NlgaugeError(f"{run.path}: '{name}' was scored with another version; merge it with that one.")
        found.append(metric or Recorded(name, str(said), name in run.facts["lower"]))
    if typed:
        raise NlgaugeError(f"{run.path}: was not scored with {', '.join(typed)}.")
    return found


def _has_sums(total: Sums, name: str) -> bool:
    return any(name in found and found[name].stats for found in total.groups.values())


def _complete(parts: Sequence[ScoredParts]) -> int:
    """How many batches the run has; all of them must be there."""
    first = parts[0]
    ended = [said for each in parts for said in Shard.ended(each)]
    if not ended:
        raise NlgaugeError(f"{first.path}: no shard is finished yet; `nlgauge score … --shard 1/8` begins one.")
    of, batches = ended[-1]
    missing = set(range(batches)).difference(*(each.finished() for each in parts))
    if missing:
        shards = [str(at) for at in sorted({number % of + 1 for number in missing})]
        word, verb, those = ("shard", "is", "it") if len(shards) == 1 else ("shards", "are", "them")
        raise NlgaugeError(
            f"{first.out}: {word} {', '.join(shards)} of {of} {verb} not finished ({len(missing)} of {batches} batches "
            f"are missing); run {those} again, then merge."
        )
    return batches
