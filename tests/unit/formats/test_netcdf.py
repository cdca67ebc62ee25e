"""NetCDF files with many values, which threads write."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from groundswell.backends import workers
from groundswell.formats import netcdf
from groundswell.formats.netcdf import Variable, read_netcdf
from groundswell.outputs.files import write_fields

SHAPE = (5, 6, 7)


def write(path: Path) -> dict[str, Variable]:
    """A file with arrays of several types, one of them a part of a larger array."""
    rng = np.random.default_rng(2)
    wide = rng.standard_normal([n + 4 for n in SHAPE])
    values = {
        "double": rng.standard_normal(SHAPE),
        "single": rng.standard_normal(SHAPE).astype("float32"),
        "part": wide[2:-2, 2:-2, 2:-2],
        "count": rng.integers(0, 9, SHAPE),
    }
    coordinates = {
        axis: Variable((axis,), np.arange(n) * 0.5, attrs={"units": "m"})
        for axis, n in zip("zyx", SHAPE, strict=True)
    }
    fields = {name: Variable(("z", "y", "x"), v, attrs={"of": name}) for name, v in values.items()}
    write_fields(path, coordinates, fields, {"title": "many values"})
    return fields


def test_large_variables_are_written_as_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "small.nc")
    monkeypatch.setattr(netcdf, "_LARGE", 1)
    monkeypatch.setattr(workers, "CHUNK", 50)
    monkeypatch.setattr(workers, "default_threads", lambda: 3)
    fields = write(tmp_path / "large.nc")
    found, expected = (
        read_netcdf(tmp_path / name, list(fields)) for name in ("large.nc", "small.nc")
    )
    assert found.identical(expected)
    for name, variable in fields.items():
        np.testing.assert_array_equal(found[name], variable.values)
        assert found[name].dtype == expected[name].dtype
        assert found[name].encoding["chunksizes"] is None
