"""One run dealt out to many jobs of a batch system: each scores its shard of the batches, and `merge` joins what they left.

All jobs have the same command line but for the number of their shard, and write to the folder beside the same file. A batch
belongs to a shard by its number alone, so no job needs to know of the others, and a job that is repeated skips what is done.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nlgauge.errors import NlgaugeError
from nlgauge.scoring.columns import signature_of
from nlgauge.scoring.plan import parse
from nlgauge.scoring.stream import Streamed
from nlgauge.scoring.sums import Sums, groups_table, run_table
from nlgauge.scoring.unfinished import Unfinished, difference, kind_of


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

    def __str__(self) -> str:
        return f"{self.at}/{self.of}"


def merge(outs: Sequence[str | Path], out: str | Path | None = None) -> Streamed:
    """Join the shards of a run into the file that a run in one piece writes, and give its tables.

    `outs` are the files that the shards were told to write: mostly one and the same. Several, where each job wrote to a
    place of its own, need `out`.

    >>> merge(["scores.parquet"]).rows    # doctest: +SKIP
    10000000
    """
    parts = [Unfinished.known(Path(each)) for each in dict.fromkeys(map(str, outs))]
    first = parts[0]
    for name, kind in (("specs", list), ("metrics", dict), ("file", str), ("by", str), ("batch", int)):
        if not isinstance(first.facts.get(name), kind):
            raise NlgaugeError(
                f"{first.folder}: run.json is damaged ({name}); remove the folder and score again."
            )
    for each in parts[1:]:
        if other := difference(first.facts, each.facts):
            raise NlgaugeError(f"{first.folder} and {each.folder} are of different runs (other {other}).")
        if each.kind != first.kind:
            raise NlgaugeError(f"{first.out} and {each.out} are not of one format.")
    if out is not None and kind_of(Path(out)) != first.kind:
        raise NlgaugeError(f"-o {out}: the shards were scored for a .{first.kind} file; name one.")
    if len(parts) > 1 and out is None:
        raise NlgaugeError("several files to merge: say with -o which file to write.")
    batches = _complete(parts)
    facts = first.facts
    metrics = parse(facts["specs"])
    if facts["metrics"] != {str(m): signature_of(m) for m in metrics}:
        raise NlgaugeError(f"{first.folder}: was scored with another version; merge it with that one.")
    total = Sums()
    for number in range(batches):
        total.add(Sums.from_text(next(kept for each in parts if (kept := each.done(number)) is not None)))
    if out is None or Path(out) == first.out:
        first.join(batches, parts[1:])
    else:
        Unfinished(Path(out), first.kind, facts).join(batches, parts)
    name, by = facts["file"], facts["by"]
    tables = run_table(name, metrics, total, facts["batch"]), groups_table(name, by, metrics, total)
    return Streamed(total.rows, metrics, *tables, batches, batches, batches)


def _complete(parts: Sequence[Unfinished]) -> int:
    """How many batches the run has; all of them must be there."""
    first = parts[0]
    ended = [said for each in parts for said in each.ended_shards()]
    if not ended:
        raise NlgaugeError(
            f"{first.folder}: no shard is finished yet; `nlgauge score … --shard 1/8` begins one."
        )
    batches, of = ended[-1]["batches"], ended[-1]["shards"]
    missing = set(range(batches)).difference(*(each.finished() for each in parts))
    if missing:
        shards = [str(at) for at in sorted({number % of + 1 for number in missing})]
        word = "shard" if len(shards) == 1 else "shards"
        verb = "is" if len(shards) == 1 else "are"
        raise NlgaugeError(
            f"{first.out}: {word} {', '.join(shards)} of {of} {verb} not finished ({len(missing)} of {batches} batches "
            f"are missing); run {'it' if len(shards) == 1 else 'them'} again, then merge."
        )
    return int(batches)
