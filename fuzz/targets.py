"""All targets, by name."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fuzz import batches, numbers, readers, valid_tables, verbs, words
from fuzz.contract import Target


def find(names: Sequence[str] = ()) -> list[Target]:
    """Those asked for, by name or by how their names begin; all when none is."""
    rooms = (readers, batches, words, numbers, verbs, valid_tables)
    known = [target for room in rooms for target in room.targets()]
    chosen = [t for t in known if not names or any(t.name == n or t.name.startswith(n + "-") for n in names)]
    if not chosen:
        sys.exit(f"fuzz: no target {', '.join(names)}; there are {', '.join(t.name for t in known)}")
    return chosen
