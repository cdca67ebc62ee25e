"""The earthquake solver: anelastic waves, fourth order in space and second in time.

Velocity-stress leapfrog (Virieux 1986; Levander 1988; Graves 1996) with coarse-grained memory
variables (Day & Bradley 2001), stress imaging at the free surface, and convolutional absorbing
layers: the method of AWP-ODC (Olsen 1994; Cui et al. 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Cells, Constant, Launch, Source
from groundswell.backends.base import ROW_ALIGNMENT, Array, Event, in_order
from groundswell.exchange.distributed_array import DistributedArray
from groundswell.exchange.exchange import Exchange
from groundswell.exchange.overlap import Box, boundary_first
from groundswell.exchange.tuning import Choice, Tuning
from groundswell.exchange.world import Alone, World
from groundswell.grids.cartesian import Field, Layout
from groundswell.simulation.blocks import ExchangingSolver
from groundswell.solvers.earthquake.absorbing_layers import Layers
from groundswell.solvers.earthquake.autotune import fastest
from groundswell.solvers.earthquake.check_finite import FiniteCheck
from groundswell.solvers.earthquake.halo import (
    VELOCITIES,
    Layer,
    decompose_grid,
    halo_fields,
    part_of,
    stress_halo,
    velocity_halo,
)
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH, surface_weights
from groundswell.solvers.earthquake.materials import Materials, mechanism_table
from groundswell.solvers.earthquake.outputs import Outputs
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.source_injection import Histories, distribute_sources, injection
from groundswell.solvers.earthquake.state import layer_portions, plane_portion

KERNELS = Path(__file__).parent / "kernels"
STRESSES = ("sxx", "syy", "szz", "sxy", "sxz", "syz")
MEMORIES = ("rxx", "ryy", "rzz", "rxy", "rxz", "ryz")

# Cells along z and y that are updated before the others, so that these hide the exchange: at least
# as many as neighbours read, and whole blocks of threads. Along x it is a line of memory.
THICKNESS = (2, 4)


class Earthquake(ExchangingSolver):
    """One rank's part of an earthquake; `step` advances it by `setup.dt`.

    Args:
        world: the ranks that share the grid.

    Attributes:
        part: the cells of this rank.
        cut: who has which cells.
    """

    steps_at_once = 1

    def __init__(self, setup: Setup, backend: Backend, world: World | None = None) -> None:
        self.setup = setup
        self.backend = backend
        self.world = world or Alone()
        self.cut = decompose_grid(setup, self.world.size)
        self.part = part_of(setup.grid, self.cut, self.world.rank)
        self.layout = Layout(self.part.cells, np.dtype(setup.dtype).itemsize)
        self.has_surface = setup.free_surface and self.part.start[2] == 0
        self.attenuated = setup.relaxation is not None
        self.fields = {
            name: Field(backend, self.layout, setup.dtype)
            for name in (*VELOCITIES, *STRESSES, *(MEMORIES if self.attenuated else ()))
        }
        self._nothing = backend.zeros((1,), setup.dtype)
        self.clock = backend.zeros((1,), np.int64)
        self.materials, slowest = self._materials()
        self.layers = Layers(setup, backend, self.part, slowest)
        self.module = backend.compile(self._source())
        self.outputs = Outputs(
            setup, backend, self.module, self._interiors(), self.clock, self.part, self.world
        )
        run = setup.case.run
        self.set_exchange(Choice(run.transport, overlap=bool(run.overlap), codec=run.codecs[0]))
        velocities = {name: self.fields[name].interior for name in VELOCITIES}
        self._finite_check = FiniteCheck(
            setup, backend, self.module, self.part, self.layout, velocities
        )

    # --- the step ---------------------------------------------------------------------------------

    def step(self) -> None:
        """Enqueue one time step."""
        in_order(self._verbs)()

    def set_exchange(self, choice: Choice) -> None:
        """Exchange in another way from now on; every rank must."""
        self.close()
        self.choice = choice
        self.exchanges = self._exchanges()
        self._verbs = self._compose()

    def _compose(self) -> list[Launch]:
        """The step, as the list of what happens in it.

        What neighbours need is updated first; it travels while the rest is updated.
        """
        together = self.backend.together
        return [
            *together(self._mirror_stress(), *([launch] for launch in self.outputs.launches)),
            *self._forces,
            *self.update_velocities(),
            *together(self._mirror_velocity(), self._moments),
            *self.update_stresses(),
        ]

    def update_velocities(self, ticks: int = 1) -> list[Launch]:
        """Velocities of the next step, neighbours' included.

        Args:
            ticks: steps by which the clock moves.
        """
        boundary, interior = self._boxes()
        return self.exchanges[0].hidden_by(
            self._update_velocity(boundary, 0, self.exchanges[0].puts),
            self._update_velocity(interior, ticks),
        )

    def update_stresses(self) -> list[Launch]:
        """Stresses of the next step, neighbours' included."""
        boundary, interior = self._boxes()
        return self.exchanges[1].hidden_by(
            self._update_stress(boundary, self.exchanges[1].puts), self._update_stress(interior)
        )

    def _boxes(self) -> tuple[list[Box], list[Box]]:
        """The cells to update before each exchange, and meanwhile."""
        thickness = (*THICKNESS, ROW_ALIGNMENT // np.dtype(self.setup.dtype).itemsize)
        overlap = self.choice.overlap
        return boundary_first(self.cut, self.world.rank, thickness, wanted=overlap)

    def _update_velocity(
        self, boxes: Sequence[Box], ticks: int, puts: Sequence[Any] = ()
    ) -> list[Launch]:
        kernel = "put_velocity" if puts else "update_velocity"
        fields = [*self._pick(VELOCITIES), *self._pick(STRESSES), self.materials["rho"]]
        layers = self.layers.arguments("velocity")
        return [
            self._in_box(kernel, box, [*fields, *layers], self.clock, ticks, *puts) for box in boxes
        ]

    def _update_stress(self, boxes: Sequence[Box], puts: Sequence[Any] = ()) -> list[Launch]:
        kernel = "put_stress" if puts else "update_stress"
        memories = self._pick(MEMORIES) if self.attenuated else [self._nothing] * 6
        matter = [self.materials[n] for n in ("lam", "compliance", "inverse_qp", "inverse_qs")]
        fields = [*self._pick(STRESSES), *memories, *self._pick(VELOCITIES), *matter]
        layers = [self._mechanisms, *self.layers.arguments("stress")]
        return [self._in_box(kernel, box, [*fields, *layers], *puts) for box in boxes]

    @cached_property
    def _forces(self) -> list[Launch]:
        sources = [s for s in self.setup.sources if s.force is not None]
        fields = [*self._pick(VELOCITIES), self.materials["rho"]]
        return self._injection("inject_forces", fields, sources, forces=True)

    @cached_property
    def _moments(self) -> list[Launch]:
        sources = [s for s in self.setup.sources if s.moment is not None]
        return self._injection("inject_moments", self._pick(STRESSES), sources, forces=False)

    def _mirror_velocity(self) -> list[Launch]:
        return self._on_surface("mirror_velocity", *self._pick(VELOCITIES))

    def _mirror_stress(self) -> list[Launch]:
        return self._on_surface("mirror_stress", *self._pick(("szz", "sxz", "syz")))

    def hot_kernels(self) -> dict[str, Launch]:
        """The two kernels that take nearly all of a step's time, for measurements."""
        whole = [Box((0, 0, 0), self.part.shape)]
        return {
            "velocity": self._update_velocity(whole, 1)[0],
            "stress": self._update_stress(whole)[0],
        }

    def _exchanges(self) -> tuple[Exchange, Exchange]:
        """Of velocities, and of stresses with what recorders read."""
        ahead = bool(self._boxes()[0])

        def make(needed: Sequence[Layer], computed: Sequence[str]) -> Exchange:
            """Fields that kernels compute they can store elsewhere too, those ahead of the rest."""
            names = {n: name for n, (name, _) in enumerate(needed) if ahead and name in computed}
            return Exchange(
                self.backend,
                self.world,
                self.cut,
                halo_fields(self.fields, needed, self.setup.case.run.narrow),
                transport=self.choice.transport,
                aggregate=self.choice.aggregate,
                codec=self.choice.codec,
                stored={n: computed.index(name) for n, name in names.items()},
            )

        velocities = make(velocity_halo(), VELOCITIES)
        return velocities, make(stress_halo(self.setup, self.cut), STRESSES)

    # --- launches ---------------------------------------------------------------------------------

    def _interiors(self) -> dict[str, Array]:
        return {name: field.interior for name, field in self.fields.items()}

    def _pick(self, names: tuple[str, ...]) -> list[Array]:
        return [self.fields[name].interior for name in names]

    def _in_box(self, kernel: str, box: Box, arguments: Sequence[Any], *more: Any) -> Launch:
        extent = Cells(*box.shape[::-1])
        where = (*box.start[::-1], *box.shape[::-1])
        return self.module.launch(kernel, extent, *arguments, *where, *more)

    def _on_surface(self, kernel: str, *fields: Array) -> list[Launch]:
        if not self.has_surface:
            return []
        nx, ny, _ = self.part.cells
        moduli = (self.materials["lam"], self.materials["compliance"])
        memory, profiles = self.layers.surface_memory[kernel], self.layers.profiles[:2]
        arguments = (*fields, *moduli, memory, *profiles)
        return [self.module.launch(kernel, Cells(nx, ny, 1), *arguments)]

    def _injection(
        self, kernel: str, fields: list[Array], sources: list[Any], *, forces: bool
    ) -> list[Launch]:
        setup = self.setup
        shares = distribute_sources(
            self.part,
            self.layout,
            sources,
            forces=forces,
            free_surface=setup.free_surface,
            periodic=setup.periodic,
        )
        if not len(shares):
            return []
        histories = Histories(self.backend, sources, setup.dtype)
        return injection(self.backend, self.module, kernel, fields, shares, histories, self.clock)

    # --- what the kernels are given ---------------------------------------------------------------

    def _materials(self) -> tuple[Materials, NDArray[np.float64]]:
        setup, backend = self.setup, self.backend
        materials = Materials(backend, self.layout, setup.dtype, self.attenuated)
        slowest = materials.load(
            backend, self.part, setup.medium, setup.relaxation, setup.reference, setup.periodic
        )
        return materials, slowest

    @cached_property
    def _mechanisms(self) -> Array:
        relaxation = self.setup.relaxation
        if relaxation is None:
            return self._nothing
        table = mechanism_table(relaxation, self.part, self.setup.dt)
        return self.backend.to_device(table.astype(self.setup.dtype))

    def _source(self) -> Source:
        return Source(KERNELS / "step.h", self._constants())

    def _constants(self) -> dict[str, Constant]:
        setup, part = self.setup, self.part
        constants: dict[str, Constant] = {**self.layout.constants(), **self.layers.constants()}
        if setup.double:
            constants["DOUBLE_PRECISION"] = 1
        for axis, name in enumerate("XYZ"):
            h = part.grid.spacing[axis]
            constants |= {
                f"H{name}": h,
                f"NEAR_{name}": 9 / 8 / h,
                f"FAR_{name}": 1 / 24 / h,
                f"REGION_{name}": part.region[axis],
                f"REGION_START_{name}": part.before[axis],
            }
        return constants | {
            "DT": setup.dt,
            "DT_EXACT": repr(setup.dt),
            "LARGEST": float(np.finfo(setup.dtype).max),
            "ATTENUATION": self.attenuated,
            "FREE_SURFACE": self.has_surface,
            "NEIGHBOURS": self.world.size > 1,
            "SHEAR_REACH": SHEAR_REACH,
            "ABOVE": float(surface_weights(setup.free_surface)[0]),
        }

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def overlaps(self) -> bool:
        """Whether updates hide the exchanges."""
        return bool(self._boxes()[0])

    def autotune(self) -> Tuning | None:
        """Find the fastest way to exchange and adopt it; only while all fields are still zero.

        Rehearsals leave them zero, and the clock where it is.
        """
        if self.world.size == 1:
            return None
        tuning = fastest(self)
        self.set_exchange(tuning.best)
        return tuning

    @property
    def updates_per_step(self) -> int:
        """Lattice points that a step updates, layers included."""
        return self.setup.updates_per_step

    def state(self) -> dict[str, DistributedArray]:
        """Every array that decides what comes next; writing them back restores the moment."""
        part = self.part
        state = {
            name: DistributedArray.of_field(field, part) for name, field in self.fields.items()
        }
        state |= dict(layer_portions(self.layers, part))
        if self.has_surface:
            whole = (4, *part.grid.shape[1:])
            for name, memory in self.layers.surface_memory.items():
                state[f"surface/{name}"] = plane_portion(memory, whole, part.start[1::-1])
        return {
            **state,
            **self.outputs.state(),
            "clock": DistributedArray.replicated(self.clock, self.world),
        }

    def distributed_fields(self) -> dict[str, DistributedArray]:
        """Velocities, stresses and memory variables over the region, (nz, ny, nx)."""
        return {
            name: DistributedArray.of_region(field.interior, self.part)
            for name, field in self.fields.items()
        }

    def time(self, step: int) -> float:
        """The time of velocities after so many steps, s."""
        return step * self.setup.dt

    def status(self, step: int) -> str:
        """Simulated time."""
        return f"t = {self.time(step):.3f} of {self.time(self.setup.steps):.3f} s"

    def enqueue_finite_check(self) -> None:
        """Enqueue a search for values that are not finite."""
        in_order(self._finite_check.launches)()

    def check_health(self, steps: int, after: Event | None = None) -> None:
        """Read what the last finite check before `after` (default: at all) found.

        Raises:
            RunFailed: some value is not finite; names the field, the place and the time. Or a rank
                was waited for in vain; names it.
        """
        super().check_health(steps, after)
        self._finite_check.check(steps, after)

    def snapshot(self, name: str) -> NDArray[Any]:
        """A host copy of a field over this rank's part of the region, (nz, ny, nx)."""
        return self.backend.to_host(self.fields[name].interior[self.part.region_slices])
