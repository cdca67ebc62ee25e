"""Memory layout of metric data that is stored for each node.

The factors of a run of nodes are stored together. On GPUs a run is a plane, padded to a multiple of
16 bytes so that bulk copies can fetch it. On CPUs it is an element if each factor is long enough
for a prefetch stream of its own, otherwise a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from groundswell.meshes.hexahedra import Floats

ALIGNMENT = 16  # bytes
MIN_STREAM = 2048  # bytes of a factor that are worth a prefetch stream


@dataclass(frozen=True)
class MetricLayout:
    """The layout of one array.

    Args:
        nodes: of a run.
        pitch: values from one run to the next.
    """

    nodes: int
    pitch: int

    @classmethod
    def of(cls, degree: int, size: int, factors: int, *, on_host: bool) -> MetricLayout:
        """The layout for values of `size` bytes and this number of factors per node."""
        nodes = degree + 1
        if not on_host:
            return cls(nodes**2, plane_bytes(degree, size, factors) // size)
        run = nodes**3 if nodes**3 * size > MIN_STREAM else nodes
        return cls(run, factors * run)

    @property
    def constants(self) -> dict[str, int]:
        """The constants that kernels are compiled with."""
        return {"METRIC_RUN": self.nodes, "METRIC_PITCH": self.pitch}

    def arrange(self, metric: Floats) -> Floats:
        """Arrange a metric, (elements, factors, nodes), as (elements, runs, pitch)."""
        count, factors, nodes = metric.shape
        split = metric.reshape(count, factors, nodes // self.nodes, self.nodes)
        runs = split.swapaxes(1, 2).reshape(count, nodes // self.nodes, factors * self.nodes)
        padding = self.pitch - runs.shape[-1]
        return np.pad(runs, ((0, 0), (0, 0), (0, padding))) if padding else runs


def plane_bytes(degree: int, size: int, factors: int) -> int:
    """Bytes of a plane of nodes, with padding."""
    return -(-factors * (degree + 1) ** 2 * size // ALIGNMENT) * ALIGNMENT
