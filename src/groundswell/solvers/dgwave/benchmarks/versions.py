"""The solver's own kernel on one rank, and what others offer that are measured beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Launch
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.solvers.dgwave.benchmarks.traffic import Element, KernelCost, advance
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.propagation import Propagation

Costs = Mapping[str, Callable[[Element], KernelCost]]  # by kernel


class Steps(Protocol):
    """Launches that advance the fields of a rank.

    Attributes:
        u: the fields, (elements, fields, nodes).
        blocks: number of blocks that must fit on a multiprocessor; 0 for no limit of registers.
    """

    u: DeviceArray
    blocks: int

    @property
    def kernels(self) -> Mapping[str, list[Launch]]:
        """The launches of each kernel in a step, by kernel name; those of the stages come first."""

    @property
    def step(self) -> list[Launch]:
        """The launches of a step."""


class Version(Protocol):
    """A version of the kernels."""

    @property
    def name(self) -> str:
        """Its name in tables."""

    @property
    def costs(self) -> Costs:
        """The cost of each of its kernels."""

    def build(self, backend: Backend, problem: Discretisation) -> Sequence[Callable[[], Steps]]:
        """Start to compile; functions that create the steps, one for each variant to try."""


class SolverSteps:
    """The solver's own kernel on one rank; see `Steps`."""

    blocks = 0

    def __init__(self, backend: Backend, problem: Discretisation) -> None:
        self._propagation = Propagation(backend, SerialCommunicator(), problem)
        self.u = self._propagation.u

    @property
    def kernels(self) -> dict[str, list[Launch]]:
        """The launches of each kernel in a step, by kernel name."""
        return {"advance": self.step}

    @property
    def step(self) -> list[Launch]:
        """The launches of a step."""
        return self._propagation.step

    @property
    def prepare(self) -> list[Launch]:
        """Launches before the first step."""
        return self._propagation.prepare


class SolverVersion:
    """The solver as a version."""

    name = "solver"

    @property
    def costs(self) -> Costs:
        """The cost of each of its kernels."""
        return {"advance": advance}

    def build(self, backend: Backend, problem: Discretisation) -> list[Callable[[], Steps]]:
        """Start to compile; functions that create the steps, one for each variant to try."""
        return [partial(SolverSteps, backend, problem)]


SOLVER = SolverVersion()


def costs_of(versions: Iterable[Version]) -> Costs:
    """The costs of all kernels of versions."""
    return {name: cost for version in versions for name, cost in version.costs.items()}
