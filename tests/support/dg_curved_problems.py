"""Random problems of DG waves on curved elements, whose axes may be turned against each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np
from dg_curved import CurvedScheme
from dg_problems import CLOSED, TORUS, Problem, Variant
from dg_scheme import Scheme, step_limit
from numpy.typing import NDArray

from groundswell.arrays import Floats
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.leaves import Leaves
from groundswell.meshes.mesh import Mesh
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.mesh.curved import metric_terms
from groundswell.spectral_elements.curl_form import curl_form


@dataclass(frozen=True)
class CurvedVariant(Variant):
    """The kind of a problem on curved elements.

    Args:
        warp: displacement of nodes over the size of elements.
        turned: whether the mesh is unstructured, with turned elements; it must be closed.
    """

    warp: float = 0.15
    turned: bool = False


def rotations() -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The 24 ways to turn a cube: a permutation of its axes, and the axes that are reversed."""
    found = []
    for axes, signs in product(permutations(range(3)), product((1, -1), repeat=3)):
        if np.linalg.det(np.eye(3)[list(axes)] * signs) > 0:
            found.append((axes, tuple(a for a in range(3) if signs[a] < 0)))
    return found


def turn_cube(cube: NDArray[Any], how: tuple[tuple[int, ...], tuple[int, ...]]) -> NDArray[Any]:
    """A cube of values (n, n, n, ...) in turned axes."""
    axes, flips = how
    rest = range(3, cube.ndim)
    return np.flip(np.transpose(cube, (*axes, *rest)), flips)


class CurvedProblem(Problem):
    """Deformed elements of random materials, boundaries, damping, sources and fields."""

    def __init__(self, variant: CurvedVariant) -> None:
        self.turns = np.random.default_rng(variant.seed + 99)
        super().__init__(variant)
        _ = self.bricks, self.nodes  # of faces that are not turned yet
        if variant.turned:
            self.reflection = self._reflections(self.reflection)
            self.__dict__.pop("scheme", None)  # which has the reflections before

    @cached_property
    def bricks(self) -> Scheme:
        """The scheme before elements are deformed."""
        return Problem.scheme.func(self)  # type: ignore[attr-defined, no-any-return]

    @cached_property
    def dt(self) -> float:
        """A stable time step."""
        return 0.5 * step_limit(self.bricks, 1.0)

    def _volume(self, element: int) -> float:
        return 8.0

    @cached_property
    def leaves(self) -> Leaves:
        """The deformed elements."""
        return Leaves(self.forest, self._deform, self.variant.degree)

    def _deform(self, x: Floats) -> Floats:
        low, high = (np.array([e[end] for e in self.edges]) for end in (0, -1))
        size, smallest = high - low, min(np.diff(e).min() for e in self.edges)
        phases = np.random.default_rng(self.variant.seed).uniform(0, 2 * np.pi, (3, 3))
        angles = 2 * np.pi * (x - low) / size
        move = [np.sin(angles + p).sum(axis=-1) for p in phases]
        return x + self.variant.warp * smallest * np.stack(move, -1) / 3

    @cached_property
    def nodes(self) -> Floats:
        """Positions of the nodes, (elements, n, n, n, 3), in the elements' own axes."""
        n, variant = self.variant.degree + 1, self.variant
        x = self.leaves.geometry_nodes(np.arange(self.forest.count)).reshape(-1, n, n, n, 3)
        if not variant.turned:
            return x
        choices = rotations()
        self.chosen = [choices[i] for i in self.turns.integers(24, size=len(x))]
        x = np.stack([turn_cube(c, how) for c, how in zip(x, self.chosen, strict=True)])
        self.mesh = self._unstructured(x)
        return x

    def _unstructured(self, x: Floats) -> Mesh:
        cells = self.forest.anchors() >> self.forest.max_level
        ends = np.stack(np.meshgrid((0, 1), (0, 1), (0, 1), indexing="ij"), -1)[..., ::-1]
        vertices = cells[:, None, None, None] + ends
        numbers = vertices @ (1, 100, 10000)
        turned = [turn_cube(c, how) for c, how in zip(numbers, self.chosen, strict=True)]
        _, corners = np.unique(np.stack(turned), return_inverse=True)
        count = len(x)
        return Mesh(corners.reshape(count, 8), x.reshape(count, -1, 3), self.variant.degree)

    def _reflections(self, of_faces: Floats) -> Floats:
        """Those of the faces in turned axes, (elements, 6)."""
        found = np.empty((self.forest.count, 6))
        middle = np.zeros((3, 3, 3))
        for face in range(6):
            index = [1, 1, 1]
            index[2 - face // 2] = 2 * (face % 2)
            middle[tuple(index)] = face
        for element, how in enumerate(self.chosen):
            cube = turn_cube(middle, how)
            for face in range(6):
                index = [1, 1, 1]
                index[2 - face // 2] = 2 * (face % 2)
                found[element, face] = of_faces[int(cube[tuple(index)])]
        return found

    @cached_property
    def metrics(self) -> Floats:
        """See `metric_terms`."""
        x = self.nodes
        if self.variant.turned:
            return curl_form(x.reshape(len(x), -1, 3), self.variant.degree)
        return metric_terms(self.leaves, self.variant.degree, np.arange(len(x)))

    @cached_property
    def scheme(self) -> CurvedScheme:  # type: ignore[override]
        """The semi-discrete scheme without sources."""
        bricks, n, variant = self.bricks, self.variant.degree + 1, self.variant
        periods = [
            float(np.ptp(e)) if p else None
            for e, p in zip(self.edges, variant.periodic, strict=True)
        ]
        return CurvedScheme(
            self.nodes,
            self.metrics.reshape(-1, 3, 3, n, n, n),
            variant.degree,
            bricks.rho,
            bricks.lam,
            bricks.mu,
            variant.upwind,
            np.broadcast_to(self.reflection, (self.forest.count, 6)),
            periods,
            self._decay,
        )

    def discretisation(self, dtype: str, comm: Communicator | None = None) -> Discretisation:
        """What a rank solves."""
        assert self.nodes.size  # of the unstructured mesh
        found = super().discretisation(dtype, comm)
        return replace(found, metrics=self.metrics[found.elements.numbers])


CURVED = [
    CurvedVariant(1, True, 1.0, CLOSED, fluid=0.3, sources=4, warp=0.2),
    CurvedVariant(2, False, 0.3, (False, True, False), damping=True, sources=3),
    CurvedVariant(3, True, 0.0, (True, False, True), fluid=0.4, damping=True, sources=4),
    CurvedVariant(4, False, 1.0, CLOSED, sources=4, counts=(2, 1, 2), turned=True),
    CurvedVariant(5, True, 0.3, CLOSED, fluid=0.3, sources=2, counts=(2, 2, 1), turned=True),
    CurvedVariant(2, True, 1.0, CLOSED, fluid=0.4, counts=(3, 2, 2), turned=True, damping=True),
    CurvedVariant(7, True, 1.0, CLOSED, counts=(2, 1, 1), sources=2),
    CurvedVariant(3, True, 1.0, (True, False, False), fluid=0.3, sources=2, nodal=True),
    CurvedVariant(2, False, 0.3, CLOSED, damping=True, nodal=True),
    CurvedVariant(1, True, 0.0, CLOSED, fluid=0.4, halved=0.4, counts=(2, 2, 1), sources=3),
    CurvedVariant(2, False, 0.3, (False, True, False), halved=0.1, damping=True, warp=0.2),
    CurvedVariant(3, True, 1.0, TORUS, fluid=0.4, halved=0.4, counts=(2, 2, 1), sources=3),
    CurvedVariant(4, False, 1.0, CLOSED, halved=0.5, counts=(2, 1, 1), seed=1),
    CurvedVariant(2, True, 0.3, CLOSED, fluid=0.4, halved=0.4, nodal=True, counts=(2, 2, 1)),
    CurvedVariant(3, True, 0.3, CLOSED, 0.4, counts=(2, 2, 2), turned=True, nodal=True),
]
