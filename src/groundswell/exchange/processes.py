"""Which ranks share a machine, and which of them can access each other's memory.

Host names do not suffice: two containers may have the same one, and a machine may have two. MPI's
own shared communicators depend on such names too, or on the daemons of the launcher. Instead, this
module compares

- the boot id, which is the same in all containers of a machine (NCCL uses it as well);
- the PID and the IPC namespace: only processes with the same ones access each other's memory, by
  /proc/<pid>/fd on CPUs and by CUDA IPC on GPUs;
- the process itself: copies of a virtual machine agree in all of the above, but have no process
  with the number and the start time of the other rank's process.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple

HOST = "GROUNDSWELL_HOST"
BOOT = Path("/proc/sys/kernel/random/boot_id")


class Process(NamedTuple):
    """The process of a rank, as it describes itself to other ranks.

    Args:
        machine: identifies the machine; the variable HOST replaces it, for tests.
        namespaces: the PID and the IPC namespace.
        number: its PID in that namespace.
        begun: its start time, clock ticks since the machine has started.
    """

    machine: str
    namespaces: tuple[str, ...]
    number: int
    begun: int

    @classmethod
    def this(cls) -> Process:
        """The current process."""
        number = os.getpid()
        namespaces = tuple(_namespace(kind) for kind in ("pid", "ipc"))
        _, begun = _stat(number)
        return cls(os.environ.get(HOST) or _machine(), namespaces, number, begun)

    def sees(self, other: Process) -> bool:
        """Whether this process, which must be the current one, can find another."""
        together = self.machine == other.machine and self.namespaces == other.namespaces
        return together and _stat(other.number)[1] == other.begun

    @property
    def alive(self) -> bool:
        """Whether it runs, for a process that it is visible to; zombies do not."""
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
    """State and start time of a process; "" and -1 if there is none. See proc(5)."""
    try:
        text = Path(f"/proc/{number}/stat").read_text(errors="replace")
    except OSError:
        return "", -1
    fields = text.rpartition(")")[2].split()  # the name may contain anything
    return fields[0], int(fields[19])
