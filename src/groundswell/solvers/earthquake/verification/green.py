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
from groundswell.solvers.earthquake.verification import simulation as sim
from groundswell.solvers.earthquake.verification.reciprocity import LAYERS, SPACING, random_medium
from groundswell.verify import Check

ROUNDING = 1e-10  # relative; what is left is rounding
EVERY = 4  # steps between samples
SAMPLED, IN_16_BITS = 1e-8, 2e-5  # limits, of the peak
DT = 0.008  # s
# Shares of the region; no point is on the grid, and the second is in the uppermost half cell.
STATION = (0.63, 0.37, 0.0)
POINTS = ((0.41, 0.52, 0.62), (0.31, 0.72, 0.02), (0.55, 0.66, 0.3))


def moments(backend: Backend, full: bool) -> Iterator[Check]:
    """Moments at points in anelastic media, for each kind of boundary in the full form.

    The tensor has samples at each step, at each fourth one, or 16 bits a value.
    """
    variants = [("sponge", "random medium with Q")]
    if full:
        variants += [("periodic", "random medium with Q"), ("pml", "layers with Q")]
    for sides, described in variants:
        with TemporaryDirectory(prefix="groundswell-") as scratch:
            yield from _checks(backend, sides, described, Path(scratch))


def problem(sides: str, described: str, count: int = 20) -> GreenProblem:
    """The problem on a grid of about `count` cells along each axis."""
    size = np.multiply((count, count - 2, count - 4), SPACING)
    sections = {
        "grid": {"size": size.tolist(), "spacing": SPACING},
        "time": {"duration": 2.0, "step": DT},
        "medium": LAYERS if "layers" in described else random_medium(count),
        "attenuation": {"model": "constant"},
        "boundary": {"sides": sides, "width": 6},
    }
    places = np.multiply(STATION, size), np.multiply(POINTS, size)
    return GreenProblem(sim.make_case, sections, *places, DT, force=0.08, source=0.06, offset=0.5)


def _checks(backend: Backend, sides: str, described: str, scratch: Path) -> Iterator[Check]:
    given, name = problem(sides, described), f"Green tensor with {sides} sides, {described}"
    forward = given.run_moments(backend, scratch, given.convolved_tables(scratch))
    tensor = given.run_forces(backend, scratch)
    for of, label, limit in (
        (tensor, "seismograms", ROUNDING),
        (at_each(tensor, EVERY), "at each fourth step", SAMPLED),
        (in_16_bits(tensor), "in 16 bits", IN_16_BITS),
    ):
        error = largest_error(forward, *synthetics(given, of, backend))
        yield Check.at_most(f"{name}: {label}", error, limit, note="error over the peak")
