"""Elements that are not bricks: metric terms, and lengths that limit steps and frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from groundswell.arrays import Floats, Integers, Reals
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Hexahedra
from groundswell.meshes.leaves import Leaves
from groundswell.spectral_elements.curl_form import (
    curl_form,
    element_nodes,
    gradient_norms,
    jacobians,
    longest_edges,
    require_positive_metrics,
    require_valid,
)
from groundswell.spectral_elements.geometry import chunks

METRICS = 9  # values at a node


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
    def _measures(self) -> tuple[Floats, Floats, Floats]:
        """Largest sums of `gradient_norms`, longest lines, and volumes."""
        norms, longest, volumes = np.empty((3, self.mesh.count))
        for part in self._chunks(self.mesh.count):
            numbers = np.arange(self.mesh.count)[part]
            nodes = self._nodes(numbers)
            require_valid(nodes, self.degree, numbers)
            metrics = metric_terms(self.mesh, self.degree, numbers)
            require_positive_metrics(metrics, nodes, numbers)
            norms[part] = gradient_norms(metrics).max(axis=1)
            longest[part] = longest_edges(nodes, self.degree)
            volumes[part] = jacobians(metrics) @ gll(self.degree).cube_weights
        return norms, longest, volumes

    def metrics(self, elements: Integers, dtype: DTypeLike) -> Reals:
        """J a^d at the nodes of elements, (elements, 9, nodes); see `metric_terms`.

        Raises:
            InputError: its products exceed the range of the type.
        """
        found = np.empty((len(elements), METRICS, (self.degree + 1) ** AXES), dtype)
        for part in self._chunks(len(elements)):
            metrics = metric_terms(self.mesh, self.degree, elements[part])
            square, limits = jacobians(metrics) ** 2, np.finfo(dtype)
            if not (limits.tiny < square.min() and square.max() < limits.max):
                raise InputError(
                    'elements are too small or too large for run.precision = "single"; use "double"'
                )
            found[part] = metrics
        return found

    def _nodes(self, elements: ArrayLike) -> Floats:
        return element_nodes(self.mesh, self.degree, elements)

    def _chunks(self, count: int) -> list[slice]:
        return list(chunks(count, (self.degree + 1) ** AXES))


def metric_terms(mesh: Hexahedra, degree: int, elements: ArrayLike) -> Floats:
    """J a^d at the nodes of elements, (elements, 9, nodes); see `curl_form`.

    Leaves have the polynomials of their roots. The divergence of these vanishes on each leaf, and
    both sides of a face have the same normals, also where leaves of different sizes meet. The curl
    form of a leaf itself differs if the products in it exceed the degree.
    """
    if not isinstance(mesh, Leaves):
        return curl_form(element_nodes(mesh, degree, elements), degree)
    assert mesh.order == degree
    nodes, root = mesh.root_nodes(elements)
    areas = 0.25 ** mesh.forest.levels[np.asarray(elements)]  # of faces, over those of the root
    return mesh.restrict(curl_form(nodes, degree)[root], elements) * areas[:, None, None]
