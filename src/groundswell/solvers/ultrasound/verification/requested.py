"""Requested accuracies: differences between ranks and one rank, for media and sources of all kinds.

Blocks of ranks advance in one process. Their pressure, sampled over the run, is compared with that
of one rank. The largest difference must not exceed the accuracy that the case asks for, or the
error that the solver expects if that is larger; it then warns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends import Backend
from groundswell.grids.cartesian import Triple
from groundswell.solvers.ultrasound.setup import prepare
from groundswell.solvers.ultrasound.verification.blocks import Blocks
from groundswell.solvers.ultrasound.verification.simulation import WATER, make_case
from groundswell.verify import Check

H = 0.25e-3  # m
STRIDE = 5  # steps between samples
ACCURACIES = (1e-3, 1e-4, 1e-5, 1e-6)
PLATE = {"kind": "layer", "axis": "x", "from": 46.5 * H, "to": 58.5 * H}
BONE = {"speed": 2900.0, "density": 1900.0}
SKULL = {"kind": "layer", "axis": "x", "from": 25.5 * H, "to": 33.5 * H, **BONE}
BALL = {"kind": "gaussian", "centre": [30 * H, 30 * H], "width": 3 * H, "pressure": 1e5}


def _arc(x: float = 12.0, y: float = 32.0, focus: float = 44.0) -> dict[str, object]:
    place = {"apex": [x * H, y * H], "focus": [(x + focus) * H, y * H]}
    return {"kind": "arc", "radius": focus * H, "diameter": 32 * H, **place}


def _bowl() -> dict[str, object]:
    centre = [16 * H, 16 * H]
    place = {"apex": [6 * H, *centre], "focus": [26 * H, *centre]}
    return {"kind": "bowl", "radius": 20 * H, "diameter": 16 * H, **place}


def _case(
    medium: dict[str, object] | None = None,
    per_wavelength: float = 6.0,
    shape: dict[str, object] | None = None,
    pressure: float = 1e5,
    points: tuple[int, ...] = (80, 64),
    duration: str = "14 us",
) -> dict[str, object]:
    """Sections of a case: a continuous wave, by default of an arc, in a medium."""
    signal = {"kind": "sine", "frequency": WATER["speed"] / (per_wavelength * H)}
    source = {"shape": shape or _arc(), "pressure": pressure, "signal": signal}
    return {
        "grid": {"points": points, "spacing": H},
        "medium": {**WATER, **(medium or {})},
        "time": {"duration": duration},
        "source": [source],
    }


def _initial(medium: dict[str, object]) -> dict[str, object]:
    """Sections of a case that starts with a pressure and has no source."""
    case = _case(medium)
    return {name: part for name, part in case.items() if name != "source"} | {"initial": BALL}


def _lossy(power: float, absorption: float = 1.0) -> dict[str, object]:
    return {"absorption": absorption, "power": power}


CASES: dict[str, tuple[dict[str, object], Triple]] = {
    "water": (_case(), (2, 1, 1)),
    "water, 4 ranks": (_case(), (2, 2, 1)),
    "bone": (_case({"shape": [PLATE | BONE]}, 8.4), (2, 1, 1)),
    "bone, 4 ranks": (_case({"shape": [PLATE | BONE]}, 8.4), (2, 2, 1)),
    "absorbing bone": (
        _case({**_lossy(1.1, 0.1), "shape": [PLATE | BONE | {"absorption": 8.0}]}, 8.4),
        (2, 1, 1),
    ),
    **{f"absorption, y = {y:g}": (_case(_lossy(y)), (2, 1, 1)) for y in (0.8, 1.1, 1.5, 1.9)},
    "absorption, y = 1.1, 12 points per wavelength": (_case(_lossy(1.1), 12), (2, 2, 1)),
    "absorption, y = 1.1, initial pressure": (_initial(_lossy(1.1)), (2, 1, 1)),
    "nonlinear": (_case({"nonlinearity": 6.0}, 8.4, pressure=5e5), (2, 1, 1)),
    "nonlinear, 4.2 points per wavelength": (
        _case({"nonlinearity": 6.0}, 4.2, pressure=1e6),
        (2, 1, 1),
    ),
    "point near a boundary of blocks": (
        _case(shape={"kind": "point", "position": [32 * H, 30 * H]}),
        (2, 1, 1),
    ),
    "source on a boundary of blocks": (_case(shape=_arc(39)), (2, 1, 1)),
    "three dimensions": (
        _case({"shape": [SKULL]}, shape=_bowl(), points=(40, 32, 32), duration="8 us"),
        (2, 1, 2),
    ),
    "absorbing bone in three dimensions": (
        _case(
            {**_lossy(1.1, 0.1), "shape": [SKULL | {"absorption": 8.0}]},
            shape=_bowl(),
            points=(40, 32, 32),
            duration="8 us",
        ),
        (2, 1, 1),
    ),
}
QUICK = ("absorption, y = 1.1", "point near a boundary of blocks")


def accuracies(backend: Backend, full: bool) -> Iterator[Check]:
    """Differences from one rank: at most those requested, or predicted if these are larger."""
    for name in CASES if full else QUICK:
        sections, ranks = CASES[name]
        setup = prepare(make_case(**sections))
        exact = _samples(Blocks.of_ranks(setup, (1, 1, 1), backend), setup.steps)
        for accuracy in ACCURACIES if full else ACCURACIES[:2]:
            yield _check(
                name, sections | {"overlap": {"accuracy": accuracy}}, ranks, exact, backend
            )


def _check(
    name: str, sections: dict[str, object], ranks: Triple, exact: Floats, backend: Backend
) -> Check:
    setup = prepare(make_case(**sections))
    found = _samples(Blocks.of_ranks(setup, ranks, backend), setup.steps)
    error = float(np.abs(found - exact).max() / np.abs(exact).max())
    accuracy, expected = setup.case.overlap.accuracy, setup.overlaps.estimate(ranks)
    points = max(setup.overlaps.of(ranks))
    label = f"{name}, accuracy {accuracy:g}, overlap {points}: error"
    return Check.at_most(label, error, max(accuracy, expected))


def _samples(blocks: Blocks, steps: int) -> Floats:
    """Pressure of the grid at every few steps, (samples, nz, ny, nx)."""
    found = []
    for step in range(steps):
        blocks.step()
        if step % STRIDE == STRIDE - 1:
            found.append(blocks.pressure)
    return np.stack(found)
