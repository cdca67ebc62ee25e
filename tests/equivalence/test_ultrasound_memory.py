"""Each rank of an ultrasound case keeps its own part of the medium and of the initial pressure."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray
from ranks import run_on_ranks
from ultrasound_memory_program import SHAPE, SPACING, medium

pytestmark = pytest.mark.timeout(600)

RANKS = 4
PROGRAM = Path(__file__).parents[1] / "support" / "ultrasound_memory_program.py"
WHOLE = 4 * np.prod(SHAPE)  # bytes of a property at all points


def write_inputs(folder: Path) -> None:
    coordinates = {
        axis: (axis, SPACING * np.arange(n), {"units": "m"})
        for axis, n in zip("zyx", SHAPE, strict=True)
    }
    units = {"speed": "m/s", "density": "kg/m^3"}
    properties = {
        name: (("z", "y", "x"), values, {"units": units[name]}) for name, values in medium().items()
    }
    data = xarray.Dataset(properties, coords=coordinates)
    data.to_netcdf(folder / "medium.nc", engine="h5netcdf")
    np.save(folder / "pressure.npy", np.random.default_rng(6).uniform(0, 1, SHAPE))


@pytest.mark.full
def test_ranks_allocate_less_than_whole_arrays(tmp_path: Path) -> None:
    """A property at all points takes WHOLE, a pressure twice as much.

    The window of a rank has 48 of 160 planes, so two properties take 0.6 WHOLE, and an open file
    0.4. A sharp pressure and two intermediate results take 1.8 WHOLE.
    """
    write_inputs(tmp_path)
    done = run_on_ranks(RANKS, PROGRAM, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found = {
        name: np.array(peaks) / WHOLE
        for name, peaks in json.loads((tmp_path / "found.json").read_text()).items()
    }
    assert max(found["arrays"]) < 1, found
    assert all(max(found[name]) < 2 for name in ("file", "sharp", "pressure")), found
    assert max(found["smooth"][1:]) < 2 < found["smooth"][0], found  # rank 0 smooths for all
