"""The problems of the benchmark: configurations of table 2, on cubes with varying material."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.arrays import DeviceArray, Integers
from groundswell.backends import Backend
from groundswell.grids.cartesian import Triple
from groundswell.meshes.octree import partition_curve, uniform_forest
from groundswell.meshes.octree_faces import QUARTERS
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.equations import (
    ACOUSTIC,
    ELASTIC,
    FREE_SURFACE,
    Equations,
    FaceSides,
)
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, RankElements
from groundswell.solvers.dgwave.terms import Terms
from groundswell.time_integration.step_limits import dg_step

EDGE = 100.0  # edge of elements, m
VP, VS, RHO = 3000.0, 1700.0, 2200.0  # means: m/s, m/s, kg/m^3
VARIATION = 0.1  # relative variation of the material
PRECISIONS = {"double": "float64", "single": "float32"}
CHUNK = 1024  # elements


@dataclass(frozen=True)
class Configuration:
    """A wave simulator of table 2.

    Args:
        equations: "acoustic" or "elastic".
        flux: "Riemann" or "central".
        precision: "double" or "single".
    """

    equations: str
    flux: str
    precision: str

    @property
    def name(self) -> str:
        """Equations and flux."""
        return f"{self.equations}, {self.flux}"

    @property
    def solved(self) -> Equations:
        """The equations of the solver."""
        return ELASTIC if self.equations == "elastic" else ACOUSTIC

    @property
    def upwind(self) -> float:
        """The weight of the Riemann flux."""
        return 1.0 if self.flux == "Riemann" else 0.0

    @property
    def dtype(self) -> str:
        """NumPy name of the floating-point type."""
        return PRECISIONS[self.precision]

    @property
    def size(self) -> int:
        """Size of a value, bytes."""
        return int(np.dtype(self.dtype).itemsize)

    @property
    def row(self) -> dict[str, str]:
        """The first entries of a table row."""
        return {"configuration": self.name, "precision": self.precision}


TABLE_2 = tuple(
    Configuration(equations, flux, precision)
    for precision in PRECISIONS
    for equations, flux in (("acoustic", "Riemann"), ("elastic", "central"), ("elastic", "Riemann"))
)


def cubes(cells: Triple, ranks: int = 1, rank: int = 0, *, periodic: bool = True) -> RankElements:
    """The elements of a rank in a box of cubes.

    Args:
        cells: number of cubes of the whole box along x, y and z.
        periodic: whether all axes are periodic.
    """
    edges = tuple(EDGE * np.arange(n + 1) for n in cells)
    forest = uniform_forest(edges, 0, (periodic,) * 3)
    return RankElements(forest, partition_curve(np.ones(forest.count), ranks), rank)


def discretise(configuration: Configuration, degree: int, elements: RankElements) -> Discretisation:
    """The discrete problem of a rank; boundaries are free surfaces."""
    material = _material(configuration, elements.numbers)
    beyond, outside = elements.neighbours, elements.neighbours == OUTSIDE
    other = _material(configuration, np.where(outside, elements.numbers[:, None], beyond))
    reflection = np.full(beyond.shape, FREE_SURFACE)
    upwind, equations = configuration.upwind, configuration.solved
    return Discretisation(
        equations=equations,
        degree=degree,
        dtype=configuration.dtype,
        dt=float(dg_step((EDGE,) * 3, VP * (1 + VARIATION), degree, upwind)),
        elements=elements,
        material=material,
        sides=FaceSides(other, outside, reflection, upwind),
        mortar_sides=_no_mortars(upwind),
        terms=Terms(degree, len(equations.fields), elements.count),
    )


def _no_mortars(upwind: float) -> FaceSides:
    nothing = np.empty((0, QUARTERS))
    return FaceSides(Material(nothing, nothing, nothing), nothing.astype(bool), nothing, upwind)


def _material(configuration: Configuration, leaves: Integers) -> Material:
    """The material of leaves, arrays of their shape."""
    factor = 1 + VARIATION * np.sin(leaves)
    vs = VS if configuration.solved.elastic else 0.0
    return Material(VP * factor, vs * factor, RHO * factor)


def fill(backend: Backend, u: DeviceArray, leaves: Integers) -> None:
    """Set fields (elements, fields, nodes) to non-zero values that differ by element.

    In the first CHUNK elements, values depend only on the leaf. Other elements repeat them.
    """
    fields, nodes = u.shape[1:]
    inside = np.cos(0.1 * np.arange(fields * nodes)).reshape(fields, nodes)
    values = np.sin(leaves[:CHUNK])[:, None, None] * inside
    backend.assign(u[:CHUNK], values.astype(str(u.dtype)))
    filled = CHUNK
    while filled < len(leaves):
        part = u[filled : 2 * filled]
        backend.assign(part, u[: len(part)])
        filled *= 2
