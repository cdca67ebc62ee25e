"""Faults on the staggered grid: what friction takes is missing from the energy of the waves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from groundswell.arrays import Floats
from groundswell.backends import open_backend
from groundswell.solvers.earthquake.case import MOST_VISCOUS, SplitNodeFault
from groundswell.solvers.earthquake.fault_slip import FaultSlip, RankGrid
from groundswell.solvers.earthquake.faults.model import Fault
from groundswell.solvers.earthquake.faults.plane import FaultPlane
from groundswell.solvers.earthquake.faults.rock import FaultRock
from groundswell.solvers.earthquake.solver import Earthquake
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.energy import (
    SPACING,
    SPEEDS,
    RandomBox,
    push,
    step_through,
)
from groundswell.time_integration.step_limits import staggered_leapfrog

STEPS = 100
STRENGTH = 1e6  # Pa


@dataclass(frozen=True)
class SlippingBox:
    """A box of random rock in motion, with a fault.

    Args:
        is_closed: whether the fault has no ends along strike.
        strength: of the fault, Pa.
        viscosity: of the stress on it, in time steps.
    """

    axis: int
    free_surface: bool
    is_closed: bool
    strength: float = 0.0
    viscosity: float = 0.0

    def energies(self) -> tuple[Floats, Floats, Floats]:
        """All energy, that of the jumps, and the work against friction, in each step."""
        box = RandomBox.random(20, self.free_surface)
        found = self._build(box)
        (slip,) = found.faults.slips
        assert slip is not None
        whole, jumps, work = [], [], []
        for _ in range(STEPS):
            past = slip.arrays["jumps"].copy()
            before, velocity, after = step_through(found)
            jumps.append(self._energy(slip, past))
            whole.append(box.energy(before, velocity, after) + jumps[-1])
            work.append(self._work(slip))
        return np.array(whole), np.array(jumps), np.array(work)

    def _build(self, box: RandomBox) -> Earthquake:
        step = 0.9 * staggered_leapfrog(SPACING, SPEEDS[1], free_surface=True)
        case = box.case(step).model_copy(update={"fault": (self._section(box),)})
        found = sim.build(case, open_backend("cpu"), closed=True)
        box.fill(found)
        push(found)
        (fault,) = found.setup.faults
        fault = replace(fault, rock=rock_of(box, fault.plane))
        (old,), setup = found.faults.slips, found.setup
        grid = RankGrid(found.part, setup.dtype, setup.dt, setup.time_axis.start)
        slip = FaultSlip(found.backend, fault, old.window, grid, found.faults.recorded)
        slip.arrays["rate"][...] = self._random(fault, found.setup.dt)
        found.faults.slips = [slip]
        found.set_exchange(found.first_choice())
        return found

    def _section(self, box: RandomBox) -> SplitNodeFault:
        size = np.multiply(box.rho.shape[::-1], SPACING)
        along, h = 1 - self.axis, SPACING
        ends = [0.0, size[along]] if self.is_closed else [3 * h[along], 12 * h[along]]
        given: dict[str, Any] = {
            "law": "slip-weakening",
            "friction": {"static": 0.0, "dynamic": 0.0, "distance": 1.0, "cohesion": self.strength},
            "stress": {"normal": 0.0, "shear": 0.0, "rake": 0.0},
        }
        top = 0.0 if self.free_surface else 3 * h[2]
        plane = {"xy"[self.axis]: 7.5 * h[self.axis], "xy"[along]: ends, "depth": [top, 9 * h[2]]}
        return SplitNodeFault(plane=plane, viscosity=self.viscosity, **given)

    def _random(self, fault: Fault, dt: float) -> Floats:
        """Rates of slip of the points that slip."""
        slips = fault.damping(dt) > 0
        return np.random.default_rng(3).normal(size=slips.shape) * slips

    def _work(self, slip: FaultSlip) -> float:
        """Work against friction over the volume of a cell; nothing else loads the fault."""
        work = slip.arrays["work"].copy()
        assert np.array_equal(slip.arrays["released"], -work)
        if slip._fault.plane.at_surface:
            work[1, 0] /= 2  # half a cell
        return float(work.sum()) / SPACING[self.axis]

    def _energy(self, slip: FaultSlip, past: Floats) -> float:
        """Energy of the jumps over the volume of a cell; stresses are those of two steps.

        The jump of velocity moves a quarter of a cell, and that of stress strains as much.
        """
        fault, rate, now = slip._fault, slip.arrays["rate"], slip.arrays["jumps"]
        mass = fault.rock.density / 4
        if fault.plane.at_surface:
            mass[1, 0] /= 2  # half a cell
        aa, zz, az, shear = fault.rock.stiffness
        determinant = aa * zz - az**2
        work = past[0] * (zz * now[0] - az * now[1]) + past[1] * (aa * now[1] - az * now[0])
        normal = np.divide(work, determinant, out=np.zeros_like(work), where=determinant > 0)
        twist = past[2] * now[2]
        strain = normal + np.divide(twist, shear, out=np.zeros_like(twist), where=shear > 0)
        return float((mass * rate**2).sum() + strain.sum() / 4) / 2


def rock_of(box: RandomBox, plane: FaultPlane) -> FaultRock:
    """The rock around a fault in a periodic box."""
    rows, columns = plane.shape
    depth = np.arange(plane.first[2] - 1, plane.first[2] + rows).clip(0, len(box.rho) - 1)
    across = np.arange(-2, 3) + plane.first[plane.axis]
    along = np.arange(-1, columns) + plane.first[plane.along]

    def cut(values: Floats) -> Floats:
        turned = values if plane.axis == 1 else values.swapaxes(1, 2)
        return turned[np.ix_(depth, across % turned.shape[1], along % turned.shape[2])]

    rho, lam, compliance = cut(box.rho), cut(box.lam), cut(1 / box.mu)
    elastic = np.zeros(rho.shape)
    return FaultRock(plane, rho, lam, compliance, elastic, box.corrections[depth])


@pytest.mark.most(4)
@pytest.mark.parametrize("is_closed", [True, False])
@pytest.mark.parametrize("free_surface", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_fault_without_friction_conserves_energy(
    axis: int, free_surface: bool, is_closed: bool
) -> None:
    """The limit is that of sums of some 10,000 numbers; at first jumps have much of the energy."""
    whole, jumps, _ = SlippingBox(axis, free_surface, is_closed).energies()
    assert jumps[0] > 0.1 * whole[0] and jumps[-1] < 0.5 * jumps[0]
    assert np.ptp(whole) < 1e-13 * whole[0]


@pytest.mark.parametrize(("axis", "free_surface"), [(0, True), (1, False)])
def test_viscosity_takes_energy_of_jumps(axis: int, free_surface: bool) -> None:
    """The largest that is allowed is stable, too."""
    found = [
        SlippingBox(axis, free_surface, False, viscosity=viscosity).energies()[0]
        for viscosity in (0.05, MOST_VISCOUS)
    ]
    lost = [1 - whole[-1] / whole[0] for whole in found]
    assert 0.01 < lost[0] < lost[1] < 1
    assert all(whole.max() < 1.1 * whole[0] for whole in found)


@pytest.mark.parametrize(("axis", "free_surface"), [(0, True), (1, False)])
def test_friction_takes_the_energy_that_is_missing(axis: int, free_surface: bool) -> None:
    whole, _, work = SlippingBox(axis, free_surface, False, strength=STRENGTH).energies()
    assert work[-1] > 0.05 * whole[0] and (np.diff(work) >= 0).all()
    assert np.ptp(whole + work) < 1e-13 * whole[0]
