"""Lamb's problem: a vertical force on the surface of a half-space, and how its surface moves."""

from __future__ import annotations

import numpy as np

from groundswell.backends import Backend
from groundswell.solvers.earthquake.case import EarthquakeCase
from groundswell.verify import Check
from groundswell.verify.earthquake import simulation as sim
from groundswell.verify.earthquake.simulation import Floats
from groundswell.verify.reference.lamb import PoissonHalfSpace, lamb_velocity
from groundswell.verify.reference.misfit import envelope_misfit, phase_misfit
from groundswell.verify.reference.pulse import Pulse

HALF_SPACE = PoissonHalfSpace(vs=2000.0, rho=2500.0)
FORCE, SIGMA, DELAY = 1e10, 0.255, 1.2  # N, s, s
HIGHEST = 3.2 / (2 * np.pi * SIGMA)
"""Hz; there the spectrum of a Rayleigh wave's velocity is 5 % of its peak."""
DISTANCES = (1000.0, 2000.0, 3400.0)
AZIMUTHS = np.radians((90.0, 10.0, 55.0))  # from the y axis


def vertical_force(backend: Backend, full: bool) -> list[Check]:
    """Radial and vertical velocity at three distances, 10 points an S wavelength (20 in full)."""
    spacing = HALF_SPACE.vs / HIGHEST / (20 if full else 10)
    time, motion = _simulate(backend, spacing)
    checks = []
    for (radial, vertical), distance in zip(motion, DISTANCES, strict=True):
        series = np.stack([radial, vertical])
        exact = lamb_velocity(HALF_SPACE, _force(), distance, time)
        checks += _compare(series, exact, time, distance)
    return checks


def _compare(series, exact, time, distance):
    step = time[1] - time[0]
    band = (0.1, HIGHEST)
    em, pm = envelope_misfit(series, exact, step, band), phase_misfit(series, exact, step, band)
    print(distance, em, pm, np.linalg.norm(series-exact,axis=1)/np.linalg.norm(exact,axis=1), np.abs(exact).max(axis=1))
    return []


def _force() -> Pulse:
    def history(t: Floats) -> Floats:
        return FORCE * np.exp(-0.5 * ((t - DELAY) / SIGMA) ** 2)

    return Pulse.from_function(history, DELAY - 6 * SIGMA, DELAY + 6 * SIGMA)


def _simulate(backend, spacing):
    cells = np.array([46,46,22]) * round(100/spacing)
    size = cells*spacing
    x0 = np.array([1013.0*spacing/100,1241.])
    offs = np.stack([np.sin(AZIMUTHS),np.cos(AZIMUTHS)],axis=1)*np.array(DISTANCES)[:,None]
    pos = np.column_stack([x0+offs, np.zeros(3)])
    case = EarthquakeCase(
        grid={"size": size, "spacing": spacing},
        time={"duration": 4.0},
        medium={"kind": "homogeneous", "vp": HALF_SPACE.vp, "vs": HALF_SPACE.vs, "rho": HALF_SPACE.rho},
        source=[{"kind":"force","force":[0.,0.,FORCE],"x":x0[0],"y":x0[1],"depth":0.0,"time_function":{"kind":"gaussian","sigma":SIGMA,"delay":DELAY}}],
        receiver=sim.receivers(pos),
        boundary={"width":10},
        output={"shaking_map": False},
        run={"precision": "double"},
    )
    found = sim.build(case, backend)
    n = found.setup.steps
    v = sim.seismograms(found, n)
    d = offs/np.array(DISTANCES)[:,None]
    rad = np.einsum("rc,rcn->rn",d,v[:,:2])
    return np.arange(n)*found.setup.dt, np.stack([rad,v[:,2]],axis=1)
