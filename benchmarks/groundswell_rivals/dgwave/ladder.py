"""The kernels of the GAPS paper in three versions.

Hanindhito et al., GAPS: GPU-acceleration of PDE solvers for wave simulation, ICS 2022, table 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.source import precision
from groundswell.meshes.hexahedra import AXES
from groundswell.solvers.dgwave.benchmarks.versions import Costs, Steps
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE
from groundswell.spectral_elements.element_kernels import reference_element_constants
from groundswell.time_integration.low_storage import CARPENTER_KENNEDY as SCHEME
from groundswell_rivals.dgwave.ghosts import LOCAL, NONE, Ghosts
from groundswell_rivals.dgwave.traffic import flux, integrate, volume, volume_and_flux

KERNELS = Path(__file__).with_name("kernels")
MOST_THREADS = 512  # largest number of threads of a block
RESIDENT = (1024, 1536)  # resident threads per multiprocessor for the register limits of f1s


@dataclass(frozen=True)
class Version:
    """A version of the kernels.

    Args:
        fused: whether volume and flux are one kernel, which reads neighbours from tables.
        in_shared: whether that kernel stores contributions in shared memory.
    """

    name: str
    fused: bool
    in_shared: bool

    @property
    def costs(self) -> Costs:
        """The cost of each kernel."""
        if self.fused:
            return {"volume_and_flux": volume_and_flux, "integrate": integrate}
        return {"volume": volume, "flux": flux, "integrate": integrate}

    def build(self, backend: Backend, problem: Discretisation) -> list[Callable[[], Steps]]:
        """Start to compile; functions that create the kernels, one for each limit of registers."""
        limits = self.register_limits(backend, problem)
        for blocks in limits:
            backend.compile(ladder_source(problem, self, blocks))
        return [partial(Ladder, backend, problem, self, blocks) for blocks in limits]

    def register_limits(self, backend: Backend, problem: Discretisation) -> list[int]:
        """Values to try for the `blocks` of a `Ladder`."""
        if not self.in_shared or backend.on_host:
            return [0]
        return [max(1, n // min(problem.nodes, MOST_THREADS)) for n in RESIDENT]


BASE, F1, F1S = (
    Version("base", fused=False, in_shared=False),
    Version("f1", fused=True, in_shared=False),
    Version("f1s", fused=True, in_shared=True),
)
VERSIONS = (BASE, F1, F1S)


class Ladder:
    """A version of the kernels on a rank's elements.

    Args:
        blocks: number of blocks of the fused kernel that must fit on a multiprocessor, which limits
            registers; 0 for no limit.

    Attributes:
        problem: the discrete problem.
        elements: the elements of the rank.
        u, r, rates: fields, register and contributions, (elements, fields, nodes).
        ghosts: neighbouring elements of other ranks.
        ghost_fields: address of each ghost's fields, int64.
    """

    def __init__(
        self, backend: Backend, problem: Discretisation, version: Version, blocks: int = 0
    ) -> None:
        self._backend, self.problem, self._version = backend, problem, version
        self.blocks = blocks
        self.elements, fields = problem.elements, len(problem.equations.fields)
        shape = (self.elements.count, fields, problem.nodes)
        self.u, self.r, self.rates = (backend.zeros(shape, problem.dtype) for _ in range(3))
        self.ghosts = Ghosts.of(self.elements)
        unknown = np.full(max(self.ghosts.count, 1), backend.address(self.u))
        self.ghost_fields = backend.to_device(unknown.astype(np.int64))
        self.threads = min(problem.nodes, MOST_THREADS)
        self._module = backend.compile(ladder_source(problem, version, blocks))

    @property
    def kernels(self) -> dict[str, list[Launch]]:
        """See `Steps`."""
        count, stages = self.elements.count, range(SCHEME.stages)
        rates = zip(self._names, self.find_rates(0, count), strict=True)
        by_stage = {name: [launch] * SCHEME.stages for name, launch in rates}
        return {**by_stage, "integrate": [self.integrate(stage) for stage in stages]}

    @property
    def step(self) -> list[Launch]:
        """See `Steps`."""
        rates = self.find_rates(0, self.elements.count)
        return [
            launch for stage in range(SCHEME.stages) for launch in (*rates, self.integrate(stage))
        ]

    @property
    def _names(self) -> list[str]:
        """Names of the kernels that compute contributions."""
        return ["volume_and_flux"] if self._version.fused else ["volume", "flux"]

    def find_rates(self, first: int, count: int) -> list[Launch]:
        """Launches that compute the contributions of `count` elements from element `first` on."""
        if not count:
            return []
        arguments = (*self._mesh, self.rates, first, count)
        plane = (self.problem.degree + 1) ** 2
        threads = {"volume": self.threads, "flux": plane, "volume_and_flux": self.threads}
        return [
            self._module.launch(name, Blocks(count, threads[name]), *arguments)
            for name in self._names
        ]

    def integrate(self, stage: int) -> Launch:
        """The launch that advances all fields by a stage."""
        arguments = (self.u, self.r, self.rates, self._stages, stage, self.elements.count)
        return self._module.launch(
            "integrate", Blocks(self.elements.count, self.threads), *arguments
        )

    # --- tables -----------------------------------------------------------------------------------

    @cached_property
    def _mesh(self) -> tuple[DeviceArray | int, ...]:
        """The values of MESH_ARGUMENTS in kernels/neighbours.h."""
        problem, elements = self.problem, self.elements
        materials = problem.equations.materials(problem.material, elements.edges)
        faces = problem.equations.faces(problem.material, problem.sides)
        forest = elements.forest
        outermost = forest.anchors() >> forest.max_level
        tables = (
            materials.astype(problem.dtype),
            faces.astype(problem.dtype),
            forest.keys[elements.numbers] >> AXES * forest.max_level,
            np.array([*outermost.max(axis=0) + 1, *forest.periodic], np.int64),
            self._numbers.astype(np.int32),
            self._kinds,
        )
        sides = self._backend.to_device(faces_of_nodes(problem.degree))
        arrays = [self._backend.to_device(table) for table in tables]
        return (self.u, *arrays, self.ghost_fields, sides, elements.count)

    @property
    def _numbers(self) -> Integers:
        """The element or ghost beyond each face."""
        elements, first = self.elements, int(self.elements.starts[self.elements.rank])
        places = np.empty(elements.count, np.int64)
        places[elements.numbers - first] = np.arange(elements.count)
        inside = np.clip(elements.neighbours - first, 0, elements.count - 1)
        return np.where(self._kinds == LOCAL, places[inside], self.ghosts.numbers)

    @cached_property
    def _kinds(self) -> NDArray[np.int8]:
        kinds = self.ghosts.kinds
        return np.where(self.elements.neighbours == OUTSIDE, NONE, kinds).astype(np.int8)

    @cached_property
    def _stages(self) -> DeviceArray:
        """Coefficients of the stages, see kernels/scheme.h of the solver."""
        dt = self.problem.dt
        rows = [(a, b * dt, c * dt) for a, b, c in zip(SCHEME.a, SCHEME.b, SCHEME.c, strict=True)]
        return self._backend.to_device(np.array(rows))


def faces_of_nodes(degree: int) -> NDArray[np.uint8]:
    """The faces on which each node of an element lies, one bit per face, (nodes,)."""
    place = np.indices((degree + 1,) * AXES)[::-1].reshape(AXES, -1)  # along x, y, z
    low, high = place == 0, place == degree
    bits = [on << np.uint8(face) for face, on in enumerate(np.stack([low, high], 1).reshape(6, -1))]
    return np.bitwise_or.reduce(bits).astype(np.uint8)


def ladder_source(problem: Discretisation, version: Version, blocks: int = 0) -> Source:
    """The kernels of a version; arguments as for `Ladder`."""
    degree = problem.degree
    constants: dict[str, Constant] = {
        **precision(problem.dtype),
        **reference_element_constants(degree),
        **problem.equations.constants(problem.sides.upwind != 1, is_curved=False),
        "MATCHED": False,
        "STAGES": SCHEME.stages,
        "LIFT": degree * (degree + 1) / 2,  # 1 / the weight of a node at the end of a line
        "SEARCH": not version.fused,
        "SHARED_RATES": version.in_shared,
        "MAX_THREADS_PER_BLOCK": min(problem.nodes, MOST_THREADS),
        **({"MIN_BLOCKS_PER_SM": blocks} if blocks else {}),
    }
    return Source(KERNELS / ("fused.h" if version.fused else "base.h"), constants)
