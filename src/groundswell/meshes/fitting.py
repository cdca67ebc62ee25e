"""Elements with curves of their own: whether neighbours fit, and the nodes that they share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from groundswell.errors import InputError, counted
from groundswell.meshes.mesh import Mesh

_FITS = 1e-4  # distance of nodes that neighbours share, over the size of the element


def share_nodes(mesh: Mesh) -> Mesh:
    """The mesh in which neighbours have common nodes at the same places, their mean.

    Raises:
        InputError: shared faces or edges are curved differently.
    """
    ids = mesh.ids(mesh.order, np.arange(mesh.count)).ravel()
    points = mesh.nodes.reshape(-1, 3)
    counts = np.maximum(np.bincount(ids), 1)
    mean = np.stack([np.bincount(ids, points[:, axis]) / counts for axis in range(3)], axis=1)
    nodes = mean[ids].reshape(mesh.nodes.shape)
    sizes = np.linalg.norm(np.ptp(mesh.nodes, axis=1), axis=1)
    apart = np.linalg.norm(nodes - mesh.nodes, axis=2).max(axis=1) > _FITS * sizes
    if apart.any():
        x, y, z = mesh.nodes[np.argmax(apart)].mean(axis=0)
        raise InputError(
            f"{counted(int(apart.sum()), 'element')} with sides that are curved otherwise in their "
            f"neighbours, the first is around ({x:.6g}, {y:.6g}, {z:.6g}) m; give the curve of a "
            "side in all elements that have it"
        )
    return replace(mesh, nodes=nodes)
