"""The strain Green tensor of a run: strain at points, as sums over the loads of moments there.

A moment acts on the stress as a load on the elements around it. With the same load as weight, and
the quadrature of the elements, the strain that the stress implies is the strain at the point. Then
a moment and a force are interchangeable, as the scheme is self-adjoint with these weights. The
force itself is a load, too, where seismograms are values at a point; the two differ as much as the
scheme is inaccurate.

Stress S and memory variables theta_l imply the strain E: since d theta_l / dt = omega_l (e -
theta_l), see kernels/attenuation.h,

    S = (M - sum_l M_l) E + sum_l M_l theta_l / omega_l.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundswell.arrays import Floats, Integers
from groundswell.backends import Items, Launch, Source
from groundswell.backends.source import precision
from groundswell.exchange.communicator import Communicator
from groundswell.meshes.gll import gll
from groundswell.outputs.ring_buffer import Output
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.green.files import FILE, GreenTimes, GreenWriter, medium_digest
from groundswell.seismology.green.points import GreenSurvey, StrainPoints
from groundswell.seismology.green.recording import RankStrain, StrainSeries, WeightedRows
from groundswell.seismology.media.material import lame
from groundswell.seismology.sources.event import date_attributes
from groundswell.seismology.sources.point_sources import PointSource
from groundswell.solvers.dgwave.equations import KERNELS
from groundswell.solvers.dgwave.kernel_shapes import pitch
from groundswell.solvers.dgwave.materials.anelastic import Materials
from groundswell.solvers.dgwave.recording.rank import RankFields
from groundswell.solvers.dgwave.source_loads import element_volumes, point_loads

STRESSES = 6
# Place in fields of xx, yy, zz, xy, xz and yz.
PLACES = (0, 1, 2, 5, 4, 3)


def loads_source(dtype: str) -> Source:
    """The source of the kernel that sums fields over loads, for a floating-point type."""
    return Source(KERNELS / "loads.h", precision(dtype))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a point and an element with a part of its load, sorted.

    Args:
        points: (pairs,).
        elements: of all ranks, (pairs,).
    """

    points: Integers
    elements: Integers

    @property
    def keys(self) -> list[tuple[int, int]]:
        """The pairs as tuples."""
        return [*zip(self.points.tolist(), self.elements.tolist(), strict=True)]

    @classmethod
    def of_ranks(cls, own: Pairs, comm: Communicator) -> Pairs:
        """The pairs of all ranks, each of which knows the whole loads that it has a part of."""
        found = comm.allgather(np.stack([own.points, own.elements], axis=1))
        points, elements = np.unique(np.concatenate(found), axis=0).T
        return cls(points.copy(), elements.copy())


def find_loads(
    materials: Materials, points: StrainPoints, own: Integers
) -> tuple[Pairs, dict[tuple[int, int], Floats]]:
    """The pairs of the points whose loads cover elements of a rank, and the weights of its own.

    Args:
        own: the elements of the rank.

    Returns:
        The pairs, and by pair of a point and an own element the weights of its nodes, (nodes,).
    """
    elements, weights = materials.elements, dict[tuple[int, int], Floats]()
    is_own = np.zeros(elements.geometry.count, bool)
    is_own[own] = True
    cube, pairs = gll(elements.geometry.degree).cube_weights, []
    for point, load in point_loads(elements, [*_moments(points)], is_own):
        mine = np.flatnonzero(is_own[load.elements])
        integrals = load.values[mine] * element_volumes(elements.geometry, load.elements[mine])
        pairs += [(point, element) for element in load.elements.tolist()]
        for element, of_nodes in zip(load.elements[mine].tolist(), integrals * cube, strict=True):
            weights[point, element] = of_nodes
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return Pairs(found[:, 0], found[:, 1]), weights


def _moments(points: StrainPoints) -> Iterator[PointSource]:
    for x, y, z in points.positions.tolist():
        yield PointSource((x, y, z), np.ones(STRESSES), None, 0.0, 1.0, np.ones(1))


def strain_rows(materials: Materials, points: StrainPoints, pairs: Pairs) -> WeightedRows:
    """How the strains at points follow from sums of fields over pairs.

    A row has, for each of its pairs, the six sums of the stress and of each mechanism.
    """
    factors = _factors(materials, pairs.elements)
    groups = factors.shape[1]
    order = np.argsort(pairs.points, kind="stable")
    bounds = np.searchsorted(pairs.points[order], np.arange(len(points) + 1))
    starts, index, weights = [0], [], []
    for point in range(len(points)):
        mine = order[bounds[point] : bounds[point + 1]]
        for tensor in points.basis[point]:
            index.append((mine[:, None] * groups * STRESSES + np.arange(groups * STRESSES)).ravel())
            weights.append(np.einsum("t,pgtc->pgc", tensor, factors[mine]).ravel())
            starts.append(starts[-1] + len(index[-1]))
    return WeightedRows(np.array(starts), np.concatenate(index), np.concatenate(weights))


def _factors(materials: Materials, elements: Integers) -> Floats:
    """Strains of unit fields, contracted with unit tensors xx, yy, zz, xy, xz and yz.

    Returns:
        (elements, groups, tensors, fields): of the stress, and of each mechanism.
    """
    lam, mu = (np.asarray(of, float) for of in lame(materials.unrelaxed(elements)))
    one = np.ones_like(lam)
    stress = [(one, 0 * one, one)]
    bodies = materials.bodies(elements)
    if bodies is not None:
        of_s = mu[:, None] * bodies.s
        of_lam = (lam + 2 * mu)[:, None] * bodies.p - 2 * of_s
        for n, rate in enumerate(bodies.rates):
            lost = -of_s[:, n] / rate
            stress.append((2 * lost, -of_lam[:, n] / rate, lost))
        lam, mu = lam - of_lam.sum(axis=1), mu - of_s.sum(axis=1)
    compliance = 1 / (2 * mu), -lam / (2 * mu * (3 * lam + 2 * mu))
    return np.stack([_contraction(compliance, of) for of in stress], axis=1)


def _contraction(compliance: tuple[Floats, Floats], stress: tuple[Floats, ...]) -> Floats:
    """The strain a T + b tr(T) I due to the stress T of a field X.

    Args:
        compliance: a and b, (elements,).
        stress: c, d and s, (elements,), of normal stress c X + d tr(X) I and shear stress s X.

    Returns:
        Contractions with unit tensors, those of shear with xy and yx, for unit components of X,
        (elements, tensors, fields).
    """
    (a, b), (c, d, shear) = compliance, stress
    found = np.zeros((len(a), STRESSES, STRESSES))
    trace = a * d + b * (c + 3 * d)
    for n in range(3):
        found[:, n, :3] = trace[:, None]
        found[:, n, n] += a * c
    for n in range(3, STRESSES):
        found[:, n, PLACES[n]] = 2 * a * shear
    return found


class GreenRecords:
    """The recorder of strain on one rank; all ranks must create it.

    Attributes:
        name: name of the output.
        strain: sums of fields over the rank's pairs.
        launches: the kernels that record samples, in order, at the beginning of a step.
    """

    name = GREEN

    def __init__(self, rank: RankFields, survey: GreenSurvey) -> None:
        self._rank, self._survey, setup = rank, survey, rank.setup
        own, weights = find_loads(setup.materials, survey.points, rank.elements.numbers)
        pairs = Pairs.of_ranks(own, rank.comm)
        mine = np.array([n for n, key in enumerate(pairs.keys) if key in weights], np.int64)
        of_nodes = [weights[key] for key in pairs.keys if key in weights]
        self.strain = self._zeros(mine, len(pairs.points))
        rows = strain_rows(setup.materials, survey.points, pairs)
        where = rank.backend, rank.comm
        self.series = StrainSeries(*where, rows, self.strain, setup.strain_stride)
        sums = self._sum(pairs.elements[mine], np.array(of_nodes)) if len(mine) else []
        self.launches = [*sums, *self.series.launches]

    def _zeros(self, mine: Integers, count: int) -> RankStrain:
        """Sums of zero for the rank's pairs, of all `count` pairs."""
        values = STRESSES * (1 + self._rank.setup.materials.mechanisms)  # of a pair
        numbers = (mine[:, None] * values + np.arange(values)).ravel()
        sums = self._rank.backend.zeros((len(numbers),), "float64")
        return RankStrain(sums, numbers, count * values, self._rank.propagation.clock)

    def _sum(self, elements: Integers, weights: Floats) -> list[Launch]:
        """The launch that sums the fields over the rank's pairs.

        Args:
            elements: of the pairs, among all ranks', (pairs,).
            weights: (pairs, nodes).
        """
        rank, setup, to_device = self._rank, self._rank.setup, self._rank.backend.to_device
        rows = np.full(setup.geometry.count, -1)
        rows[rank.elements.numbers] = np.arange(rank.elements.count)
        fields, memory = rank.propagation.u, rank.propagation.memory
        arrays = {
            "sums": self.strain.values,
            "u": fields,
            "theta": memory if memory.size else fields,
            "elements": to_device(rows[elements].astype(np.int64)),
            "weights": to_device(weights),
            "clock": self.strain.clock,
        }
        items = len(self.strain.numbers)
        sizes = {
            "every": setup.strain_stride,
            "pitch": pitch(setup.degree, len(setup.equations.fields)),
            "groups": 1 + setup.materials.mechanisms,
            "nodes": weights.shape[1],
            "items": items,
        }
        module = rank.backend.compile(loads_source(setup.dtype))
        return [module.launch("sum_over_loads", Items(items), **arrays, **sizes)]

    def open(self, folder: Path, length: int | None) -> Output:
        """Open the file; `length` is the number of samples to keep when a run resumes."""
        setup = self._rank.setup
        if not self._rank.comm.first:
            return self.series.output(None, lambda *_: None)
        azimuth = setup.geography.true_azimuth if setup.geography else 0.0
        attrs = {**date_attributes(setup.case, setup.survey), "azimuth": azimuth}
        attrs["medium"] = medium_digest(setup.case)
        times = GreenTimes(setup.dt, setup.strain_stride, setup.time_axis.start)
        writer = GreenWriter(folder / FILE, self._survey, times, attrs, length, setup.dtype)
        return self.series.output(writer, writer.append)
