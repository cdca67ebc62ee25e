"""A uniform fault between two half-spaces in a column of elements: a one-dimensional problem.

The column is periodic in the plane of the fault, and absorbs waves at its ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.octree import uniform_forest
from groundswell.seismology.faults.conditions import FaultConditions
from groundswell.seismology.faults.points import FaultPoints, frame_of
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.discretisation import Discretisation
from groundswell.solvers.dgwave.equations import ABSORBING, ELASTIC, FaceSides
from groundswell.solvers.dgwave.fault_slip import RECORDED, VARIABLES
from groundswell.solvers.dgwave.faults.faces import Plane, faces_on_plane
from groundswell.solvers.dgwave.faults.model import Fault
from groundswell.solvers.dgwave.faults.rank import RankFault
from groundswell.solvers.dgwave.mesh.elements import OUTSIDE, RankElements
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.terms import Terms
from groundswell.time_integration.step_limits import dg_step

VP, VS, RHO = 6000.0, 3464.0, 2670.0  # TPV3 and TPV104
ETA = RHO * VS / 2
NOTHING = np.empty((0, 4))


@dataclass(frozen=True)
class UniformColumn:
    """A column of cubes across a uniform fault.

    Args:
        law: friction with parameters that are numbers.
        normal: compressive normal stress, Pa.
        shear: initial shear stress along strike and up dip, Pa.
        state: initial state of the friction law.
        added, rise: shear stress that nucleation adds, Pa, and its duration, s.
        axis: normal of the fault.
    """

    law: Any
    normal: float
    shear: tuple[float, float]
    state: float = 0.0
    added: tuple[float, float] = (0.0, 0.0)
    rise: float = 0.0
    axis: int = 1
    degree: int = 4
    edge: float = 400.0
    cells: int = 20
    dtype: str = "float64"

    def history(self, backend: Backend, duration: float) -> dict[str, Floats]:
        """The values at the first point at the beginning of each step, by name; and the times.

        "spread" is the largest difference between the slip rates of points.
        """
        problem = self.discretisation()
        found = Propagation(backend, SerialCommunicator(), problem)
        assert found.fault is not None
        in_order(found.prepare)()
        step, rows = in_order(found.step), []
        for n in range(int(np.ceil(duration / problem.dt))):
            before = backend.to_host(found.fault.slip)
            step()
            backend.synchronize()
            now = backend.to_host(found.fault.recorded)
            spread = np.ptp(now[0]) + np.ptp(now[1])
            rows.append([n * problem.dt, spread, *before[:, 0], *now[:, 0]])
        names = ("time", "spread", *VARIABLES, *RECORDED)
        return dict(zip(names, np.array(rows).T, strict=True))

    def discretisation(self) -> Discretisation:
        """The problem of a single rank."""
        edges = [np.arange(2) * self.edge] * 3
        edges[self.axis] = np.arange(self.cells + 1) * self.edge
        periodic = (self.axis != 0, self.axis != 1, self.axis != 2)
        forest = uniform_forest(tuple(edges), 0, periodic)
        elements = RankElements(forest, np.array([0, forest.count]), 0)
        outside, faces = elements.neighbours == OUTSIDE, (elements.count, 6)
        return Discretisation(
            ELASTIC,
            self.degree,
            self.dtype,
            float(dg_step((self.edge,) * 3, VP, self.degree, 1.0)) / 2,
            elements,
            _rock((elements.count,)),
            FaceSides(_rock(faces), outside, np.full(faces, ABSORBING), 1.0),
            FaceSides(_rock(NOTHING.shape), NOTHING.astype(bool), NOTHING, 1.0),
            Terms(self.degree, 9, elements.count),
            fault=self._fault(elements),
        )

    def _fault(self, elements: RankElements) -> RankFault:
        end = (self.edge, self.edge)
        plane = Plane(self.axis, self.cells // 2 * self.edge, (0.0, 0.0), end)
        faces = faces_on_plane(elements.forest, plane)
        count = faces.count * (self.degree + 1) ** 2
        normal = np.zeros((count, 3))
        normal[:, self.axis] = 1.0 if faces.faces[0, 0] % 2 else -1.0
        nothing = np.zeros(count)
        position, frame = np.zeros((count, 3)), frame_of(normal)
        points = FaultPoints(position, normal, *frame, nothing, nothing, nothing)
        conditions = FaultConditions(
            law=self.law,
            normal_stress=nothing + self.normal,
            shear_strike=nothing + self.shear[0],
            shear_updip=nothing + self.shear[1],
            initial_rate=nothing,
            state=nothing + self.state,
            added_strike=nothing + self.added[0],
            added_updip=nothing + self.added[1],
            added_duration=self.rise,
        )
        fault = Fault("fault", faces, points, conditions, (_rock((count,)), _rock((count,))))
        return RankFault.of(elements, faces, fault.tables)


def _rock(shape: tuple[int, ...]) -> Material:
    return Material(*(np.full(shape, value) for value in (VP, VS, RHO)))
