"""Interactive simulations: advance a case from Python and access its fields on the device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from groundswell.backends.array_interop import array_interop
from groundswell.case import CaseInput, Settings
from groundswell.errors import InputError
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation import checkpoint
from groundswell.simulation.callbacks import Callback, calls_of
from groundswell.simulation.driver import driver_of
from groundswell.simulation.live_run import LiveRun
from groundswell.simulation.preparation import open_solver, prepare, shared_digest
from groundswell.simulation.signals import StopRequest, stop_request
from groundswell.simulation.solve import Solve
from groundswell.simulation.solver import TimeStepper


class Simulation(LiveRun):
    """A simulation that Python code advances and inspects.

    It writes no results (use `run` for these), and checkpoints only on request. On several ranks,
    all of them must create it and call its methods together.

    >>> import groundswell as gs
    >>> moving = {"time.duration": 0.4, "time.step": 0.1}
    >>> with gs.Simulation("case.toml", settings=moving) as simulation:
    ...     while simulation.advance(2):
    ...         print(round(simulation.time, 1), simulation.fields["T"].shape[-1])
    0.2 27
    0.4 27

    Args:
        case: the path of an input file, the tables of a case as a dictionary, or a `Case`.
        backend, precision: replace those of the case.
        settings: other values of the case file to replace, by path, such as {"source.0.x": "2 km"}.
        restart: a checkpoint to start from, of the same case, backend and precision.

    Raises:
        InputError: the case cannot run as requested, or the checkpoint is of another case.
    """

    def __init__(
        self,
        case: CaseInput,
        backend: str | None = None,
        *,
        precision: str | None = None,
        settings: Settings | None = None,
        restart: str | Path | None = None,
    ) -> None:
        job = get_communicator()
        setup = prepare(case, job, backend=backend, precision=precision, settings=settings)
        self._digest = shared_digest(setup.case, job)
        opened = open_solver(setup, job, measure="never")
        super().__init__(opened, driver_of(opened, {}, None, self._digest))
        self._interop = array_interop(opened.backend)
        if restart is not None:
            self._restore(Path(restart))

    # --- advancing --------------------------------------------------------------------------------

    def advance(self, steps: int | None = None, *, callbacks: Sequence[Callback] = ()) -> int:
        """Advance by a number of steps, or to the end of the case or a steady state.

        Solvers that make several steps at once may make a few more.

        Args:
            steps: number of steps; by default all that are left.
            callbacks: functions to call in between; see `every`.

        Returns:
            The number of steps made; 0 when the simulation is complete.

        Raises:
            InputError: the solver is direct; call `solve` instead.
            Interrupted: a signal or a callback stopped the simulation; it can be advanced again.
            RunFailed: a value became infinite or NaN, or waves grow without a source.
        """
        loop, last = self._time_loop("advance"), self.setup.steps
        if steps is not None and (isinstance(steps, bool) or int(steps) != steps or steps < 0):
            raise InputError(f"advance({steps!r}): give a whole number of steps, 0 or more")
        first = loop.step
        self._interop.synchronize_device()  # wait for the user's own work on the fields
        with stop_request() as stop:
            total = last if steps is None else min(first + int(steps), last)
            loop.run(total, _silent, stop, calls_of(callbacks, self, self._interop))
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
