"""-div(k grad u) + c u with heat transfer as a dense matrix, the reference of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from dense_spectral_elements import derivatives

from groundswell.arrays import Floats
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import Hexahedra, face_nodes, positions

Tensors = Callable[[int, Floats], Floats]  # of an element's number and nodes (n, 3): (n, 3, 3)


def dense_matrix(
    mesh: Hexahedra,
    degree: int,
    k: Tensors,
    c: Callable[[int, Floats], Any],
    h: Mapping[int, float],
) -> tuple[Floats, Any]:
    """The matrix, and the ids of its rows, in rising order.

    Args:
        k, c: by number and nodes of an element.
        h: by tag of a side.
    """
    everyone = np.arange(mesh.count)
    ids = mesh.ids(degree, everyone)
    unique, rows = np.unique(ids, return_inverse=True)
    rows, matrix = rows.reshape(ids.shape), np.zeros((len(unique),) * 2)
    tags = mesh.tags(everyone)
    for e, nodes in enumerate(positions(mesh, degree, everyone)):
        of_element = _volume_part(nodes, degree, k(e, nodes), c(e, nodes))
        for face in range(6):
            if (tag := int(tags[e, face])) in h:
                of_element += h[tag] * _face_mass(nodes, degree, face)
        np.add.at(matrix, np.ix_(rows[e], rows[e]), of_element)
    return matrix, unique


def _volume_part(nodes: Floats, degree: int, k: Floats, c: Any) -> Floats:
    along = derivatives(degree)
    jacobian = np.stack([d @ nodes for d in along], axis=-1)  # (nodes, x, r)
    w = gll(degree).weights
    weights = np.kron(np.kron(w, w), w) * np.linalg.det(jacobian)
    inverse = np.linalg.inv(jacobian)  # (nodes, r, x)
    metric = weights[:, None, None] * (inverse @ k @ inverse.transpose(0, 2, 1))
    matrix = sum(
        along[a].T @ (metric[:, a, b, None] * along[b]) for a in range(3) for b in range(3)
    )
    return np.asarray(matrix + np.diag(weights * c))


def _face_mass(nodes: Floats, degree: int, face: int) -> Floats:
    """The mass of a face, by the area that its two tangents span."""
    here, w = face_nodes(degree, face), gll(degree).weights
    first, second = (d @ nodes for a, d in enumerate(derivatives(degree)) if a != face // 2)
    areas = np.linalg.norm(np.cross(first[here], second[here]), axis=1) * np.kron(w, w)
    mass = np.zeros((len(nodes),) * 2)
    mass[here, here] = areas
    return mass
