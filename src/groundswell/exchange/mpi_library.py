"""The MPI library of this process: version, thread level, mpiexec, and support of GPU memory.

A library that cannot read GPU memory reports no error but ends the process with a segmentation
fault. A library that uses UCX may read it although it reports that it cannot. So this module also
is a program: it tries messages between two GPUs, in a job of its own.

    mpiexec -n 2 python -m groundswell.exchange.mpi_library BUS BUS
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.backends import Backend, open_backend
from groundswell.errors import BackendError, InputError
from groundswell.exchange.devices import gpu_buses
from groundswell.exchange.mpi_communicator import get_communicator

THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")  # in the standard's order
MPIX_GPU_SUPPORT_CUDA = 0


@cache
def load() -> Any:
    """mpi4py's MPI module; does not initialise MPI in a single process.

    Raises:
        BackendError: mpi4py or its library is missing.
    """
    get_communicator()  # initialises MPI if there are several processes
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise BackendError(
            f"MPI cannot be used ({error}); `pip install 'groundswell[mpi]'`"
        ) from error
    return MPI


def is_active() -> bool:
    """Whether MPI is initialised and not finalised."""
    mpi = load()
    return bool(mpi.Is_initialized() and not mpi.Is_finalized())


def thread_level() -> str | None:
    """The thread level of MPI; None before MPI is initialised."""
    mpi = load()
    levels = (mpi.THREAD_SINGLE, mpi.THREAD_FUNNELED, mpi.THREAD_SERIALIZED, mpi.THREAD_MULTIPLE)
    return THREAD_LEVELS[levels.index(mpi.Query_thread())] if is_active() else None


def describe() -> dict[str, Any]:
    """Library, version of the standard, thread level and mpiexec, or why there is no library."""
    try:
        library = version()
    except BackendError as error:
        return {"library": None, "reason": str(error)}
    return {
        "library": library,
        "standard": ".".join(map(str, load().Get_version())),
        "thread_level": thread_level(),
        "mpiexec": find_mpiexec(),
    }


def version() -> str:
    """The library's name and version."""
    first = load().Get_library_version().splitlines()[0].split(",")[0]
    return " ".join(first.split())


def reports_gpu_support() -> bool:
    """Whether the library reports that it accepts GPU memory; False if it cannot report it."""
    if not is_active():
        return False
    # The dynamic linker also searches the libraries of mpi4py.
    library = ctypes.CDLL(load().__file__)
    if hasattr(library, "MPIX_GPU_query_support"):  # MPICH and its derivatives
        answer = ctypes.c_int(0)
        failed = library.MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, ctypes.byref(answer))
        return bool(answer.value) and not failed
    if hasattr(library, "MPIX_Query_cuda_support"):  # Open MPI
        return bool(library.MPIX_Query_cuda_support())
    return False


def loaded_file(prefix: str) -> Path | None:
    """The file of a shared library in this process, by the beginning of its name."""
    with Path("/proc/self/maps").open(encoding="utf-8") as maps:
        files = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    paths = (Path(file) for file in sorted(files))
    return next((path for path in paths if path.name.startswith(prefix)), None)


def find_mpiexec() -> str | None:
    """The mpiexec of the library, or else the first one on the path."""
    load()
    library = loaded_file("libmpi")
    folders = [str(folder / "bin") for folder in library.parents] if library else []
    return shutil.which("mpiexec", path=os.pathsep.join(folders)) or shutil.which("mpiexec")


# --- GPU memory -----------------------------------------------------------------------------------

VARIABLE = "GROUNDSWELL_GPU_MPI"  # the user's answer: 1 or 0
SECONDS = 30  # time limit of the processes
GRACE_SECONDS = 10  # for mpiexec to start them, and to notice that they have ended
RANKS = 2
SIZES = (1 << 13, 1 << 23)  # bytes; MPI has different protocols for short and long messages

MOST_OUTPUT = 300  # characters of mpiexec's output in a message
# The processes print STARTED, and then WORKS or what is wrong; or only why they cannot start.
PREFIX = "groundswell-probe: "  # of the lines for the parent
STARTED, WORKS = "started", "works"

# Variables that describe the parent's job, which would confuse the new one. Those that choose the
# protocol of messages are not among them: it must be the same.
JOB = re.compile(
    "OMPI_(?!MCA_(pml|mtl|btl|smsc|opal_|mpi_|accelerator|rcache|mpool))|ORTE_|PRTE_|PMIX_|PMI_|"
    "HYDRA_|HYDI_|PALS_|MPI_LOCAL|SLURM_|PBS_|LSB_"
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


@cache
def gpu_obstacle(buses: tuple[str, ...]) -> str | None:
    """Why MPI does not accept memory of these GPUs; None if it does.

    GROUNDSWELL_GPU_MPI overrides the probe. If no probe is possible, the library's own report
    counts.

    Args:
        buses: PCI bus ids of the GPUs of one or two ranks.

    Raises:
        InputError: GROUNDSWELL_GPU_MPI is neither 1 nor 0.
    """
    answer = os.environ.get(VARIABLE, "")
    if answer not in ("", "0", "1"):
        raise InputError(f"{VARIABLE} = {answer!r} must be 1 (MPI reads GPU memory) or 0")
    if answer:
        return None if answer == "1" else f"{VARIABLE} = 0 rules it out"
    reported = reports_gpu_support()
    if is_active() and not reported and not loaded_file("libucp"):
        return "MPI reports that it cannot read GPU memory"
    try:
        return probe(buses)
    except NotProbed as why:
        return None if reported else f"not probed: {why}; set {VARIABLE}=1 if MPI reads GPU memory"


def probe(buses: Sequence[str]) -> str | None:
    """Send messages between two processes on these GPUs; returns and raises as `parse`."""
    mpiexec = find_mpiexec()
    if mpiexec is None:
        raise NotProbed("there is no mpiexec to start processes with")
    program = [sys.executable, "-m", "groundswell.exchange.mpi_library"]
    return parse(*run([mpiexec, "-n", str(RANKS), *program, *[*buses, *buses][:RANKS]]))


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
    return {name: value for name, value in environment.items() if not JOB.match(name)} | SETTINGS


def parse(status: int | None, output: str) -> str | None:
    """The obstacle that the processes report; None if messages arrive.

    Raises:
        NotProbed: the processes could not send messages.
    """
    lines = [line.removeprefix(PREFIX) for line in output.splitlines() if line.startswith(PREFIX)]
    if not lines:
        text = " ".join(output.replace("-----", "").split())[:MOST_OUTPUT]
        raise NotProbed(f"mpiexec started no processes (exit status {status}): {text}")
    if STARTED not in lines:
        raise NotProbed(lines[0])
    if lines[-1] not in (STARTED, WORKS):
        return lines[-1]
    if status == 0 and lines[-1] == WORKS:
        return None
    ended = f"stopped after {SECONDS} s" if status is None else f"ended with exit status {status}"
    return f"processes that tried to send GPU memory {ended}"


# --- the processes that try it --------------------------------------------------------------------


def main() -> None:
    """Send messages from GPU memory, and print the result for the parent."""
    limit_time(SECONDS)
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    result = _exchange_all(comm, sys.argv[1:])
    if comm.rank == 0:
        report(result)


def limit_time(seconds: int) -> None:
    """End this process after a time, whatever it does, and write no core file if it crashes."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _exchange_all(comm: Any, buses: Sequence[str]) -> str:
    if comm.size != RANKS:
        return "mpiexec does not belong to the MPI library of mpi4py"
    try:
        visible, bus, error = gpu_buses(), buses[comm.rank], ""
        # Another one if this process cannot see it.
        backend = open_backend("cuda", visible.index(bus) if bus in visible else None)
    except BackendError as failure:
        error = str(failure)
    if errors := [text for text in comm.allgather(error) if text]:
        return str(errors[0])
    if comm.rank == 0:
        report(STARTED)
    arrived = [exchange(comm, backend, size) for size in SIZES]
    return WORKS if all(comm.allgather(all(arrived))) else "values arrive wrong"


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
