"""A program for several ranks: memory of the host that set-ups of ultrasound allocate.

    mpiexec -n 4 python ultrasound_memory_program.py FOLDER

FOLDER/medium.nc holds sound speed and density on (z, y, x), FOLDER/pressure.npy a pressure.
FOLDER/found.json receives, by case, the peak of each rank while it prepares the case and reads its
part of the medium, the sources and the initial pressure, bytes.
"""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.exchange.communicator import Communicator
from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation.exchanging import part_of
from groundswell.simulation.preparation import prepare
from groundswell.solvers.ultrasound import UltrasoundCase, build_case
from groundswell.solvers.ultrasound.media import files
from groundswell.solvers.ultrasound.solver import sources_of

SPACING = 1e-3  # m
SHAPE = (160, 32, 32)  # points (nz, ny, nx), most of them along the axis that is divided
MIDDLE = (16e-3, 16e-3, 80e-3)
WATER = {"speed": 1500.0, "density": 1000.0}
BALL = {"kind": "ball", "centre": MIDDLE, "radius": "8 mm", "pressure": 1e5}
SOURCE = {
    "shape": {"kind": "point", "position": MIDDLE},
    "signal": {"kind": "burst", "frequency": "0.2 MHz", "cycles": 2},
    "pressure": "1 MPa",
}


def medium() -> dict[str, np.ndarray]:
    """Random sound speeds and densities, (nz, ny, nx)."""
    limits = {"speed": (1450, 1550), "density": (950, 1050)}
    rng = np.random.default_rng(5)
    return {name: rng.uniform(*ends, SHAPE).astype(np.float32) for name, ends in limits.items()}


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """Arguments of `build_case`, by name."""
    skull = {"kind": "sphere", "centre": MIDDLE, "radius": "14 mm", "speed": 2500.0}
    image = {"quantity": "properties", "file": str(folder / "medium.nc")}
    pressure = {"kind": "array", "file": str(folder / "pressure.npy")}
    return {
        "arrays": {"medium": medium(), "sources": [SOURCE]},
        "file": {"medium": WATER | {"file": image}, "sources": [SOURCE]},
        "smooth": {"medium": WATER | {"shape": [skull]}, "initial": BALL},
        "sharp": {"medium": WATER, "initial": BALL | {"smooth": False}},
        "pressure": {"medium": WATER, "initial": pressure | {"smooth": False}},
    }


def read_part(case: UltrasoundCase, job: Communicator) -> object:
    """What a rank reads of a case."""
    setup: Any = prepare(case, job)
    cut = setup.cut(job.size)
    window = setup.window(part_of(setup.grid, cut, job.rank), cut.processes[::-1])
    return setup.medium_in(window), setup.initial_in(window), sources_of(setup.sources, window)


def peak(arguments: Mapping[str, Any], job: Communicator) -> int:
    """Peak of this rank for a case, bytes."""
    case = build_case(
        **arguments,
        points=SHAPE[::-1],
        spacing=SPACING,
        duration="4 us",
        boundary={"inside": True, "width": 6},
        overlap={"points": 4},
        run={"processes": (1, 1, job.size)},
    )
    read_part(case, job)  # imports modules
    tracemalloc.start()
    part = read_part(case, job)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del part
    return found


if __name__ == "__main__":
    everyone, at = get_communicator(), Path(sys.argv[1])
    files.SLAB = 2 * SHAPE[1] * SHAPE[2]  # otherwise the whole file
    found = {name: everyone.gather(peak(given, everyone)) for name, given in cases(at).items()}
    if everyone.first:
        (at / "found.json").write_text(json.dumps(found))
