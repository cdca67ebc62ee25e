"""Interactive simulations: advance a case from Python and access its fields on the device."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from numpy.typing import NDArray

from groundswell.backends import Array, Listing
from groundswell.backends.array_interop import array_interop
from groundswell.case import Case
from groundswell.errors import InputError, quoted
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation import checkpoint
from groundswell.simulation.driver import driver_of
from groundswell.simulation.preparation import open_solver, prepare, shared_digest
from groundswell.simulation.signals import StopRequest, stop_request
from groundswell.simulation.solve import Solve
from groundswell.simulation.solver import Listed, Setup, Solver, TimeDependent, TimeStepper
from groundswell.simulation.time_loop import TimeLoop


class Simulation:
    """A simulation that Python code advances and inspects.

    It writes no results (use `run` for these), and checkpoints only on request. On several ranks,
    all of them must create it and call its methods together.

        with Simulation("case.toml", backend="cuda") as simulation:
            while simulation.advance(100):
                print(simulation.time, abs(simulation.fields["vx"]).max())

    Args:
        case: a case, or the path of an input file.
        backend, precision: replace those of the case.
        restart: a checkpoint to start from, of the same case, backend and precision.

    Raises:
        InputError: the case cannot run as requested, or the checkpoint is of another case.
    """

    def __init__(
        self,
        case: Case | str | Path,
        backend: str | None = None,
        *,
        precision: str | None = None,
        restart: str | Path | None = None,
    ) -> None:
        job = get_communicator()
        setup = prepare(case, job, backend=backend, precision=precision)
        self._digest = shared_digest(setup, job)
        self._opened = open_solver(setup, job, measure=False)
        self._interop = array_interop(self._opened.backend)
        self._driver = driver_of(self._opened, {}, None, self._digest)
        self._closed = False
        if restart is not None:
            self._restore(Path(restart))

    # --- advancing --------------------------------------------------------------------------------

    def advance(self, steps: int | None = None) -> int:
        """Advance by a number of steps, or to the end of the case or a steady state.

        Solvers that make several steps at once may make a few more.

        Args:
            steps: number of steps; by default all that are left.

        Returns:
            The number of steps made; 0 when the simulation is complete.

        Raises:
            InputError: the solver is direct; call `solve` instead.
            Interrupted: a signal stopped the simulation; it can be advanced again.
            RunFailed: a value became infinite or NaN, or waves grow without a source.
        """
        loop, last = self._time_loop("advance"), self.setup.steps
        if steps is not None and (isinstance(steps, bool) or int(steps) != steps or steps < 0):
            raise InputError(f"advance({steps!r}): give a whole number of steps, 0 or more")
        first = loop.step
        self._interop.synchronize_device()  # wait for the user's own work on the fields
        with stop_request() as stop:
            total = last if steps is None else min(first + int(steps), last)
            loop.run(total, _silent, stop)
        return loop.step - first

    def solve(self) -> None:
        """Compute the solution with a direct solver.

        Raises:
            InputError: the solver advances in steps; call `advance` instead.
        """
        self._require_open()
        if not isinstance(self._driver, Solve):
            raise InputError(f"the solver {self._name} advances in steps; call advance() instead")
        self._driver.run(self.setup.steps, _silent, StopRequest())

    def checkpoint(self, path: str | Path) -> None:
        """Write the state to a file for `restart`; other ranks write to the same folder.

        Raises:
            InputError: the solver is direct, or the path is not writable.
            RunFailed: the disk is full.
        """
        self._time_loop("checkpoint").save(Path(path))

    # --- inspecting -------------------------------------------------------------------------------

    @property
    def fields(self) -> Mapping[str, Array]:
        """Views of the fields on the device, by name.

        The views are NumPy arrays on a CPU and CuPy arrays on a GPU. Other libraries can use them
        through DLPack or `__cuda_array_interface__`. Each rank has its own part; `gather` returns
        the whole. The views always show the latest step. Values written to them take effect, but
        do not update ghost values of neighbouring ranks and boundary conditions.
        """
        self._require_open()
        found = self.solver.distributed_fields()
        return MappingProxyType({name: field.array for name, field in found.items()})

    def gather(self, name: str) -> NDArray[Any] | None:
        """A copy of a whole field at rank 0, None on other ranks; all ranks must call it.

        Raises:
            InputError: there is no field of this name.
        """
        self._require_open()
        found = self.solver.distributed_fields()
        if name not in found:
            raise InputError(f"no field is called {quoted(name)}; there are {', '.join(found)}")
        return found[name].gather(self._opened.backend, self._opened.comm)

    @property
    def launches(self) -> Listing:
        """The launches of one step on this rank, which `print` shows as a table.

        Solvers that make several steps at once list them all. A direct solver lists the launches
        of an iteration.

        Raises:
            InputError: the solver cannot list its launches.
        """
        self._require_open()
        if not isinstance(self.solver, Listed):
            raise InputError(f"the solver {self._name} cannot list the launches of a step")
        return self.solver.list_step()

    @property
    def step(self) -> int:
        """Steps done, including those before `restart`."""
        return self._driver.step

    @property
    def time(self) -> float | None:
        """Simulated time, s; None for solvers without a time."""
        solver = self.solver
        return solver.time(self.step) if isinstance(solver, TimeDependent) else None

    @property
    def status(self) -> str:
        """The progress as a short text."""
        return self.solver.status(self.step)

    @property
    def setup(self) -> Setup:
        """The set-up of the case."""
        return self._opened.setup

    @property
    def solver(self) -> Solver:
        """This rank's part of the solver."""
        return self._opened.solver

    # --- closing ----------------------------------------------------------------------------------

    def close(self) -> None:
        """Release resources shared with other ranks; all ranks must call it."""
        if not self._closed:
            self._closed = True
            self._opened.solver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or self._opened.comm.size == 1:  # after an error, other ranks may be stuck
            self.close()

    def __repr__(self) -> str:
        return f"Simulation({self._name}, step {self.step}, on {self._opened.backend.device})"

    # --- details ----------------------------------------------------------------------------------

    @property
    def _name(self) -> str:
        return quoted(self.setup.case.solver)

    def _time_loop(self, act: str) -> TimeLoop:
        self._require_open()
        if not isinstance(self._driver, TimeLoop):
            raise InputError(
                f"the solver {self._name} makes no steps, so there is no {act}; call solve()"
            )
        return self._driver

    def _require_open(self) -> None:
        if self._closed:
            raise InputError("this simulation is closed; make a new one")

    def _restore(self, path: Path) -> None:
        opened, solver = self._opened, self.solver
        self._time_loop("restart")
        assert isinstance(solver, TimeStepper)
        done = opened.comm.collective_try(lambda: checkpoint.read_progress(path, self._digest))
        opened.comm.collective_try(
            lambda: checkpoint.restore(path, opened.backend, solver.state(), done)
        )
        self._driver = driver_of(opened, {}, None, self._digest, done.step)


def _silent(step: int, updates: int) -> None:
    """Report no progress."""
