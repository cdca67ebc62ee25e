"""Whether MPI can be handed GPU memory, found out in other processes.

A library that cannot read GPU memory does not report an error but ends the process with a
segmentation fault; and one whose messages go through UCX may read it although it says that it
cannot. So two processes of a job of their own try it on this host:

    mpiexec -n 2 python -m groundswell.exchange.probe_gpu_mpi BUS BUS
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from groundswell.backends import Backend, open_backend
from groundswell.errors import BackendError, InputError
from groundswell.exchange import mpi_library

FORCE = "GROUNDSWELL_GPU_MPI"
SECONDS = 30  # that the processes may take
GRACE_SECONDS = 10  # for mpiexec, to start them and to notice that they have ended
RANKS = 2
SIZES = (1 << 13, 1 << 23)  # bytes: short messages and long ones take different ways

WORDS = 300  # letters of what mpiexec says if it starts nothing
MARK = "groundswell-probe: "  # begins the lines that are meant for the parent
BEGUN, WORKS, NOT_TRIED = "begun", "works", "not tried: "

# A new job must know nothing of the one that its parent belongs to,
FOREIGN = "OMPI_ ORTE_ PRTE_ PMIX_ PMI_ HYDRA_ HYDI_ PALS_ MPI_LOCAL SLURM_ PBS_ LSB_".split()
# but choose the same ways for its messages.
CHOICES = tuple(
    f"OMPI_MCA_{name}" for name in "pml mtl btl smsc opal_ mpi_ accelerator rcache mpool".split()
)
# It starts beside its parent, on cores that are taken, as the same user.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    # It goes to no other host, but Open MPI wants to find a program that could.
    "OMPI_MCA_plm_rsh_agent": "false",
    "PRTE_MCA_plm_ssh_agent": "false",
    "OMP_NUM_THREADS": "1",
}


class NotTried(Exception):
    """The processes could not be started, or have no GPU: nothing is known."""


# --- the parent -----------------------------------------------------------------------------------


@cache
def why_not(buses: tuple[str, ...]) -> str | None:
    """Why MPI cannot be handed memory of these GPUs; None if it can. Found out once a process.

    The environment may answer instead: GROUNDSWELL_GPU_MPI = 1 or 0. Where no trial can be made,
    what the library says of itself counts.

    Args:
        buses: PCI bus ids of the GPUs of one or two ranks.

    Raises:
        InputError: the environment has another answer.
    """
    forced = os.environ.get(FORCE, "")
    if forced:
        return _forced(forced)
    claimed = mpi_library.claims_gpus()
    if mpi_library.begun() and not claimed and not mpi_library.loaded("libucp"):
        return "MPI says that it cannot read GPU memory"
    try:
        return _tried(buses)
    except NotTried as obstacle:
        return None if claimed else f"not probed: {obstacle}; set {FORCE}=1 if MPI reads GPU memory"


def _forced(answer: str) -> str | None:
    if answer not in ("0", "1"):
        raise InputError(f"{FORCE} = {answer!r} must be 1 (MPI reads GPU memory) or 0")
    return None if answer == "1" else f"{FORCE} = 0 rules it out"


def _tried(buses: Sequence[str]) -> str | None:
    mpiexec = mpi_library.launcher()
    if mpiexec is None:
        raise NotTried("there is no mpiexec to start a trial with")
    program = [sys.executable, "-m", "groundswell.exchange.probe_gpu_mpi"]
    command = [mpiexec, "-n", str(RANKS), *program, *[*buses, *buses][:RANKS]]
    return understood(*run(command))


def run(command: Sequence[str], seconds: float = SECONDS + GRACE_SECONDS) -> tuple[int | None, str]:
    """Exit status (None: out of time) and output of a job of its own."""
    try:
        done = subprocess.run(
            command,
            env=fresh(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
            start_new_session=True,
        )
    except OSError as error:
        raise NotTried(f"{command[0]} cannot be started ({error})") from error
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def fresh(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without a job."""
    kept = {
        name: value
        for name, value in environment.items()
        if name.startswith(CHOICES) or not name.startswith(tuple(FOREIGN))
    }
    return kept | SETTINGS


def understood(status: int | None, output: str) -> str | None:
    """What the processes have found; None if messages arrive.

    Raises:
        NotTried: they came to nothing.
    """
    lines = [line.removeprefix(MARK) for line in output.splitlines() if line.startswith(MARK)]
    last = lines[-1] if lines else ""
    if last.startswith(NOT_TRIED):
        raise NotTried(last.removeprefix(NOT_TRIED))
    if not lines:
        words = " ".join(output.replace("-----", "").split())
        raise NotTried(f"mpiexec started no trial (exit status {status}): {words[:WORDS]}")
    if status == 0 and last == WORKS:
        return None
    if last not in (BEGUN, WORKS):
        return last
    ended = f"stopped after {SECONDS} s" if status is None else f"ended with exit status {status}"
    return f"processes that tried to send GPU memory {ended}"


# --- the processes --------------------------------------------------------------------------------


def main() -> None:
    """Try it, and say how it went."""
    end_in(SECONDS)
    from mpi4py import MPI

    found = _trial(MPI.COMM_WORLD, sys.argv[1:])
    if MPI.COMM_WORLD.rank == 0:
        _say(found)


def end_in(seconds: int) -> None:
    """End this process then whatever it does, and leave no core file if it crashes."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _trial(comm: Any, buses: Sequence[str]) -> str:
    if comm.size != RANKS:
        return f"{NOT_TRIED}mpiexec does not belong to the MPI library of mpi4py"
    backend, obstacle = None, None
    try:
        backend = _opened(buses[comm.rank])
    except BackendError as error:
        obstacle = str(error)
    obstacles = [o for o in comm.allgather(obstacle) if o]
    if obstacles or backend is None:
        return f"{NOT_TRIED}{obstacles[0]}"
    if comm.rank == 0:
        _say(BEGUN)
    arrived = [received(comm, backend, size) for size in SIZES]
    return WORKS if all(comm.allgather(all(arrived))) else "values arrive wrong"


def _opened(bus: str) -> Backend:
    """The GPU there, or another one if this process cannot see it."""
    from groundswell.backends.cuda import pci_bus_ids

    buses = pci_bus_ids()
    return open_backend("cuda", buses.index(bus) if bus in buses else None)


def received(comm: Any, backend: Backend, size: int) -> bool:
    """Whether this rank gets what the other one of two sends from its device's memory."""
    from mpi4py import MPI

    values = [np.random.default_rng(rank).integers(0, 256, size, np.uint8) for rank in range(RANKS)]
    peer = 1 - comm.rank
    mine, other = backend.to_device(values[comm.rank]), backend.zeros((size,), np.uint8)
    backend.synchronize()
    places = [MPI.memory.fromaddress(backend.address(array), size) for array in (mine, other)]
    arrival = comm.Irecv([places[1], MPI.BYTE], peer)
    comm.Send([places[0], MPI.BYTE], peer)
    arrival.Wait()
    return np.array_equal(backend.to_host(other), values[peer])


def _say(words: str) -> None:
    print(MARK + words, flush=True)


if __name__ == "__main__":
    main()
