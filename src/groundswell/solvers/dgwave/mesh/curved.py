"""Elements that are not bricks: metric terms, and lengths that limit steps and frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import Floats, Integers, Reals
from groundswell.backends.host_threads import for_each
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Hexahedra
from groundswell.meshes.leaves import Leaves
from groundswell.spectral_elements.curl_form import (
    are_positive,
    curl_form,
    element_nodes,
    gradient_norms,
    jacobians,
    longest_edges,
    positive_jacobians,
    require_positive,
    require_valid,
)
from groundswell.spectral_elements.geometry import chunks
from groundswell.spectral_elements.trilinear_metrics import (
    LEAST_DEGREE,
    longest_straight_edges,
    trilinear_metrics,
)

METRICS = 9  # values at a node

Measures = tuple[Floats, Floats, Floats]


@dataclass(frozen=True, eq=False)
class CurvedElements:
    """The geometry of elements at their nodes."""

    mesh: Hexahedra
    degree: int

    @cached_property
    def edges(self) -> Floats:
        """Edges of the bricks with the same stable time step, (elements, 3), m.

        They are those of the node with the shortest step, where 1 / hx + 1 / hy + 1 / hz is half of
        |a^r| + |a^s| + |a^t|.

        Raises:
            InputError: a Jacobian is not positive.
        """
        return 2 * AXES / self._measures[0][:, None] * np.ones(AXES)

    @property
    def longest(self) -> Floats:
        """The longest line of nodes in each element, (elements,), m."""
        return self._measures[1]

    @property
    def volumes(self) -> Floats:
        """Volumes of the elements, (elements,), m^3."""
        return self._measures[2]

    @cached_property
    def _measures(self) -> Floats:
        """Largest sums of `gradient_norms`, longest lines, and volumes, (3, elements)."""
        found = np.empty((3, self.mesh.count))
        measure = self._measure_straight if self._is_straight else self._measure

        def store(part: slice) -> None:
            found[:, part] = measure(np.arange(self.mesh.count)[part])

        for_each(store, self._chunks(self.mesh.count))
        return found

    def _measure(self, numbers: Integers) -> Measures:
        """The same for some elements, (elements,) each."""
        nodes, metrics = _nodes_and_metrics(self.mesh, self.degree, numbers)
        require_valid(nodes, self.degree, numbers)
        determinants = positive_jacobians(metrics, nodes, numbers)
        norms = gradient_norms(metrics, determinants).max(axis=1)
        return norms, longest_edges(nodes, self.degree), self._integrals(determinants)

    def _measure_straight(self, numbers: Integers) -> Measures:
        """The same for elements with straight edges; their Jacobians are those of the maps."""
        corners = self.mesh.geometry_nodes(numbers)
        metrics, determinants = trilinear_metrics(corners, self.degree)
        if not are_positive(determinants).all():
            require_positive(determinants, self._nodes(numbers), numbers)
        norms = gradient_norms(metrics, determinants).max(axis=1)
        return norms, longest_straight_edges(corners), self._integrals(determinants)

    def _integrals(self, values: Floats) -> Floats:
        """Integrals of values at the nodes of reference elements, (elements, nodes)."""
        return np.asarray(values @ gll(self.degree).cube_weights)

    @property
    def _is_straight(self) -> bool:
        return is_straight(self.mesh, self.degree)

    def metrics(self, elements: Integers, dtype: DTypeLike) -> Reals:
        """J a^d at the nodes of elements, (elements, 9, nodes); see `metric_terms`.

        Raises:
            InputError: its products exceed the range of the type.
        """
        found = np.empty((len(elements), METRICS, (self.degree + 1) ** AXES), dtype)

        def store(part: slice) -> None:
            metrics = metric_terms(self.mesh, self.degree, elements[part])
            square, limits = jacobians(metrics) ** 2, np.finfo(dtype)
            if not (limits.tiny < square.min() and square.max() < limits.max):
                raise InputError(
                    'elements are too small or too large for run.precision = "single"; use "double"'
                )
            found[part] = metrics

        for_each(store, self._chunks(len(elements)))
        return found

    def _nodes(self, elements: ArrayLike) -> Floats:
        return element_nodes(self.mesh, self.degree, elements)

    def _chunks(self, count: int) -> list[slice]:
        return list(chunks(count, (self.degree + 1) ** AXES))


def is_straight(mesh: Hexahedra, degree: int) -> bool:
    """Whether metric terms are those of `trilinear_metrics`."""
    return mesh.order == 1 and degree >= LEAST_DEGREE


def metric_terms(mesh: Hexahedra, degree: int, elements: ArrayLike) -> Floats:
    """J a^d at the nodes of elements, (elements, 9, nodes); see `curl_form`.

    Leaves have the polynomials of their roots. The divergence of these vanishes on each leaf, and
    both sides of a face have the same normals, also where leaves of different sizes meet. The curl
    form of a leaf itself differs if the products in it exceed the degree.
    """
    if is_straight(mesh, degree):
        return trilinear_metrics(mesh.geometry_nodes(elements), degree)[0]
    if not isinstance(mesh, Leaves):
        return curl_form(element_nodes(mesh, degree, elements), degree)
    return _metrics_from_roots(mesh, *mesh.root_nodes(elements), elements)


def _nodes_and_metrics(mesh: Hexahedra, degree: int, elements: ArrayLike) -> tuple[Floats, Floats]:
    """See `element_nodes` and `metric_terms`, of elements that are not straight."""
    if not isinstance(mesh, Leaves):
        nodes = element_nodes(mesh, degree, elements)
        return nodes, curl_form(nodes, degree)
    nodes, root = mesh.root_nodes(elements)
    metrics = _metrics_from_roots(mesh, nodes, root, elements)
    return mesh.nodes_from_roots(nodes, root, elements), metrics


def _metrics_from_roots(mesh: Leaves, nodes: Floats, root: Integers, elements: ArrayLike) -> Floats:
    """See `metric_terms`; `nodes` and `root` are those of `root_nodes`."""
    areas = 0.25 ** mesh.forest.levels[np.asarray(elements)]  # of faces, over those of the root
    metrics = mesh.restrict(curl_form(nodes, mesh.order)[root], elements)
    return metrics if (areas == 1).all() else metrics * areas[:, None, None]
