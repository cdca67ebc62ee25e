"""Finds out whether MPI accepts GPU memory, by two processes of a job of their own.

    mpiexec -n 2 python -m groundswell.exchange.probe_gpu_mpi BUS BUS

A library that cannot read GPU memory reports no error but ends the process with a segmentation
fault. A library that uses UCX may read it although it reports that it cannot.
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

VARIABLE = "GROUNDSWELL_GPU_MPI"  # the user's answer: 1 or 0
SECONDS = 30  # time limit of the processes
GRACE_SECONDS = 10  # for mpiexec to start them, and to notice that they have ended
RANKS = 2
SIZES = (1 << 13, 1 << 23)  # bytes; MPI has different protocols for short and long messages

MOST_OUTPUT = 300  # characters of mpiexec's output in a message
PREFIX = "groundswell-probe: "  # of the lines for the parent
STARTED, WORKS, NOT_PROBED = "started", "works", "not probed: "

# Variables that describe the parent's job, which would confuse the new one.
JOB_PREFIXES = "OMPI_ ORTE_ PRTE_ PMIX_ PMI_ HYDRA_ HYDI_ PALS_ MPI_LOCAL SLURM_ PBS_ LSB_".split()
# Variables that choose the protocol of messages, which must be the same.
KEPT_PREFIXES = tuple(
    f"OMPI_MCA_{name}" for name in "pml mtl btl smsc opal_ mpi_ accelerator rcache mpool".split()
)
# The new job shares the host, cores and user of its parent.
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    # Open MPI requires a program that reaches other hosts, even if there are none.
    "OMPI_MCA_plm_rsh_agent": "false",
    "PRTE_MCA_plm_ssh_agent": "false",
    "OMP_NUM_THREADS": "1",
}


class NotProbed(Exception):
    """The processes did not start, or have no GPU, so the result is unknown."""


# --- the parent -----------------------------------------------------------------------------------


@cache
def obstacle(buses: tuple[str, ...]) -> str | None:
    """Why MPI does not accept memory of these GPUs; None if it does.

    GROUNDSWELL_GPU_MPI overrides the probe. If no probe is possible, the library's own report
    counts.

    Args:
        buses: PCI bus ids of the GPUs of one or two ranks.

    Raises:
        InputError: GROUNDSWELL_GPU_MPI is neither 1 nor 0.
    """
    if answer := os.environ.get(VARIABLE):
        return _obstacle_by_user(answer)
    reported = mpi_library.reports_gpu_support()
    if mpi_library.is_active() and not reported and not mpi_library.loaded_file("libucp"):
        return "MPI reports that it cannot read GPU memory"
    try:
        return probe(buses)
    except NotProbed as why:
        return None if reported else f"not probed: {why}; set {VARIABLE}=1 if MPI reads GPU memory"


def _obstacle_by_user(answer: str) -> str | None:
    if answer not in ("0", "1"):
        raise InputError(f"{VARIABLE} = {answer!r} must be 1 (MPI reads GPU memory) or 0")
    return None if answer == "1" else f"{VARIABLE} = 0 rules it out"


def probe(buses: Sequence[str]) -> str | None:
    """Send messages between two processes on these GPUs; returns and raises as `parse`."""
    mpiexec = mpi_library.find_mpiexec()
    if mpiexec is None:
        raise NotProbed("there is no mpiexec to start processes with")
    program = [sys.executable, "-m", "groundswell.exchange.probe_gpu_mpi"]
    command = [mpiexec, "-n", str(RANKS), *program, *[*buses, *buses][:RANKS]]
    return parse(*run(command))


def run(command: Sequence[str], seconds: float = SECONDS + GRACE_SECONDS) -> tuple[int | None, str]:
    """Exit status (None after a time-out) and output of a command that starts a job."""
    try:
        done = subprocess.run(
            command,
            env=without_job(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
            start_new_session=True,
        )
    except OSError as error:
        raise NotProbed(f"{command[0]} cannot be started ({error})") from error
    except subprocess.TimeoutExpired as late:
        return None, (late.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def without_job(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which a new job can start."""
    kept = {
        name: value
        for name, value in environment.items()
        if name.startswith(KEPT_PREFIXES) or not name.startswith(tuple(JOB_PREFIXES))
    }
    return kept | SETTINGS


def parse(status: int | None, output: str) -> str | None:
    """The obstacle that the processes report; None if messages arrive.

    Raises:
        NotProbed: the processes could not send messages.
    """
    lines = [line.removeprefix(PREFIX) for line in output.splitlines() if line.startswith(PREFIX)]
    last = lines[-1] if lines else ""
    if last.startswith(NOT_PROBED):
        raise NotProbed(last.removeprefix(NOT_PROBED))
    if not lines:
        text = " ".join(output.replace("-----", "").split())[:MOST_OUTPUT]
        raise NotProbed(f"mpiexec started no processes (exit status {status}): {text}")
    if status == 0 and last == WORKS:
        return None
    if last not in (STARTED, WORKS):
        return last
    ended = f"stopped after {SECONDS} s" if status is None else f"ended with exit status {status}"
    return f"processes that tried to send GPU memory {ended}"


# --- the processes --------------------------------------------------------------------------------


def main() -> None:
    """Send messages from GPU memory, and print the result for the parent."""
    limit_time(SECONDS)
    from mpi4py import MPI

    result = _exchange_all(MPI.COMM_WORLD, sys.argv[1:])
    if MPI.COMM_WORLD.rank == 0:
        report(result)


def limit_time(seconds: int) -> None:
    """End this process after a time, whatever it does, and write no core file if it crashes."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _exchange_all(comm: Any, buses: Sequence[str]) -> str:
    if comm.size != RANKS:
        return f"{NOT_PROBED}mpiexec does not belong to the MPI library of mpi4py"
    backend, error = None, None
    try:
        backend = _open_gpu(buses[comm.rank])
    except BackendError as failure:
        error = str(failure)
    errors = [text for text in comm.allgather(error) if text]
    if errors or backend is None:
        return f"{NOT_PROBED}{errors[0]}"
    if comm.rank == 0:
        report(STARTED)
    arrived = [exchange(comm, backend, size) for size in SIZES]
    return WORKS if all(comm.allgather(all(arrived))) else "values arrive wrong"


def _open_gpu(bus: str) -> Backend:
    """The GPU with this bus id, or another one if this process cannot see it."""
    from groundswell.backends.cuda import pci_bus_ids

    buses = pci_bus_ids()
    return open_backend("cuda", buses.index(bus) if bus in buses else None)


def exchange(comm: Any, backend: Backend, size: int) -> bool:
    """Send bytes of the device's memory to the other rank; returns whether its bytes arrive."""
    from mpi4py import MPI

    values = [np.random.default_rng(rank).integers(0, 256, size, np.uint8) for rank in range(RANKS)]
    peer = 1 - comm.rank
    sent, received = backend.to_device(values[comm.rank]), backend.zeros((size,), np.uint8)
    backend.synchronize()
    buffers = [MPI.memory.fromaddress(backend.address(array), size) for array in (sent, received)]
    arrival = comm.Irecv([buffers[1], MPI.BYTE], peer)
    comm.Send([buffers[0], MPI.BYTE], peer)
    arrival.Wait()
    return np.array_equal(backend.to_host(received), values[peer])


def report(line: str) -> None:
    """Print a line for the parent."""
    print(PREFIX + line, flush=True)


if __name__ == "__main__":
    main()
