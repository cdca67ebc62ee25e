"""Rock that yields: an S pulse against a fine solution in one dimension, and the energy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import log

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.backends.base import in_order
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.seismology.reference.yielding_column import YieldingColumn
from groundswell.solvers.dgwave.equations import ABSORBING
from groundswell.solvers.dgwave.plasticity.rank import RankRock
from groundswell.solvers.dgwave.propagation import Propagation
from groundswell.solvers.dgwave.verification.boxes import Box, cubes, homogeneous
from groundswell.verify import Check

ROCK = HomogeneousMedium(vp=2000.0, vs=1000.0, rho=2000.0)
DEPTH, TIME = 2000.0, 1.0  # m, s
MIDDLE, WIDTH, SPEED = 500.0, 100.0, 0.5  # of the pulse: m, m, m/s
# The pulse of 1 MPa makes rock yield around this depth, the more the weaker it is.
WEAK, EXTENT = 1000.0, 200.0  # m
STRONGEST, WEAKEST = 1.2e6, 0.4e6  # Pa
RELAXATION = 0.05  # s
FINE, DEGREE = 8000, 4  # cells of the reference; degree of the elements
COUNTS = {False: (20, 40), True: (20, 40, 80)}  # elements along depth
BOX, STEPS = (3, 2, 2), {False: 100, True: 500}  # of the problem of energy
STRENGTH = 1.5  # of its rock; its stresses have the standard deviation 1


def shear_pulse(backend: Backend, full: bool) -> Iterator[Check]:
    """Velocity and plastic strain of the pulse after it has passed the weak rock."""
    column = YieldingColumn(ROCK.vs, ROCK.rho, strength, RELAXATION, DEPTH)
    errors, passed = [], pulse(np.zeros(1))
    for count in COUNTS[full]:
        forest = cubes((1, 1, count), (DEPTH / count, DEPTH / count, DEPTH), (True, True, False))
        box = Box(forest, DEGREE, homogeneous(ROCK), ends=(ABSORBING,) * 6)
        steps, depth = box.steps(TIME), box.points[2]
        u = np.zeros((forest.count, 9, depth.shape[1]))
        u[:, 6], u[:, 4] = pulse(depth), -ROCK.rho * ROCK.vs * pulse(depth)
        found, strain = advanced(backend, box, strength(depth), u, steps)
        z, passed, between, _, plastic = column.propagate(pulse, steps * box.dt, FINE)
        wanted = np.interp(depth, z, passed), np.interp(depth, between, plastic)
        errors.append([_relative(a, b) for a, b in zip((found[:, 6], strain), wanted, strict=True)])
    (coarse, _), (fine, of_strain) = errors[-2:]
    most = 0.004 if full else 0.01
    lost = 100 * (1 - float(passed.max()) / SPEED)
    note = f"with {COUNTS[full][-1]} elements; the rock takes {lost:.0f} % off the peak"
    yield Check.at_most("S pulse in weak rock: velocity", fine, most, note=note)
    yield Check.at_most("S pulse in weak rock: plastic strain", of_strain, most)
    # Relaxation is of first order in time.
    order = log(coarse / fine, 2)
    yield Check.at_least("S pulse in weak rock: order", order, 0.9, note="of the velocity")


def dissipation(backend: Backend, full: bool) -> Iterator[Check]:
    """Energy in a closed box with the central flux: it never grows.

    There is no stress before the waves that has energy to give.
    """
    box = Box(cubes(BOX, BOX, (False, True, False)), 3, _varied, upwind=0.0, courant=0.5)
    u = box.random_fields(1)
    bound = np.full(box.points.shape[1:], STRENGTH)
    found = start(backend, box, bound, 0.05, u)
    step, energies = in_order(found.step), [box.product(u, u).sum()]
    for _ in range(STEPS[full]):
        step()
        backend.synchronize()
        now = np.asarray(backend.to_host(found.u))
        energies.append(box.product(now, now).sum())
    growth = float(np.diff(energies).max() / energies[0])
    left = f"{100 * energies[-1] / energies[0]:.0f} % of it is left"
    name = "energy in rock that yields: largest growth in a step"
    yield Check.at_most(name, growth, 1e-12, note=left)


def start(backend: Backend, box: Box, bound: Floats, time: float, u: Floats) -> Propagation:
    """The solver of rock whose strength does not depend on the pressure.

    Args:
        bound: strength at the nodes, (elements, nodes), Pa.
        time: relaxation time, s.
        u: the fields at the start.
    """
    table = np.stack([bound, np.zeros_like(bound)], axis=1)
    rock = RankRock(np.arange(len(table), dtype=np.int32), table, time, is_sheared=False)
    found = Propagation(backend, SerialCommunicator(), replace(box.problem, rock=rock))
    backend.assign(found.u, u)
    in_order(found.prepare)()
    return found


def advanced(
    backend: Backend, box: Box, bound: Floats, u: Floats, steps: int
) -> tuple[Floats, Floats]:
    """The fields and the plastic strain after some steps."""
    found = start(backend, box, bound, RELAXATION, u)
    assert found.yielding is not None
    backend.capture(in_order(found.step)).replay(steps)
    backend.synchronize()
    fields, strain = (backend.to_host(array) for array in (found.u, found.yielding.strain))
    return np.asarray(fields), np.asarray(strain)


def pulse(z: Floats) -> Floats:
    """Velocity at time 0 of a wave that propagates downwards, m/s."""
    return np.asarray(SPEED * np.exp(-(((z - MIDDLE) / WIDTH) ** 2)))


def strength(z: Floats) -> Floats:
    """Of the rock, Pa."""
    return np.asarray(STRONGEST - (STRONGEST - WEAKEST) * np.exp(-(((z - WEAK) / EXTENT) ** 2)))


def _varied(centres: Floats) -> tuple[Floats, ...]:
    """Speeds and densities that vary among elements."""
    x, y, z = centres
    vs = 0.8 + 0.1 * np.sin(3 * x + y)
    return vs * (1.8 + 0.1 * np.cos(z)), vs, 1.5 + 0.3 * np.sin(2 * y - z)


def _relative(found: Floats, wanted: Floats) -> float:
    return float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted))
