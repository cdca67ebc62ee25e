"""Which ranks share a machine, and which of them can reach each other's memory.

Names do not tell: two containers may have the same host name, and one machine two. MPI's own
shared communicators go by such names too, or by the daemons of the launcher. Better witnesses are

- the boot id, which is the same in all containers of a machine (NCCL goes by it as well);
- the PID and the IPC namespace: only within both do processes find each other's memory, by
  /proc/<pid>/fd on CPUs and by CUDA IPC on GPUs;
- the process itself: copies of a virtual machine agree in all of the above, but where one rank
  finds no process with the other's number that began when that one says, it is not here.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple

HOST = "GROUNDSWELL_HOST"
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Process(NamedTuple):
    """A rank's process, as it tells the others.

    Args:
        machine: what it runs on; the environment may part one machine's ranks, as tests do.
        namespaces: within which it sees others.
        number: its PID there.
        begun: in clock ticks since the machine has started.
    """

    machine: str
    namespaces: tuple[str, ...]
    number: int
    begun: int

    @classmethod
    def this(cls) -> Process:
        """The one that asks."""
        number = os.getpid()
        namespaces = tuple(_namespace(kind) for kind in ("pid", "ipc"))
        _, begun = _stat(number)
        return cls(os.environ.get(HOST) or _machine(), namespaces, number, begun)

    def sees(self, other: Process) -> bool:
        """Whether this process, which must be the one that asks, can find another."""
        together = self.machine == other.machine and self.namespaces == other.namespaces
        return together and _stat(other.number)[1] == other.begun

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as those who see it can tell; the unburied dead do not."""
        state, begun = _stat(self.number)
        return state not in ("", "Z", "X") and begun == self.begun


def _machine() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return socket.gethostname()


def _namespace(kind: str) -> str:
    try:
        return str(Path(f"/proc/self/ns/{kind}").readlink())
    except OSError:
        return ""


def _stat(number: int) -> tuple[str, int]:
    """A process' state and when it began; "" and -1 if there is none. See proc(5)."""
    try:
        text = Path(f"/proc/{number}/stat").read_text(errors="replace")
    except OSError:
        return "", -1
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return fields[0], int(fields[19])
