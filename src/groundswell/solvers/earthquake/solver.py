"""The earthquake solver: anelastic waves, fourth order in space and second in time.

Velocity-stress leapfrog (Virieux 1986; Levander 1988; Graves 1996) with coarse-grained memory
variables (Day & Bradley 2001), stress imaging at the free surface, and convolutional absorbing
layers: the method of AWP-ODC (Olsen 1994; Cui et al. 2010).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundswell.backends import Backend, Cells, Constant, Launch, Source
from groundswell.backends.base import Array, Event
from groundswell.errors import RunFailed
from groundswell.exchange.periodic import periodic_exchange
from groundswell.grids.cartesian import GHOSTS, Field
from groundswell.solvers.earthquake.absorption import MatchedLayer, coupling, sponge
from groundswell.solvers.earthquake.interpolation import SHEAR_REACH, surface_weights
from groundswell.solvers.earthquake.materials import Materials, mechanism_table
from groundswell.solvers.earthquake.recorders import Recorders
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.shares import Histories, injection, share_out

KERNELS = Path(__file__).parent / "kernels"
VELOCITIES = ("vx", "vy", "vz")
STRESSES = ("sxx", "syy", "szz", "sxy", "sxz", "syz")
MEMORIES = ("rxx", "ryy", "rzz", "rxy", "rxz", "ryz")
AXES = ("x", "y", "z")


class Earthquake:
    """One earthquake on one device; `step` advances it by `setup.dt`."""

    unit = "MLUPS"  # million lattice points updated a second

    @staticmethod
    def prepare(case: Any) -> Setup:
        """Read and check everything that the case names, without a device."""
        return Setup.from_case(case)

    def __init__(self, setup: Setup, backend: Backend) -> None:
        self.setup = setup
        self.backend = backend
        self.attenuated = setup.relaxation is not None
        self.fields = {
            name: Field(backend, setup.layout, setup.dtype)
            for name in (*VELOCITIES, *STRESSES, *(MEMORIES if self.attenuated else ()))
        }
        self._nothing = backend.zeros((1,), setup.dtype)
        self.clock = backend.zeros((1,), np.int64)
        self.layer_memory = self._layer_memory()
        self.surface_memory = {
            kernel: backend.zeros((4, *setup.grid.shape[1:]), setup.dtype)
            for kernel in (("mirror_velocity", "mirror_stress") if setup.free_surface else ())
        }
        self.materials = Materials(backend, setup.layout, setup.dtype, self.attenuated)
        self.materials.load(
            backend,
            setup.grid,
            setup.medium,
            setup.relaxation,
            setup.reference,
            setup.periodic,
        )
        self._coupling = self._side_coupling()
        self.module = backend.compile(self._source())
        self.recorders = Recorders(setup, backend, self.module, self._interiors(), self.clock)
        self._verbs = self._compose()
        self._found = backend.to_device(np.array([-1], np.int64))
        self._guards = self._compose_guards()

    # --- the step ---------------------------------------------------------------------------------

    def step(self) -> None:
        """Enqueue one time step."""
        for verb in self._verbs:
            verb()

    def _compose(self) -> list[Launch]:
        """The step, as the list of what happens in it.

        Moments are added to the stresses of before the update: it does not look at them.
        """
        together = self.backend.together
        return [
            *together(self._mirror_stress(), *([launch] for launch in self.recorders.launches)),
            self._update_velocity(),
            *self._inject_forces(),
            *self._exchange(VELOCITIES),
            *together(self._mirror_velocity(), self._inject_moments()),
            self._update_stress(),
            *self._exchange(STRESSES),
        ]

    def _update_velocity(self) -> Launch:
        return self._over_grid(
            "update_velocity",
            *self._pick(VELOCITIES),
            *self._pick(STRESSES),
            self.materials["rho"],
            *self._layer_arguments("velocity"),
            self.clock,
        )

    def _update_stress(self) -> Launch:
        memories = self._pick(MEMORIES) if self.attenuated else [self._nothing] * 6
        return self._over_grid(
            "update_stress",
            *self._pick(STRESSES),
            *memories,
            *self._pick(VELOCITIES),
            *(self.materials[n] for n in ("lam", "compliance", "inverse_qp", "inverse_qs")),
            self._mechanisms(),
            *self._layer_arguments("stress"),
        )

    def _inject_forces(self) -> list[Launch]:
        sources = [s for s in self.setup.sources if s.force is not None]
        fields = [*self._pick(VELOCITIES), self.materials["rho"]]
        return self._injection("inject_forces", fields, sources, forces=True)

    def _inject_moments(self) -> list[Launch]:
        sources = [s for s in self.setup.sources if s.moment is not None]
        return self._injection("inject_moments", self._pick(STRESSES), sources, forces=False)

    def _exchange(self, names: tuple[str, ...]) -> list[Launch]:
        if not self.setup.periodic:
            return []
        fields = [self.fields[name] for name in names]
        return periodic_exchange(self.backend, self.setup.layout, fields, "xy", self.setup.double)

    def _mirror_velocity(self) -> list[Launch]:
        return self._on_surface("mirror_velocity", *self._pick(VELOCITIES))

    def _mirror_stress(self) -> list[Launch]:
        return self._on_surface("mirror_stress", *self._pick(("szz", "sxz", "syz")))

    def hot_kernels(self) -> dict[str, Launch]:
        """The two kernels that take nearly all of a step's time, for measurements."""
        return {"velocity": self._update_velocity(), "stress": self._update_stress()}

    # --- launches ---------------------------------------------------------------------------------

    def _interiors(self) -> dict[str, Array]:
        return {name: field.interior for name, field in self.fields.items()}

    def _pick(self, names: tuple[str, ...]) -> list[Array]:
        return [self.fields[name].interior for name in names]

    def _over_grid(self, kernel: str, *arguments: Any) -> Launch:
        return self.module.launch(kernel, Cells(*self.setup.grid.cells), *arguments)

    def _on_surface(self, kernel: str, *fields: Array) -> list[Launch]:
        setup = self.setup
        if not setup.free_surface:
            return []
        nx, ny, _ = setup.grid.cells
        beyond = 2 * GHOSTS if setup.periodic else 0
        moduli = (self.materials["lam"], self.materials["compliance"])
        extent = Cells(nx + beyond, ny + beyond, 1)
        profiles = self._profiles[:2]
        memory = self.surface_memory[kernel]
        return [self.module.launch(kernel, extent, *fields, *moduli, memory, *profiles)]

    def _injection(
        self, kernel: str, fields: list[Array], sources: list[Any], *, forces: bool
    ) -> list[Launch]:
        setup = self.setup
        shares = share_out(
            setup.grid,
            setup.layout,
            sources,
            forces=forces,
            free_surface=setup.free_surface,
            periodic=setup.periodic,
        )
        histories = Histories(self.backend, sources, setup.dtype)
        return injection(self.backend, self.module, kernel, fields, shares, histories, self.clock)

    def _mechanisms(self) -> Array:
        relaxation = self.setup.relaxation
        if relaxation is None:
            return self._nothing
        table = mechanism_table(relaxation, self.setup.grid.cells[0], self.setup.dt)
        return self.backend.to_device(table.astype(self.setup.dtype))

    # --- absorbing layers -------------------------------------------------------------------------

    def _layer_counts(self, axis: int) -> tuple[int, int]:
        """Cells on each side that have layer memory: along x, whole vectors of them."""
        grid = self.setup.grid
        if not self.setup.matched:
            return 0, 0
        before, after = grid.before[axis], grid.after[axis]
        vector = self.backend.vector
        whole = tuple(-(-n // vector) * vector for n in (before, after))
        return (
            (whole[0], whole[1]) if axis == 0 and sum(whole) <= grid.cells[0] else (before, after)
        )

    def _layer_memory(self) -> dict[str, list[Array]]:
        """Three memory variables an axis, of the velocity and of the stress update."""
        nz, ny, nx = self.setup.grid.shape
        lx, ly, lz = (sum(self._layer_counts(axis)) for axis in range(3))
        shapes = ((3, nz, ny, lx), (3, nz, ly, nx), (3, lz, ny, nx))
        return {
            update: [
                self.backend.zeros(shape, self.setup.dtype) if all(shape) else self._nothing
                for shape in shapes
            ]
            for update in ("velocity", "stress")
        }

    def _layer_arguments(self, update: str) -> list[Array]:
        return [*self.layer_memory[update], *self._profiles, self._sponge]

    def _matched_layers(self) -> list[MatchedLayer]:
        setup = self.setup
        return [
            MatchedLayer(
                setup.grid.before[axis] if self.setup.matched else 0,
                setup.grid.after[axis] if self.setup.matched else 0,
                *self._layer_counts(axis),
                setup.grid.spacing[axis],
                setup.fastest,
                setup.resolved_frequency,
            )
            for axis in range(3)
        ]

    @cached_property
    def _profiles(self) -> list[Array]:
        dt, dtype = self.setup.dt, self.setup.dtype
        tables = [layer.coefficients(dt).astype(dtype) for layer in self._matched_layers()]
        return [self.backend.to_device(t) if t.size else self._nothing for t in tables]

    def _side_coupling(self) -> NDArray[np.float64]:
        """Of each depth row, (nz,): how far layers at the sides damp all values of soft ground."""
        fastest = self.setup.survey.vs_max
        if not self.setup.matched or self.setup.periodic or fastest is None:
            return np.zeros(self.setup.grid.cells[2])
        return coupling(self.materials.slowest_at_sides(self.backend), fastest)

    @cached_property
    def _sponge(self) -> Array:
        """What values lose a step along x, y and z: see `sponge_factor` in kernels/layers.h."""
        setup, cells = self.setup, self.setup.grid.cells
        if not self.setup.matched:
            sides = zip(setup.grid.before, setup.grid.after, cells, strict=True)
            tables = [sponge(*side) for side in sides]
        elif self._coupling.any():
            x, y, _ = self._matched_layers()
            tables = [x.loss(cells[0], setup.dt), y.loss(cells[1], setup.dt), self._coupling]
        else:
            return self._nothing
        return self.backend.to_device(np.concatenate(tables).astype(setup.dtype))

    # --- compilation ------------------------------------------------------------------------------

    def _source(self) -> Source:
        return Source(KERNELS / "step.h", self._constants())

    def _constants(self) -> dict[str, Constant]:
        setup, grid = self.setup, self.setup.grid
        constants: dict[str, Constant] = dict(setup.layout.constants())
        if setup.double:
            constants["DOUBLE_PRECISION"] = 1
        for axis, name in enumerate(AXES):
            h, (before, after) = grid.spacing[axis], self._layer_counts(axis)
            constants |= {
                f"H{name.upper()}": h,
                f"NEAR_{name.upper()}": 9 / 8 / h,
                f"FAR_{name.upper()}": 1 / 24 / h,
                f"BEFORE_{name.upper()}": before,
                f"AFTER_{name.upper()}": after,
                f"REGION_{name.upper()}": grid.region[axis],
                f"REGION_START_{name.upper()}": grid.before[axis],
            }
        return constants | {
            "DT": setup.dt,
            "DT_EXACT": repr(setup.dt),
            "LARGEST": float(np.finfo(setup.dtype).max),
            "ATTENUATION": self.attenuated,
            "SPONGE": not self.setup.matched,
            "COUPLED": bool(self._coupling.any()),
            "FREE_SURFACE": setup.free_surface,
            "PERIODIC": setup.periodic,
            "SHEAR_REACH": SHEAR_REACH,
            "ABOVE": float(surface_weights(setup.free_surface)[0]),
        }

    # --- what the driver asks ---------------------------------------------------------------------

    @property
    def updates_per_step(self) -> int:
        """Lattice points that a step updates, layers included."""
        return self.setup.updates_per_step

    @property
    def bytes_per_update(self) -> float:
        """Least traffic of a point's update, layers included."""
        return self.setup.bytes_per_update

    def state(self) -> dict[str, Array]:
        """Every array that decides what comes next; writing them back restores the moment."""
        memory = {
            f"layers/{update}/{axis}": array
            for update, arrays in self.layer_memory.items()
            for axis, array in zip(AXES, arrays, strict=True)
        }
        memory |= {f"surface/{kernel}": array for kernel, array in self.surface_memory.items()}
        fields = {name: field.array for name, field in self.fields.items()}
        return {**fields, **memory, **self.recorders.state(), "clock": self.clock}

    def guard(self) -> None:
        """Enqueue a search for values that are not finite."""
        for launch in self._guards:
            launch()

    def raise_if_unstable(self, steps: int, after: Event | None = None) -> None:
        """Read what the last `guard` before `after` (default: at all) found; `steps` are enqueued.

        Raises:
            RunFailed: some value is not finite; names the field, the place and the time.
        """
        place = int(self.backend.to_host(self._found, after)[0])
        if place < 0:
            return
        setup = self.setup
        k, rest = divmod(place, setup.layout.plane)
        j, i = divmod(rest, setup.layout.row)
        where = [
            f"{axis} = {(n - b + 0.5) * h:.6g} m"
            for axis, n, b, h in zip(
                ("x", "y", "depth"), (i, j, k), setup.grid.before, setup.grid.spacing, strict=True
            )
        ]
        bad = [name for name in VELOCITIES if not self._finite(name, (k, j, i))]
        raise RunFailed(
            f"{', '.join(bad) or 'a velocity'} is not finite at {', '.join(where)}, at or before "
            f"t = {steps * setup.dt:.6g} s (step {steps}): the run is unstable or its input is bad"
        )

    def _finite(self, name: str, index: tuple[int, int, int]) -> bool:
        k, j, i = index
        value = self.backend.to_host(self.fields[name].interior[k : k + 1, j : j + 1, i : i + 1])
        return bool(np.isfinite(value).all())

    def _compose_guards(self) -> list[Launch]:
        cells = Cells(*self.setup.grid.cells)
        return [
            self.module.launch("find_nonfinite", cells, field, self._found)
            for field in self._pick(VELOCITIES)
        ]

    def snapshot(self, name: str) -> NDArray[Any]:
        """A host copy of a field over the region, (nz, ny, nx)."""
        return self.backend.to_host(self.fields[name].interior[self.setup.grid.region_slices])
