"""A case that is being computed: where it stands, and its fields on the device."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Listing
from groundswell.errors import InputError, quoted
from groundswell.simulation.preparation import OpenSolver
from groundswell.simulation.solve import Solve
from groundswell.simulation.solver import Listed, Setup, Solver, TimeDependent
from groundswell.simulation.time_loop import TimeLoop


class LiveRun:
    """A case that is being computed, as callbacks see it.

    >>> import groundswell as gs
    >>> def watch(live: gs.LiveRun) -> None:
    ...     temperature = live.gather("T")
    ...     if temperature is not None:  # on rank 0
    ...         print(f"{live.time:.1f}: {temperature.max():.2f}")
    >>> moving = {"time.duration": 0.4, "time.step": 0.1}
    >>> calls = [gs.every(2, watch)]
    >>> result = gs.run("case.toml", folder="moving", settings=moving, callbacks=calls)
    0.2: 0.31
    0.4: 0.37

    On several ranks each has a part of the fields, and all of them must call `gather` together.
    """

    def __init__(self, opened: OpenSolver, driver: TimeLoop | Solve) -> None:
        self._opened = opened
        self._driver = driver
        self._closed = False

    def stop(self) -> None:
        """Ask for a stop after the present step, as a signal does; one rank is enough.

        Raises:
            InputError: the solver makes no steps.
        """
        self._time_loop("stop").stop_asked = True

    @property
    def fields(self) -> Mapping[str, DeviceArray]:
        """Views of the fields on the device, by name.

        The views are NumPy arrays on a CPU and CuPy arrays on a GPU. Other libraries can use them
        through DLPack or `__cuda_array_interface__`. Each rank has its own part; `gather` returns
        the whole. The views always show the latest step. Values written to them take effect, but
        do not update ghost values of neighbouring ranks and boundary conditions.
        """
        self._require_open()
        found = self.solver.distributed_fields()
        return MappingProxyType({name: field.array for name, field in found.items()})

    def gather(self, name: str) -> HostArray | None:
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
        """Simulated time, s, or without a unit in dimensionless cases; None without a time."""
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

    def _repr_html_(self) -> str:
        """HTML for notebooks: the progress of the case, and its fields on this rank."""
        rows = {"solver": self.setup.case.solver, "step": f"{self.step:,} of {self.setup.steps:,}"}
        if self.time is not None:
            rows["time"] = f"{self.time:.6g} s"
        rows["device"] = self._opened.backend.device
        if not self._closed:
            rows |= {name: f"{field.shape} {field.dtype}" for name, field in self.fields.items()}
        cells = (f"<tr><td>{escape(k)}</td><td>{escape(str(v))}</td></tr>" for k, v in rows.items())
        return f"<h4>{escape(self.setup.case.title)}</h4><table>{''.join(cells)}</table>"

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
