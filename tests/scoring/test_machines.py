"""A score store in a folder of the network belongs to one machine."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from nlgauge.scoring import network_folder as machines

MOUNTS = """/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/local\\040disk xfs rw 0 0
fast /scratch lustre rw 0 0
cut off
"""


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("/var/x.sqlite", False),
        ("/home/me/x.sqlite", True),
        ("/home/me/local disk/x.sqlite", False),
        ("/homes/x.sqlite", False),
        ("/scratch/a/../b.sqlite", True),
    ],
)
def test_the_kind_of_file_system_is_that_of_the_nearest_mount(tmp_path: Path, path: str, shared: bool) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert machines.on_network(Path(path), tmp_path / "mounts") is shared
    assert machines.on_network(Path(path), tmp_path / "none") is False


def test_a_shared_store_is_parted_by_machine_and_a_local_one_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NLGAUGE_STORE", "/home/me/scores.sqlite")
    monkeypatch.setattr(machines, "on_network", lambda path: False)
    machines.own_store()
    assert os.environ["NLGAUGE_STORE"] == "/home/me/scores.sqlite"
    monkeypatch.setattr(machines, "on_network", lambda path: True)
    for _ in range(2):
        machines.own_store()
        assert os.environ["NLGAUGE_STORE"] == f"/home/me/scores.{socket.gethostname()}.sqlite"
