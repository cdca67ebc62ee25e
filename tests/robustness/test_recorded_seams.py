"""Records beside the seam of a periodic axis, in whole runs of three solvers on one and two ranks.

Whole fields are recorded at the same steps, and interpolated by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import plugin
import pytest
import xarray
from digests import write_inputs
from interpolation_oracle import interpolate
from ranks import COMMAND, run_on_ranks
from toml_text import toml
from variants import long_variants

pytestmark = pytest.mark.timeout(240)

Content = dict[str, Any]


def records(fields: list[str], positions: list[list[float]], every: int) -> Content:
    """The whole fields, and the fields at some positions."""
    points = {"kind": "points", "positions": positions, "method": "cubic"}
    places = {"all.nc": {"kind": "all"}, "points.nc": points}
    common = {"fields": fields, "every": every, "what": ["raw", "final"]}
    return {"record": [{**common, "where": where, "file": name} for name, where in places.items()]}


def earthquake(tiny: Callable[..., Content]) -> Content:
    """Periodic along x and y, with a source in a corner."""
    source = tiny()["source"][0] | {"x": "20 m", "y": "2390 m"}
    positions = [[0, 0, 850], [2400, 2400, 850], [20, 1200, 700], [2390, 40, 700], [40, 30, 1000]]
    content = tiny(
        time={"duration": "0.3 s"},
        source=[source],
        boundary={"sides": "periodic", "width": 4},
        run={"precision": "double", "processes": [2, 1, 1]},
    )
    return content | {"output": records(["vx", "vz", "sxy"], positions, 10)}


def cavity(_: Any) -> Content:
    """Periodic along y, along which the initial flow varies."""
    positions = [[0.5, 0, 0.5], [0.5, 1, 0.5], [0.4, 0.03, 0.7], [0.6, 0.99, 0.6]]
    return {
        "solver": "cavity",
        "fluid": {"kind": "rayleigh", "rayleigh": 1e4},
        "grid": {"points": [12, 11, 13]},
        "walls": {
            "south": {"kind": "periodic"},
            "north": {"kind": "periodic"},
            "west": {"kind": "fixed", "temperature": 0.5},
            "east": {"kind": "fixed", "temperature": -0.5},
            "top": {"kind": "fixed", "velocity": [0.1, 0.2, 0.0], "temperature": 0.1},
        },
        "start": {"flow": "flow.nc"},
        "time": {"steps": 40, "scheme": "euler", "check_every": 20},
        "output": records(["v", "w", "T"], positions, 10),
        "run": {"precision": "double", "processes": [1, 2, 1]},
    }


def acoustics(_: Any) -> Content:
    """Periodic along all axes, a pulse in a corner; its step reads no corners of ghosts."""
    positions = [[0, 0, 0], [2, 2.4, 1.6], [0.02, 1.2, 1.58], [1.97, 2.39, 0.01], [1, 1, 0.03]]
    return {
        "solver": "acoustics",
        "grid": {"cells": [20, 24, 16], "spacing": 0.1},
        "medium": {"speed": 340.0},
        "start": {"kind": "pulse", "center": [0.2, 0.1, 0.1], "width": 0.4},
        "time": {"duration": 0.003},
        "output": records(["p"], positions, 5),
        "run": {"precision": "double", "processes": [1, 1, 2]},
    }


def opened(path: Path) -> xarray.Dataset:
    with xarray.open_dataset(path, engine="h5netcdf", decode_times=False) as found:
        return found.load()


def run(content: Content, folder: Path, ranks: int, searched: str) -> Path:
    folder.mkdir()
    write_inputs(folder)
    settings = {key: value for key, value in content["run"].items() if key != "processes"}
    content = content | {"run": content["run"] if ranks > 1 else settings}
    path = folder / "case.toml"
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in content.items()))
    flags = ("-q", "--no-pictures")
    done = run_on_ranks(ranks, COMMAND, "run", path, *flags, PYTHONPATH=searched)
    assert done.returncode == 0, done.stderr
    return folder / "results"


def place_of(field: xarray.DataArray, position: list[float]) -> list[float]:
    """The fractional index (x, y, z) of a position among the values of a field."""
    axes = (field[dim].values for dim in field.dims[:-4:-1])
    pairs = zip(position, axes, strict=True)
    return [(at - nodes[0]) / (nodes[1] - nodes[0]) for at, nodes in pairs]


@pytest.mark.parametrize(
    "case", [*long_variants([earthquake, cavity]), acoustics], ids=lambda case: case.__name__
)
def test_points_beside_a_seam_are_interpolated_across_it(
    tmp_path: Path, tiny: Callable[..., Content], case: Callable[..., Content]
) -> None:
    content, searched = case(tiny), plugin.python_path(tmp_path)
    positions = content["output"]["record"][1]["where"]["positions"]
    folders = [run(content, tmp_path / f"{ranks}-ranks", ranks, searched) for ranks in (1, 2)]
    for suffix in ("", "_statistics"):
        whole, found = (opened(folders[0] / f"{name}{suffix}.nc") for name in ("all", "points"))
        for name, field in whole.data_vars.items():
            samples = field.values.reshape(-1, *field.shape[-3:])
            wanted = [
                [interpolate(sample, place_of(field, position), 4) for position in positions]
                for sample in samples
            ]
            error = np.abs(found[name].values.reshape(len(samples), -1) - wanted).max()
            assert error < 1e-12 * np.abs(samples).max() > 0, name
        xarray.testing.assert_identical(found, opened(folders[1] / f"points{suffix}.nc"))
