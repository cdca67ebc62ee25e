"""The earthquake solver: anelastic waves, fourth order in space and second order in time.

The method is that of AWP-ODC (Olsen 1994; Cui et al. 2010): velocity-stress leapfrog (Virieux 1986;
Levander 1988; Graves 1996) with coarse-grained memory variables (Day & Bradley 2001), stress
imaging at the free surface, and convolutional absorbing layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from groundswell.arrays import DeviceArray, HostArray
from groundswell.backends import Backend, Cells, Launch
from groundswell.backends.base import ROW_ALIGNMENT, Event, in_order
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.exchange.decomposition import Block
from groundswell.exchange.halo import HaloExchange
from groundswell.exchange.tuning import Choice
from groundswell.grids.cartesian import Field, Layout
from groundswell.outputs.distributed_array import DistributedArray
from groundswell.seismology.recording.reports import Reports
from groundswell.seismology.sources.point_sources import end_of
from groundswell.seismology.time_steps import STABLER
from groundswell.simulation.exchanging import ExplicitSolver, boundary_first, part_of
from groundswell.simulation.finite_check import NonFiniteSearch, positions_in
from groundswell.solvers.earthquake.absorbing_layers import AbsorbingLayers
from groundswell.solvers.earthquake.fault_slip import RankGrid
from groundswell.solvers.earthquake.halo import (
    VELOCITIES,
    GhostLayers,
    decompose_grid,
    halo_fields,
    stress_halo,
    velocity_halo,
)
from groundswell.solvers.earthquake.material_classes import load_materials
from groundswell.solvers.earthquake.materials import mechanism_table
from groundswell.solvers.earthquake.outputs import Outputs
from groundswell.solvers.earthquake.plasticity.build import build_rheology
from groundswell.solvers.earthquake.plasticity.rank import keeps_peaks
from groundswell.solvers.earthquake.rank_faults import RankFaults
from groundswell.solvers.earthquake.rank_fields import RankFields
from groundswell.solvers.earthquake.sea_floor_launches import SeaFloor
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.source_injection import inject, injection_tables
from groundswell.solvers.earthquake.state import layer_arrays, surface_array
from groundswell.solvers.earthquake.step_source import cells_in_bands, step_source

STRESSES = ("sxx", "syy", "szz", "sxy", "sxz", "syz")
MEMORIES = ("rxx", "ryy", "rzz", "rxy", "rxz", "ryz")

# Cells along z and y at a boundary of a block that are updated first, so that exchange overlaps the
# rest: at least the neighbours' ghost layers, and whole thread blocks. Along x it is a cache line.
THICKNESS = (2, 4)


class Earthquake(Reports, ExplicitSolver):
    """The earthquake solver on one rank; `step` advances it by `setup.dt`.

    >>> import groundswell as gs
    >>> with gs.Simulation("earthquake.toml") as simulation:
    ...     steps = simulation.advance(3)
    ...     type(simulation.solver).__name__, simulation.fields["vx"].shape  # z, y, x
    ('Earthquake', (30, 60, 60))

    Args:
        comm: the ranks among which the grid is decomposed.
    """

    remedy = STABLER

    def __init__(self, setup: Setup, backend: Backend, comm: Communicator | None = None) -> None:
        self.setup = setup
        self.backend = backend
        self.comm = comm or SerialCommunicator()
        self.decomposition = decompose_grid(setup, self.comm.size)
        self.part = part_of(setup.grid, self.decomposition, self.comm.rank)
        self.layout = Layout(self.part.cells, np.dtype(setup.dtype).itemsize)
        self.has_surface = setup.ground.free_surface and self.part.start[2] == 0
        self.attenuated = setup.ground.relaxation is not None
        self.fields = {
            name: Field(backend, self.layout, setup.dtype) for name in (*VELOCITIES, *STRESSES)
        }
        if self.attenuated:
            dtype = np.float16 if setup.has_half_memory else setup.dtype
            self.fields |= {name: Field(backend, self.layout, dtype) for name in MEMORIES}
        self._placeholder = backend.zeros((1,), setup.dtype)
        self.clock = backend.zeros((1,), np.int64)
        self.materials = load_materials(setup, backend, self.part, self.layout)
        self.layers = AbsorbingLayers(setup.absorption, setup.dtype, backend, self.part)
        about = (setup, self.part, self.layout, self.materials, self.layers)
        source = step_source(*about, peaks=keeps_peaks(setup, backend))
        self.module = backend.compile(source)
        self.sea_floor = SeaFloor(setup, backend, self.part, self.module)
        self.rheology = build_rheology(setup, backend, self.part, self.materials)
        self.fields |= self.rheology.fields
        fields = {name: field.interior for name, field in self.fields.items()}
        where = (backend, self.comm, self.part)
        compliance = self.materials.arguments("compliance")
        soft = compliance["compliance"], compliance["classes"]
        grid = RankGrid(self.part, setup.dtype, setup.dt, setup.time_axis.start)
        self.faults = RankFaults(backend, self.comm, setup.faults, self.decomposition, grid)
        own = RankFields(*where, fields, soft, self.clock, self.module, source, self.faults)
        self.outputs = Outputs(setup, own)
        self.set_exchange(self.first_choice())
        positions = positions_in(self.part, ("x", "y", "depth"))
        self.finite_check = NonFiniteSearch(backend, self._pick(*VELOCITIES), self.time, positions)

    # --- the step ---------------------------------------------------------------------------------

    def set_exchange(self, choice: Choice) -> None:
        """Set how halos are exchanged; collective."""
        self.close()
        self.choice = choice
        self.exchanges = self._exchanges()
        self.small_exchanges = self.faults.connect(choice.transport)
        self._step = in_order(self._compose_step())

    def _compose_step(self) -> list[Launch]:
        """The launches of a step, in order.

        The cells that neighbours read are updated first. Their values are exchanged while the other
        cells are updated.
        """
        concurrently = self.backend.concurrently
        return [
            *concurrently(self._mirror_stress(), *self.outputs.branches),
            *self.faults.advance(self._pick(*STRESSES), self.clock),
            *self._forces,
            *self.update_velocities(),
            *concurrently([*self._mirror_velocity(), *self._strains], self._moments),
            *self.rheology.advance(self._pick(*VELOCITIES), self.exchanges),
            *self.update_stresses(),
        ]

    def update_velocities(self, ticks: int = 1) -> list[Launch]:
        """Launches that update the velocities and their halo.

        Args:
            ticks: number of steps by which the clock advances.
        """
        boundary, interior = self._boxes()
        return self.exchanges[0].overlap_with(
            boundary=self._update_velocity(boundary, 0),
            interior=self._update_velocity(interior, ticks),
        )

    def update_stresses(self, *, yields: bool = True) -> list[Launch]:
        """Launches that update the stresses and their halo.

        Args:
            yields: whether the rock yields, if it can.
        """
        boundary, interior = self._boxes()

        def update(exchange: HaloExchange) -> list[Launch]:
            return exchange.overlap_with(
                boundary=self._update_stress(boundary),
                interior=self._update_stress(interior),
            )

        stresses, boxes = self._pick(*STRESSES), (boundary, interior)
        return self.rheology.complete(update, stresses, boxes, self.exchanges, yields=yields)

    def _boxes(self) -> tuple[list[Block], list[Block]]:
        """The cells to update before an exchange, and those to update during it."""
        thickness = (*THICKNESS, ROW_ALIGNMENT // np.dtype(self.setup.dtype).itemsize)
        overlap = self.choice.overlap
        return boundary_first(self.decomposition, self.comm.rank, thickness, wanted=overlap)

    def _update_velocity(self, boxes: Sequence[Block], ticks: int) -> list[Launch]:
        fields = {**self._pick(*VELOCITIES, *STRESSES), **self._densities}
        layers, clock = self.layers.arguments("velocity"), {"clock": self.clock, "ticks": ticks}
        sponge = {"sponge": self.layers.damping}
        return [
            launch
            for box in boxes
            for launch in (
                self._in_box("update_velocity", box, {**fields, **layers, **clock}),
                *self.sea_floor.correct("correct_velocity", box, {**fields, **sponge}),
            )
        ]

    def _update_stress(self, boxes: Sequence[Block]) -> list[Launch]:
        none = dict.fromkeys(MEMORIES, self._placeholder)
        fields = {
            **self._pick(*STRESSES, *VELOCITIES),
            **(self._pick(*MEMORIES) if self.attenuated else none),
            **self.materials.arguments("lam", "compliance", "inverse_qp", "inverse_qs"),
            "rows": self.materials.corrections,
            "mechanisms": self._mechanisms,
        }
        layers, sponge = self.layers.arguments("stress"), {"sponge": self.layers.damping}
        return [
            launch
            for box in boxes
            for launch in (
                self._in_box("update_stress", box, {**fields, **layers, **self.rheology.peaks}),
                *self.sea_floor.correct("correct_stress", box, {**fields, **sponge}),
                *self.faults.release(fields, box),
                *self.rheology.release(self._pick(*STRESSES), box),
            )
        ]

    @property
    def _densities(self) -> dict[str, DeviceArray]:
        return {**self.materials.arguments("rho"), "rows": self.materials.corrections}

    @cached_property
    def _forces(self) -> list[Launch]:
        tables = injection_tables(self.setup, self.part, self.layout, forces=True)
        fields = {**self._pick(*VELOCITIES), **self._densities, "clock": self.clock}
        return inject(self.backend, self.module, "inject_forces", fields, tables)

    @cached_property
    def _moments(self) -> list[Launch]:
        tables = injection_tables(self.setup, self.part, self.layout, forces=False)
        fields = {**self._pick(*STRESSES), "clock": self.clock}
        return inject(self.backend, self.module, "inject_moments", fields, tables)

    @property
    def _strains(self) -> list[Launch]:
        return self.outputs.green.accumulate if self.outputs.green else []

    def _mirror_velocity(self) -> list[Launch]:
        velocities = self._pick(*VELOCITIES)
        mirror = self._on_surface("mirror_velocity", velocities)
        return [*mirror, *self.faults.release_surface(velocities)]

    def _mirror_stress(self) -> list[Launch]:
        return self._on_surface("mirror_stress", self._pick("szz", "sxz", "syz"))

    def hot_kernels(self) -> dict[str, Launch]:
        """The two kernels that take nearly all the time of a step, for benchmarks."""
        whole = [Block((0, 0, 0), self.part.shape)]
        return {
            "velocity": self._update_velocity(whole, 1)[0],
            "stress": self._update_stress(whole)[0],
        }

    def _exchanges(self) -> tuple[HaloExchange, ...]:
        """The exchanges of velocities, of stresses with what outputs read, and for yielding."""

        def make(needed: Sequence[GhostLayers]) -> HaloExchange:
            fields = halo_fields(self.fields, needed, self.setup.case.run.narrow)
            return self.make_exchange(fields)

        return (
            make(velocity_halo(self.setup.ground.soil)),
            make(stress_halo(self.setup, self.decomposition)),
            *self.rheology.exchanges(self.fields, self.decomposition, self.make_exchange),
        )

    # --- launches ---------------------------------------------------------------------------------

    def _pick(self, *names: str) -> dict[str, DeviceArray]:
        return {name: self.fields[name].interior for name in names}

    def _in_box(self, kernel: str, box: Block, arguments: Mapping[str, Any]) -> Launch:
        names = ("first_k", "first_j", "first_i", "count_k", "count_j", "count_i")
        where = dict(zip(names, (*box.start, *box.shape), strict=True))
        cells = cells_in_bands(box.shape, self.layout.itemsize)
        return self.module.launch(kernel, cells, **arguments, **where)

    def _on_surface(self, kernel: str, fields: Mapping[str, DeviceArray]) -> list[Launch]:
        if not self.has_surface:
            return []
        nx, ny, _ = self.part.cells
        profile_x, profile_y, _ = self.layers.profiles
        arguments = {
            **fields,
            **self.materials.arguments("lam", "compliance"),
            "rows": self.materials.corrections,
            "memory": self.layers.surface_memory[kernel],
            "profile_x": profile_x,
            "profile_y": profile_y,
        }
        return [self.module.launch(kernel, Cells(nx, ny, 1), **arguments)]

    @cached_property
    def _mechanisms(self) -> DeviceArray:
        relaxation = self.setup.ground.relaxation
        if relaxation is None:
            return self._placeholder
        table = mechanism_table(relaxation, self.part, self.setup.dt)
        return self.backend.to_device(table.astype(self.setup.dtype))

    # --- the solver interface ---------------------------------------------------------------------

    @property
    def overlaps(self) -> bool:
        """Whether exchanges overlap with updates."""
        return bool(self._boxes()[0])

    @property
    def exchanged(self) -> tuple[object, ...]:
        """The layers of a step's exchanges, and what its kernels compute."""
        halo = stress_halo(self.setup, self.decomposition)
        rock = type(self.rheology).__name__
        return self.layers.constants(), self.layers.parameters(), self.attenuated, rock, halo

    def timed_step(self) -> list[Launch]:
        """The two updates of a step; they keep zero fields zero and do not advance the clock."""
        return [*self.update_velocities(ticks=0), *self.update_stresses(yields=False)]

    def time(self, step: int) -> float:
        """Simulated time after `step` steps, s."""
        return self.setup.time_axis.time(step)

    def energy(self, after: Event | None = None) -> float:
        """Sum of the squared velocities of this rank's cells; see `check_health`."""
        return self.finite_check.sum_of_squares(VELOCITIES, after)

    def supplied_energy(self, after: Event | None = None) -> float:
        """What faults have released, in the same unit."""
        return self.faults.released(after)

    @cached_property
    def sources_end(self) -> float:
        """Time at which the last source ends, s; infinite in rock that is sheared before."""
        rock = self.setup.plasticity
        is_sheared = rock is not None and rock.initial.is_sheared
        return inf if is_sheared else end_of(self.setup.survey.sources)

    def restart(self) -> None:
        """Do nothing: all fields are still zero."""

    def state(self) -> dict[str, DistributedArray]:
        """All arrays that a checkpoint must save and restore, by name."""
        part = self.part
        state = self.field_state() | dict(layer_arrays(self.layers, part))
        if self.has_surface:
            shape = (4, *part.grid.shape[1:])
            for name, memory in self.layers.surface_memory.items():
                state[f"surface/{name}"] = surface_array(memory, shape, part.start[1::-1])
        return {
            **state,
            **self.rheology.state(),
            **self.outputs.state(),
            "clock": DistributedArray.replicated(self.clock, self.comm),
        }

    def snapshot(self, name: str) -> HostArray:
        """Host copy of a field over this rank's part of the region, (nz, ny, nx)."""
        return self.backend.to_host(self.fields[name].interior[self.part.region_slices])
