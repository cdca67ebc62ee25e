"""Strain Green tensors: seismograms by reciprocity against runs with the moments themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from groundswell.backends import Backend
from groundswell.seismology.problems.green import (
    GreenProblem,
    at_each,
    in_16_bits,
    largest_error,
    synthetics,
)
from groundswell.solvers.dgwave.verification.simulation import make_case
from groundswell.verify import Check

# Of the peak. Time functions are linear between four samples a step, which leaves 1e-5.
LIMIT = 5e-5
EVERY = 3  # steps between samples
EDGE, DT = 400.0, 0.006  # m, s
SIZE = (5, 4, 4)  # elements
STATION = (1430.0, 560.0, 0.0)
POINTS = ((720.0, 890.0, 610.0), (530.0, 1010.0, 330.0), (800.0, 800.0, 1100.0))  # m
HILL = "80 * exp(-((x - 900) ** 2 + (y - 700) ** 2) / 2e5)"  # m
LAYERS = [
    {"top": 0.0, "vp": 3200.0, "vs": 1800.0, "rho": 2300.0, "qp": 80.0, "qs": 40.0},
    {"top": 800.0, "vp": 3500.0, "vs": 2000.0, "rho": 2500.0, "qp": 100.0, "qs": 50.0},
]


def moments(backend: Backend, full: bool) -> Iterator[Check]:
    """Moments at points in anelastic layers; in the full form, also halved elements and a hill.

    The tensor has samples at each step, at each third one, or 16 bits a value.
    """
    variants = {"layers with Q": problem(DT)}
    if full:
        halved = {"frequency": 3.0, "levels": 1, "points": 6.3}  # those in the upper layer
        variants["halved elements"] = problem(DT / 2, refinement=halved)
        variants["a hill"] = problem(DT / 2, topography={"kind": "formula", "elevation": HILL})
    for name, given in variants.items():
        with TemporaryDirectory(prefix="groundswell-") as scratch:
            yield from _checks(backend, name, given, Path(scratch))


def problem(dt: float, **sections: object) -> GreenProblem:
    """The problem with time steps of `dt` (s) and more sections of a case."""
    given = {
        "grid": {"size": [EDGE * n for n in SIZE], "spacing": EDGE},
        "time": {"duration": 2.2, "step": dt},
        "medium": {"kind": "layered", "layers": LAYERS},
        "attenuation": {"model": "constant"},
        "method": {"degree": 4},
        "boundary": {"top": "free-surface", "sides": "absorbing"},
    }
    places = np.array(STATION), np.array(POINTS)
    return GreenProblem(make_case, {**given, **sections}, *places, dt, force=0.12, source=0.08)


def _checks(
    backend: Backend, described: str, given: GreenProblem, scratch: Path
) -> Iterator[Check]:
    name = f"Green tensor, {described}"
    forward = given.run_moments(backend, scratch, given.convolved_gaussians())
    tensor = given.run_forces(backend, scratch)
    for of, label in (
        (tensor, "seismograms"),
        (at_each(tensor, EVERY), "at each third step"),
        (in_16_bits(tensor), "in 16 bits"),
    ):
        error = largest_error(forward, *synthetics(given, of, backend))
        yield Check.at_most(f"{name}: {label}", error, LIMIT, note="error over the peak")
