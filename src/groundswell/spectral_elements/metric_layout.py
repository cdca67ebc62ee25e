"""How a stored metric lies in memory: the factors of a run of nodes together (kernels/element.h).

On GPUs a run is a plane, which can be copied apart, as it is whole pieces of 16 bytes. On CPUs it
is a row; or an element, if each of its factors is worth a stream of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.meshes.hexahedra import Floats

PIECE = 16  # bytes
LEAST_STREAM = 2048  # bytes of a factor for which a core's prefetchers are worth starting


@dataclass(frozen=True)
class Runs:
    """Those of one metric.

    Args:
        nodes: of a run.
        pitch: values from each run to the next.
    """

    nodes: int
    pitch: int

    @classmethod
    def of(cls, degree: int, size: int, factors: int, *, on_host: bool) -> Runs:
        """Where values have `size` bytes, and nodes so many factors."""
        nodes = degree + 1
        if not on_host:
            return cls(nodes**2, plane_bytes(degree, size, factors) // size)
        run = nodes**3 if nodes**3 * size > LEAST_STREAM else nodes
        return cls(run, factors * run)

    @property
    def constants(self) -> dict[str, int]:
        """What kernels call these numbers."""
        return {"METRIC_RUN": self.nodes, "METRIC_PITCH": self.pitch}

    def lay(self, metric: Floats) -> Floats:
        """A metric, (elements, factors, nodes), as (elements, runs, pitch)."""
        count, factors, nodes = metric.shape
        apart = metric.reshape(count, factors, nodes // self.nodes, self.nodes)
        runs = apart.swapaxes(1, 2).reshape(count, nodes // self.nodes, factors * self.nodes)
        filled = self.pitch - runs.shape[-1]
        return np.pad(runs, ((0, 0), (0, 0), (0, filled))) if filled else runs


def plane_bytes(degree: int, size: int, factors: int) -> int:
    """Of a plane of nodes and what fills its last piece."""
    return -(-factors * (degree + 1) ** 2 * size // PIECE) * PIECE
