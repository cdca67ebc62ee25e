"""Data that consecutive runs in one process share: the open device and parts of set-ups."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from groundswell.backends import Backend
from groundswell.simulation.kept_parts import KeptParts


@dataclass
class RunSession:
    """Devices that stay open, with their bandwidths, and parts of set-ups that are reused.

    An open backend keeps its compiled kernels and allocated memory.

    Args:
        turn: context of the time steps of a run, such as a lock on a device that other processes
            use, too.
        measures: whether to measure bandwidths, which other processes would disturb.
    """

    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    kept: KeptParts = field(default_factory=KeptParts)
    measures: bool = True
    _backends: dict[str, Backend] = field(default_factory=dict, init=False)
    _bandwidths: dict[str, float] = field(default_factory=dict, init=False)

    def backend(self, name: str, open_one: Callable[[], Backend]) -> Backend:
        """The open backend of this name; `open_one` opens it for the first run."""
        if name not in self._backends:
            self._backends[name] = open_one()
        return self._backends[name]

    def bandwidth(self, name: str, measure: Callable[[], float]) -> float:
        """The memory bandwidth, bytes/s, of the devices of all ranks; measured once."""
        if name not in self._bandwidths:
            self._bandwidths[name] = measure()
        return self._bandwidths[name]
