"""A program for several ranks: memory of the host that set-ups of ultrasound allocate.

    mpiexec -n 4 python ultrasound_memory_program.py FOLDER

FOLDER/medium.nc holds sound speed and density on (z, y, x), FOLDER/pressure.npy a pressure.
FOLDER/found.json receives, by case, the peaks of each rank while it prepares the case and reads its
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

from groundswell.exchange.mpi_communicator import get_communicator
from groundswell.simulation.exchanging import part_of
from groundswell.simulation.preparation import prepare
from groundswell.solvers.ultrasound import build_case
from groundswell.solvers.ultrasound.solver import sources_of

H, SHAPE = 1e-3, (128, 72, 64)  # m; points (nz, ny, nx), most along the axis that is divided
NZ, NY, NX = SHAPE
MIDDLE = (32e-3, 36e-3, 64e-3)
WATER = {"speed": 1500.0, "density": 1000.0}
BALL = {"kind": "ball", "centre": MIDDLE, "radius": "8 mm", "pressure": 1e5}
SOURCE = {
    "shape": {"kind": "disc", "centre": MIDDLE, "diameter": "20 mm", "normal": (0, 0, 1)},
    "signal": {"kind": "burst", "frequency": "0.2 MHz", "cycles": 2},
    "pressure": "1 MPa",
}


def cases(folder: Path) -> dict[str, dict[str, Any]]:
    """Arguments of `build_case`, by name."""
    rng = np.random.default_rng(5)
    arrays = {
        "speed": rng.uniform(1450, 1550, SHAPE).astype(np.float32),
        "density": rng.uniform(950, 1050, SHAPE).astype(np.float32),
    }
    skull = {"kind": "sphere", "centre": MIDDLE, "radius": "20 mm", "speed": 2500.0}
    file = {"quantity": "properties", "file": str(folder / "medium.nc")}
    sharp = {"smooth": False}
    pressure = {"kind": "array", "file": str(folder / "pressure.npy")}
    return {
        "arrays": {"medium": arrays, "sources": [SOURCE]},
        "shapes": {"medium": WATER | {"shape": [skull | {"density": 1900.0}]}, "initial": BALL},
        "file": {"medium": WATER | {"file": file}, "sources": [SOURCE]},
        "sharp ball": {"medium": WATER, "initial": BALL | sharp},
        "pressure file": {"medium": WATER, "initial": pressure | sharp},
    }


def peak(arguments: Mapping[str, Any]) -> int:
    """Peak of this rank for a case, bytes."""
    job = get_communicator()
    case = build_case(
        **arguments,
        points=(NX, NY, NZ),
        spacing=H,
        duration="4 us",
        boundary={"inside": True, "width": 6},
        run={"processes": (1, 1, job.size)},
    )
    tracemalloc.start()
    setup: Any = prepare(case, job)
    cut = setup.cut(job.size)
    window = setup.window(part_of(setup.grid, cut, job.rank), cut.processes[::-1])
    parts = setup.medium_in(window), setup.initial_in(window), sources_of(setup.sources, window)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del parts
    return found


if __name__ == "__main__":
    everyone, at = get_communicator(), Path(sys.argv[1])
    found = {name: everyone.gather(peak(given)) for name, given in cases(at).items()}
    if everyone.first:
        (at / "found.json").write_text(json.dumps(found))
