"""Where files are stored on a user's machine, and on what kind of file system."""

from __future__ import annotations

import os
import re
from pathlib import Path

import platformdirs

# Types of file systems that several machines see at once, as /proc/self/mountinfo names them. Their locks and shared
# memory do not hold between machines, and SQLite's write-ahead log needs both.
NETWORK = frozenset(
    "9p afs beegfs ceph cifs coda davfs gfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs3 nfs4 ocfs2 orangefs panfs pvfs2 "
    "smb3 smbfs wekafs".split()
)
NETWORK_FUSE = frozenset(
    "blobfuse blobfuse2 ceph-fuse curlftpfs davfs2 gcsfuse glusterfs goofys juicefs mount-s3 moosefs rclone s3fs "
    "seaweedfs sshfs".split()
)


def cache_path(variable: str, name: str) -> Path:
    """Return the path that an environment variable names, else `nlgauge/<name>` in the platform's cache folder."""
    if given := os.environ.get(variable):
        return Path(given).expanduser()
    return platformdirs.user_cache_path("nlgauge", appauthor=False, opinion=False) / name


def network_file_system(folder: Path) -> str:
    """Return the type of the network file system that holds a folder; '' where it is a local one or unknown."""
    if str(folder).startswith("\\\\"):
        return "a Windows share"
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes().decode("utf-8", "surrogateescape")
    except OSError:  # no Linux
        return ""
    return _network_type(os.path.realpath(folder), mounts)


def _network_type(folder: str, mounts: str) -> str:
    """Return the type of the mount that holds a folder, if it is one of a network.

    >>> mounts = "22 1 8:1 / / rw - ext4 /dev/sda rw\\n23 22 0:4 / /home rw shared:1 - nfs4 server:/home rw"
    >>> _network_type("/home/me", mounts), _network_type("/homes", mounts)
    ('nfs4', '')
    """
    holder, kind = "", ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        if len(fields := before.split(" ")) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[4])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(holder):  # a later mount on the same point hides the earlier one
            holder, kind = point, after.split(" ")[0]
    remote = kind in NETWORK or kind.removeprefix("fuse.") in NETWORK_FUSE
    return kind if remote else ""
