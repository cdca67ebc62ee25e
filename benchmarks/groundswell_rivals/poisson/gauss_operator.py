"""The mass matrix and the Laplacian with Gauss points, for bake-off problems 1 to 4.

Integrals are sums over the N + 2 Gauss points along each axis (Fischer et al. 2020, Int. J. High
Perform. Comput. Appl. 34), with the weights w and the Jacobian J of the map there: of the mass, the
terms are w |J| u v; of the Laplacian, w |J| times the product of the gradients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray, Floats, Integers
from groundswell.backends import Backend, Blocks, Constant, Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.meshes.gll import Gll, gll
from groundswell.meshes.hexahedra import (
    AXES,
    Shapes,
    interpolate,
    mapped_tangents,
    tangents,
)
from groundswell.solvers.poisson.element_operator import DEFAULTS, METRICS, pitches
from groundswell.solvers.poisson.element_operator import KERNELS as OPERATOR_KERNELS
from groundswell.solvers.poisson.geometric_factors import PAIRS
from groundswell.spectral_elements.element_kernels import elements_per_block, initializer
from groundswell.spectral_elements.geometry import require_positive, tabulate
from groundswell.spectral_elements.kernel_variants import WARP
from groundswell.spectral_elements.space import FunctionSpace

KERNELS = Path(__file__).with_name("kernels")
MASS, STIFFNESS = "mass", "stiffness"
CUBES = {MASS: 1, STIFFNESS: 3}  # of points, in shared memory, for each element
FACTORS = {MASS: 1, STIFFNESS: len(PAIRS)}  # stored for each point


@cache
def gauss(points: int) -> Gll:
    """Gauss points and weights on [-1, 1], with derivatives and interpolation."""
    return Gll(*np.polynomial.legendre.leggauss(points))


def points_of(degree: int) -> int:
    """Points along each axis of an element: N + 2."""
    return degree + 2


class GaussOperator:
    """Applies the mass matrix, or the Laplacian, to the elements of a rank, without exchange.

    Args:
        matrix: MASS or STIFFNESS.
        components: of the vectors, which share the geometry.

    Raises:
        InputError: inverted elements.
    """

    def __init__(
        self,
        backend: Backend,
        space: FunctionSpace,
        matrix: str,
        *,
        dtype: DTypeLike = "f8",
        components: int = 1,
    ) -> None:
        self._backend, self.space, self._matrix = backend, space, matrix
        self.dtype, self._components = str(np.dtype(dtype)), components
        self._shape = BlockShape.of(matrix, space.degree)
        self._dofs, self._geometry = space.dofs_on(backend), self._store_geometry()

    def blocks(self, chosen: Integers) -> int:
        """Number of blocks of the launches for these elements."""
        return -(-len(chosen) // self._shape.elements)

    def launches(
        self,
        chosen: Integers,
        x: DeviceArray,
        y: DeviceArray,
        energies: DeviceArray,
        scale: DeviceArray | None = None,
    ) -> list[Launch]:
        """Launches that apply the operator to some elements; see `ElementOperator.launches`."""
        if not len(chosen):
            return []
        _, x_pitch, y_pitch = pitches(x, y)
        choice = {"SCALED": scale is not None, "COMPONENTS": self._components}
        source = gauss_source(self._matrix, self.dtype, self.space.degree, **choice)
        launch = self._backend.compile(source).launch(
            f"apply_gauss_{self._matrix}",
            self._shape.extent(self.blocks(chosen), np.dtype(self.dtype).itemsize),
            x=x,
            x_pitch=x_pitch,
            scale=x if scale is None else scale,
            dofs=self._dofs,
            geometry=self._geometry,
            y=y,
            y_pitch=y_pitch,
            elements=self._backend.to_device(chosen.astype("i4")),
            count=len(chosen),
            energies=energies,
        )
        return [launch]

    # --- geometry ---------------------------------------------------------------------------------

    def _store_geometry(self) -> DeviceArray:
        if self._matrix == STIFFNESS and self.space.mesh.order == 1:
            return self._tabulate()
        found = factors_at_points(self.space, self._matrix)
        if self._matrix == MASS and not self._backend.on_host:
            found = by_row(found)
        return self._backend.to_device(np.ascontiguousarray(found, self.dtype))

    def _tabulate(self) -> DeviceArray:
        """The factors of elements with straight edges, computed on the device."""
        maps, n = self.space.rank_elements.maps, points_of(self.space.degree)
        require_positive(maps.least_determinants(self.space.degree), self.space.elements)
        count = len(self.space.elements) * n**AXES
        stored = self._backend.zeros((FACTORS[STIFFNESS] * count,), self.dtype)
        straight = self._backend.to_device(np.ascontiguousarray(maps.coefficients, self.dtype))
        module = self._backend.compile(tabulate_source(self.dtype, self.space.degree))
        module.launch("tabulate_metric", Items(count), straight, stored, count)()
        return stored


@dataclass(frozen=True)
class BlockShape:
    """How blocks of threads process elements.

    Args:
        elements: of a block.
        points: along each axis of an element.
        cubes: of points, in shared memory, for each element.
    """

    elements: int
    points: int
    cubes: int

    @classmethod
    def of(cls, matrix: str, degree: int) -> BlockShape:
        """A thread for each line of points."""
        points = points_of(degree)
        return cls(elements_per_block(points - 1), points, CUBES[matrix])

    @property
    def threads(self) -> int:
        """Of a block, a multiple of a warp."""
        return -(-self.elements * self.points**2 // WARP) * WARP

    def extent(self, blocks: int, size: int) -> Blocks:
        """Of a launch for values of `size` bytes."""
        room = self.points**2 * (self.points | 1) * size  # rows start in different banks
        return Blocks(blocks, self.threads, self.elements * self.cubes * room)


def factors_at_points(space: FunctionSpace, matrix: str) -> Floats:
    """The factors of this rank's elements at Gauss points, (elements, factors, points^3).

    Those of the Laplacian are in the order of PAIRS.

    Raises:
        InputError: elements are inverted.
    """
    find = {MASS: _mass, STIFFNESS: _stiffness}[matrix]
    rule = gauss(points_of(space.degree))

    def compute(some: Integers) -> tuple[Floats, ...]:
        return find(space.shapes, rule, some)

    factors, determinants = tabulate(compute, len(space.elements), len(rule.points) ** AXES)
    require_positive(determinants, space.elements)
    return factors


def _mass(shapes: Shapes, rule: Gll, some: Integers) -> tuple[Floats, Floats]:
    """The mass at the points of some elements, and |J|."""
    lower = 3 * shapes.order - 1  # |J| has this degree along each axis
    r, s, t = mapped_tangents(shapes, lower, some)
    exact = np.einsum("exn,exn->en", r, np.cross(s, t, axis=1))
    to_points = gll(lower).interpolation(rule.points)
    determinant = interpolate(exact[..., None], to_points)[..., 0]
    return (rule.cube_weights * determinant)[:, None], determinant


def _stiffness(shapes: Shapes, rule: Gll, some: Integers) -> tuple[Floats, Floats]:
    """The Laplacian's factors at the points of some elements, and |J|."""
    to_points = gll(shapes.order).interpolation(rule.points)
    along = tangents(shapes.geometry_nodes(some), shapes.order)
    r, s, t = (interpolate(tangent, to_points) for tangent in along)
    normals = [np.cross(s, t), np.cross(t, r), np.cross(r, s)]
    determinant = np.einsum("enx,enx->en", r, normals[0])
    scale = rule.cube_weights / determinant
    pairs = [np.einsum("enx,enx->en", normals[a], normals[b]) * scale for a, b in PAIRS]
    return np.stack(pairs, axis=1), determinant


def by_row(mass: Floats) -> Floats:
    """The mass at points in the order of a GPU's kernel: (elements, 1, points^3), r slowest."""
    count, points = len(mass), round(mass.shape[-1] ** (1 / AXES))
    rows = mass.reshape(count, points**2, points)
    return rows.swapaxes(1, 2).reshape(mass.shape)


# --- sources --------------------------------------------------------------------------------------


def gauss_source(matrix: str, dtype: str, degree: int, **chosen: Constant) -> Source:
    """The kernel of a matrix for vectors of a type; `chosen` are SCALED and COMPONENTS."""
    rule, shape = gauss(points_of(degree)), BlockShape.of(matrix, degree)
    to_points, derivative = gll(degree).interpolation(rule.points), rule.derivative
    tables = {"FROM_NODES_TO_POINTS": to_points.T, "FROM_POINTS_TO_NODES": to_points}
    if matrix == STIFFNESS:
        tables |= {"FROM_POINTS_TO_DERIVATIVES": derivative.T}
        tables |= {"FROM_DERIVATIVES_TO_POINTS": derivative}
    constants: dict[str, Constant] = {
        **precision(dtype),
        **DEFAULTS,
        "NODES": degree + 1,
        "POINTS": len(rule.points),
        "ELEMENTS": shape.elements,
        "MAX_THREADS_PER_BLOCK": shape.threads,
        **{name: initializer(table) for name, table in tables.items()},
    }
    return Source(KERNELS / f"gauss_{matrix}.h", {**constants, **chosen})


def tabulate_source(dtype: str, degree: int) -> Source:
    """The operator's kernel that tabulates geometric factors, with Gauss points as nodes."""
    rule = gauss(points_of(degree))
    nodes = len(rule.points)
    constants: dict[str, Constant] = {
        **precision(dtype),
        **DEFAULTS,
        "NODES": nodes,
        "DERIVATIVES": initializer(rule.derivative),
        "POINTS": initializer(rule.points),
        "WEIGHTS": initializer(rule.weights),
        "METRIC_RUN": nodes**AXES,
        "METRIC_PITCH": FACTORS[STIFFNESS] * nodes**AXES,
        "GEOMETRY": METRICS["straight"],
        "LAMBDA": 0.0,
        "UNIT": 1.0,
        "K_VALUES": 0,
        "C_VALUES": 0,
    }
    return Source(OPERATOR_KERNELS / "tabulate_metric.h", constants)
