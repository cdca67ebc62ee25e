"""All faults of a run: their faces, and what friction needs at their points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from groundswell.arrays import Floats
from groundswell.seismology.faults.conditions import FaultConditions, lengths_of
from groundswell.seismology.faults.estimates import FaultEstimates
from groundswell.seismology.faults.points import FaultPoints
from groundswell.seismology.faults.rupture import mean_rigidity
from groundswell.seismology.faults.subfaults import FaceQuadrature, Subfaults
from groundswell.seismology.media.material import Material
from groundswell.solvers.dgwave.faults.faces import FaultFaces
from groundswell.solvers.dgwave.faults.rank import FaultTables


@dataclass(frozen=True, eq=False)
class Fault:
    """A fault of all ranks.

    Args:
        name: its name, for messages and files.
        faces: its faces.
        points: their points, in the order of the footwall's nodes.
        conditions: friction and stress at the points.
        walls: the rock of the footwall and of the hanging wall at the points.
    """

    name: str
    faces: FaultFaces
    points: FaultPoints
    conditions: FaultConditions
    walls: tuple[Material, Material]

    @property
    def impedances(self) -> Floats:
        """Those of P and S waves in the footwall, then in the hanging wall, (4, points)."""
        return np.stack([rock.rho * v for rock in self.walls for v in (rock.vp, rock.vs)])

    @property
    def spacing(self) -> float:
        """Mean distance between nodes, m."""
        per_face = len(self.points) / self.faces.count
        edge = sqrt(float(self.points.area.sum()) / self.faces.count)
        return edge / (sqrt(per_face) - 1)

    @property
    def mu(self) -> Floats:
        """The shear modulus for the moment, of both walls, (points,), Pa."""
        return mean_rigidity(*(rock.rho * rock.vs**2 for rock in self.walls))

    @cached_property
    def estimates(self) -> FaultEstimates:
        """Strength and stress before the rupture, for the softer wall."""
        mu = np.stack([rock.rho * rock.vs**2 for rock in self.walls])
        soft = mu.argmin(axis=0)
        vp, vs = (
            np.choose(soft, [getattr(rock, name) for rock in self.walls]) for name in ("vp", "vs")
        )
        poisson = (vp**2 - 2 * vs**2) / (2 * (vp**2 - vs**2))
        rock = mu.min(axis=0), poisson, self.damping
        return FaultEstimates(self.points, self.conditions, *rock)

    @property
    def damping(self) -> Floats:
        """Shear stress by which slip is slowed over its rate, (points,), Pa s/m."""
        _, foot, _, hanging = self.impedances
        return np.asarray(foot * hanging / (foot + hanging))

    @property
    def tables(self) -> FaultTables:
        """What friction needs at the points."""
        given, count = self.conditions, len(self.points)
        axes = [getattr(self.points, name).T for name in ("normal", "strike", "updip")]
        loads = (
            *(given.normal_stress, given.shear_strike, given.shear_updip),
            *(given.added_strike, given.added_updip, given.added_duration),
        )
        return FaultTables(
            given.law.number,
            given.law.table(count),
            np.concatenate(axes),
            self.impedances,
            np.stack([np.broadcast_to(load, count) for load in loads]).astype(float),
            np.broadcast_to(given.state, count).astype(float),
        )


@dataclass(frozen=True, eq=False)
class Faults:
    """The faults of a run, all with the same law of friction."""

    faults: Sequence[Fault]

    @property
    def points(self) -> int:
        """Number of points of all faults."""
        return sum(len(fault.points) for fault in self.faults)

    @property
    def faces(self) -> FaultFaces:
        """The faces of all faults."""
        return FaultFaces.concatenate([fault.faces for fault in self.faults])

    @property
    def named_points(self) -> dict[str, FaultPoints]:
        """The points of each fault, by its name."""
        return {fault.name: fault.points for fault in self.faults}

    @property
    def conditions(self) -> list[FaultConditions]:
        """The conditions of each fault."""
        return [fault.conditions for fault in self.faults]

    @cached_property
    def lengths(self) -> Floats:
        """The slip in which the state evolves at the points of all faults, m; see `lengths_of`."""
        return lengths_of(self.conditions)

    @property
    def areas(self) -> Floats:
        """The areas that the points of all faults stand for, (points,), m^2."""
        return self.all_points.area

    @property
    def least_inertia(self) -> float:
        """The least energy of rock at the faults over its volume and squared velocity, kg/m^3."""
        return min(float(rock.rho.min()) for fault in self.faults for rock in fault.walls) / 2

    @cached_property
    def all_points(self) -> FaultPoints:
        """The points of all faults."""
        return FaultPoints.concatenate([*self.named_points.values()])

    def subfaults(self, degree: int) -> Subfaults:
        """The subfaults of all faults, in faces of this degree."""
        density = np.concatenate([np.mean([r.rho for r in f.walls], axis=0) for f in self.faults])
        return Subfaults.of(self.all_points, self.mu, density, FaceQuadrature.of_elements(degree))

    @property
    def mu(self) -> Floats:
        """The shear modulus for the moment at the points of all faults, (points,), Pa."""
        return np.concatenate([fault.mu for fault in self.faults])

    @property
    def tables(self) -> FaultTables:
        """What friction needs at the points of all faults."""
        parts = [fault.tables for fault in self.faults]
        arrays = [name for name in vars(parts[0]) if name != "law"]
        joined = {n: np.concatenate([getattr(p, n) for p in parts], axis=-1) for n in arrays}
        return FaultTables(parts[0].law, **joined)
