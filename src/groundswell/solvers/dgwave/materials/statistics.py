"""Extremes of the material in each element of a run, and in all elements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from groundswell.arrays import Floats, Integers, Mask, Reals
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.materials.elements import ElementMaterials


@dataclass(frozen=True, eq=False)
class ElementStatistics:
    """Extremes over the nodes of each element, absorbing layers included, arrays (elements,).

    Wave speeds are those at the reference frequency of attenuation.

    Args:
        vp, vs: speeds of the fastest P and S wave, m/s; vs = 0 in a fluid.
        average_vp: P speed of the average material, m/s.
        average_rho: its density, kg/m^3.
        slowest: speed of the slowest wave, S in solids and P in fluids, m/s.
        qp, qs: smallest quality factors; infinite where they are undefined.
        qp_qs: largest Qp/Qs over 3/4 (vp/vs)^2; 0 where it is undefined.
        is_mixed: whether the element has its average material because it contains fluid and solid.
    """

    vp: Floats
    vs: Floats
    average_vp: Floats
    average_rho: Floats
    slowest: Floats
    qp: Floats
    qs: Floats
    qp_qs: Floats
    is_mixed: Mask

    @property
    def vp_max(self) -> float:
        """Speed of the fastest P wave, m/s."""
        return float(self.vp.max())

    @property
    def vs_max(self) -> float:
        """Speed of the fastest S wave, m/s; 0 without solids."""
        return float(self.vs.max())

    @property
    def speed_min(self) -> float:
        """Speed of the slowest wave, m/s."""
        return float(self.slowest.min())

    @property
    def qp_min(self) -> float | None:
        """The smallest Qp; None without attenuation."""
        return _smallest(self.qp)

    @property
    def qs_min(self) -> float | None:
        """The smallest Qs of solids; None without attenuation or solids."""
        return _smallest(self.qs)

    @property
    def qp_qs_max(self) -> float:
        """The largest Qp/Qs over 3/4 (vp/vs)^2; above 1, pure compression gains energy."""
        return float(self.qp_qs.max())

    @property
    def fluid(self) -> int:
        """Number of fluid elements."""
        return int((self.vs == 0).sum())

    @property
    def mixed(self) -> int:
        """Number of elements that contain fluid and solid."""
        return int(self.is_mixed.sum())


def element_statistics(
    elements: ElementMaterials, comm: Communicator | None = None
) -> ElementStatistics:
    """The statistics of all elements; each rank reads the material of a part of them.

    Raises:
        InputError: the material is unreadable or unphysical.
    """
    job = comm or SerialCommunicator()
    own = share_of(elements.geometry.count, job)
    parts = job.collective_try(lambda: [_extremes(elements, n) for n in elements.chunks(own)])
    return _joined(part for parts in job.allgather(parts) for part in parts)


def share_of(count: int, job: Communicator) -> Integers:
    """The numbers of a rank's share of things to read; in the order of ranks, they ascend."""
    return np.array_split(np.arange(count), job.size)[job.rank]


def _joined(parts: Iterable[ElementStatistics]) -> ElementStatistics:
    columns = zip(*(vars(part).values() for part in parts), strict=True)
    return ElementStatistics(*map(np.concatenate, columns))


def _extremes(elements: ElementMaterials, leaves: Integers) -> ElementStatistics:
    nodes, is_mixed = elements.at_nodes(leaves)
    qp, qs = _quality(nodes)
    average = elements.average(leaves)
    return ElementStatistics(
        vp=nodes.vp.max(axis=1),
        vs=nodes.vs.max(axis=1),
        average_vp=np.asarray(average.vp, np.float64),
        average_rho=np.asarray(average.rho, np.float64),
        slowest=np.where(nodes.vs > 0, nodes.vs, nodes.vp).min(axis=1),
        qp=qp.min(axis=1),
        qs=qs.min(axis=1),
        qp_qs=_qp_qs(nodes, qp, qs).max(axis=1),
        is_mixed=is_mixed if elements.is_nodal else elements.fluid_with_solid(leaves),
    )


def _quality(material: Material) -> tuple[Reals, Reals]:
    """Qp and Qs, infinite where they are undefined."""
    if material.qp is None or material.qs is None:
        undefined = np.full(material.vp.shape, np.inf)
        return undefined, undefined
    return material.qp, np.where(material.vs > 0, material.qs, np.inf)


def _qp_qs(material: Material, qp: Reals, qs: Reals) -> Reals:
    """Qp/Qs over 3/4 (vp/vs)^2, 0 where it is undefined."""
    has_limit, found = np.isfinite(qs), np.zeros(qs.shape)
    vp_vs = material.vp[has_limit] / material.vs[has_limit]
    found[has_limit] = qp[has_limit] / qs[has_limit] / (0.75 * vp_vs**2)
    return found


def _smallest(quality: Floats) -> float | None:
    smallest = float(quality.min())
    return smallest if np.isfinite(smallest) else None
