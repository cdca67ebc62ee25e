"""Yielding of a rank's rock: the arrays of kernels/yielding.h, and the launches that use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Blocks, Launch, Source
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.kernel_source import kernel_source
from groundswell.solvers.dgwave.plasticity.rank import RankRock

WARP, MOST_THREADS = 32, 256  # threads of a block, at least and at most


class Yielding:
    """Yielding at the nodes of a rank's elements.

    Attributes:
        strain: accumulated plastic strain, (elements, nodes).
    """

    def __init__(self, backend: Backend, problem: Discretisation, rock: RankRock) -> None:
        self._backend, self._problem, self._rock = backend, problem, rock
        self.strain = backend.zeros((problem.elements.count, problem.nodes), problem.dtype)
        self._module = backend.compile(yielding_source(problem, is_sheared=rock.is_sheared))

    def reset(self) -> None:
        """Return to the state before the run."""
        self._backend.assign(self.strain, np.zeros(self.strain.shape, str(self.strain.dtype)))

    def launches(
        self, elements: Mapping[str, DeviceArray | int], stage: int, part: range
    ) -> list[Launch]:
        """The launch that relaxes the stress in some elements after the last stage of a step.

        Args:
            elements: ELEMENT_ARGUMENTS of kernels/elements.h.
            part: numbers of the elements within the rank.
        """
        if not part:
            return []
        extent = Blocks(len(part), _threads(self._problem.nodes))
        where = {"stage": stage, "first": part.start, "count": len(part)}
        return [self._module.launch("yield_rock", extent, **elements, **self._arguments, **where)]

    @cached_property
    def _arguments(self) -> dict[str, DeviceArray]:
        rock, to_device = self._rock, self._backend.to_device
        return {
            "rock": to_device(rock.table),
            "rock_rows": to_device(rock.rows),
            "plastic_strain": self.strain,
            "remembered": to_device(np.array([rock.remembered(self._problem.dt)])),
        }


def _threads(nodes: int) -> int:
    """Threads of the block of an element: whole warps, with a node each or several."""
    return min(-(-nodes // WARP) * WARP, MOST_THREADS)


def yielding_source(problem: Discretisation, *, is_sheared: bool) -> Source:
    """The kernel of yielding rock.

    Args:
        is_sheared: whether the initial stress has a deviator.
    """
    source = kernel_source("yielding.h", problem)
    return replace(source, constants={**source.constants, "SHEARED": is_sheared})
