"""States that checkpoint tests write, and how they are compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from groundswell.exchange.communicator import SerialCommunicator
from groundswell.simulation.checkpoint import (
    DistributedArray,
    Progress,
    State,
)

PROGRESS = Progress(1234, "digest", {"seismograms": 77, "surface": 5})


class Memory:
    """A backend that is just memory."""

    def to_host(self, array: np.ndarray) -> np.ndarray:
        return np.array(array)

    def assign(self, target: np.ndarray, host: np.ndarray) -> None:
        target[...] = host


BACKEND: Any = Memory()


def state(seed: int) -> dict[str, np.ndarray]:
    """A padded field (a view that is not contiguous), a scalar, memory of no cells and layers."""
    rng = np.random.default_rng(seed)
    return {
        "vx": rng.normal(size=(5, 6, 32)).astype("f4")[:, :, 3:20],
        "layers/velocity/x": rng.normal(size=(3, 4)),
        "clock": rng.integers(0, 10**12, 1),
        "peaks": rng.normal(size=(2, 0)),
    }


def alone(arrays: dict[str, np.ndarray]) -> State:
    """Whole arrays at the only rank."""
    return {
        name: DistributedArray.replicated(array, SerialCommunicator())
        for name, array in arrays.items()
    }


def assert_same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, array in expected.items():
        assert found[name].tobytes() == array.tobytes(), name
