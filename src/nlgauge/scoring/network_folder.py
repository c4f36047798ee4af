"""What several machines must not share: the score store, when it lies in a folder of the network."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from nlgauge.scoring.store import store_path

# Types of file systems that several machines see at once.
NETWORK = tuple("nfs cifs smb lustre gpfs beegfs ceph gluster afs orangefs pvfs 9p fuse.sshfs".split())
MOUNTS = Path("/proc/self/mounts")


def own_store() -> None:
    """From now on this process keeps scores in a file of its machine, if the place is shared over a network.

    SQLite's log (WAL) works between processes of one machine only; two machines would damage the file.
    """
    path = store_path()
    if not path.name.endswith(name := f".{socket.gethostname()}.sqlite") and on_network(path):
        os.environ["NLGAUGE_STORE"] = str(path.with_name(path.name.removesuffix(".sqlite") + name))


def on_network(path: Path, mounts: Path = MOUNTS) -> bool:
    """Whether a path lies on a file system of the network, as far as the system says."""
    try:
        lines = mounts.read_text().splitlines()
    except OSError:
        return False
    where = path.resolve()
    kind, depth = "", -1
    for line in lines:
        fields = line.split()
        if len(fields) < 3:
            continue
        at = Path(fields[1].replace("\\040", " "))
        if where.is_relative_to(at) and len(at.parts) >= depth:  # the last mount on a place is the one in sight
            kind, depth = fields[2].lower(), len(at.parts)
    return kind.startswith(NETWORK)
