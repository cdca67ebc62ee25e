"""The commands kspaceFirstOrder-OMP (CPU) and kspaceFirstOrder-CUDA (GPU).

They translate arguments, messages and exit codes; the time loop is that of all solvers. The exit
code is 0 if the simulation is complete or ends with a checkpoint. It is 1 after any error, with one
message on standard error.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from groundswell.errors import GroundswellError, known_to_all
from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.formats.atomic import resource_error
from groundswell.simulation.signals import stop_request
from groundswell.solvers.ultrasound.kwave.arguments import in_options, parse
from groundswell.solvers.ultrasound.kwave.leg import CUDA, OMP, run_leg
from groundswell.version import __version__


def main_omp(arguments: Sequence[str] | None = None) -> int:
    """Run kspaceFirstOrder-OMP, by default with the process's arguments; returns the exit code."""
    return main(OMP, arguments)


def main_cuda(arguments: Sequence[str] | None = None) -> int:
    """Run kspaceFirstOrder-CUDA, by default with the process's arguments; returns the exit code."""
    return main(CUDA, arguments)


def main(program: str, arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; returns the exit code."""
    try:
        job = get_communicator()
        with _quiet_unless_first(job), stop_request() as stop, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about values that are not finite; `Leg` reports them
            options = parse(program, f"{program} of Groundswell {__version__}", arguments)
            run_leg(program, options, job, stop)
    except SystemExit as end:  # --help, --version or invalid arguments
        return end.code if isinstance(end.code, int) else 1
    except KeyboardInterrupt:
        return _fail(program, "interrupted")
    except MemoryError as error:
        return _fail(program, f"out of memory ({error}); use a smaller grid")
    except (GroundswellError, OSError, RuntimeError) as error:  # HDF5 raises RuntimeError, too
        known = resource_error(error) if isinstance(error, OSError) else None
        return _fail(program, in_options(str(known or error)), everywhere=known_to_all(error))
    return 0


@contextmanager
def _quiet_unless_first(job: Communicator) -> Iterator[None]:
    """Silence all ranks but rank 0."""
    if job.first:
        yield
        return
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def _fail(program: str, message: str, *, everywhere: bool = False) -> int:
    """Print a message once, and end the job if the other ranks do not know of the error."""
    job = get_communicator()
    if job.speaks or not everywhere:
        print(f"{program}: error: {message}", file=sys.stderr, flush=True)
    if job.size > 1 and not everywhere:
        job.abort(1)
    return 1


if __name__ == "__main__":
    sys.exit(main_omp())
