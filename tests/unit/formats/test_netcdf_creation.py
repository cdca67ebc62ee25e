"""The layout of new NetCDF files, which is that of h5netcdf."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5netcdf  # type: ignore[import-untyped]
import h5py
import numpy as np
import pytest
import xarray

from groundswell.formats.netcdf import Variable, create_netcdf

SIZES = {"time": None, "x": 4, "y": 3, "extra": 2}
VARIABLES = {
    "time": Variable(("time",), dtype="f8", chunks=(8,), attrs={"units": "s", "n": 2}),
    "y": Variable(("y",), ["a", "bc", "hügel"]),
    "growing": Variable(("time", "y", "x"), dtype="f4", chunks=(8, 3, 4), attrs={"list": [1, 2]}),
    "later": Variable(("extra", "time"), dtype="i4", chunks=(2, 8)),
    "fixed": Variable(("extra", "x"), np.arange(8.0).reshape(2, 4), attrs={"long_name": "name"}),
    "scalar": Variable((), np.float32(3)),
    "x": Variable(("x",), np.arange(4), attrs={"units": "m"}),
}
ATTRS = {"title": "all kinds", "count": 3}


def written_by_h5netcdf(path: Path) -> None:
    with h5netcdf.File(path, "w", locking=False) as file:
        file.dimensions = dict(SIZES)
        for name, of in VARIABLES.items():
            values = None if of.values is None else np.asarray(of.values)
            dtype = of.dtype if values is None else values.dtype
            if values is not None and values.dtype.kind == "U":
                dtype, values = h5py.string_dtype(), values.astype(object)
            added = file.create_variable(name, of.dims, dtype, chunks=of.chunks)
            if values is not None:
                added[...] = values
            added.attrs.update(of.attrs)
        file.attrs.update({"Conventions": "CF-1.11", **ATTRS})


def layout(item: Any) -> Any:
    """All that a file says of a data set or of itself, but for object references."""
    given = item.attrs
    kept = [key for key in given if not key.endswith("_LIST") and key != "_NCProperties"]
    attrs = {
        key: (item.attrs.get_id(key).dtype, np.array(item.attrs[key]).tolist()) for key in kept
    }
    if isinstance(item, h5py.File):
        return attrs
    scales = [[(scale.name, *scale.shape) for scale in dim.values()] for dim in item.dims]
    return attrs, item.shape, item.maxshape, item.dtype, item.chunks, scales, item.is_scale


def test_files_are_those_of_h5netcdf(tmp_path: Path) -> None:
    """Variables before and after their coordinates, and a dimension without any."""
    create_netcdf(tmp_path / "found.nc", SIZES, VARIABLES, ATTRS)
    written_by_h5netcdf(tmp_path / "expected.nc")
    with h5py.File(tmp_path / "found.nc") as found, h5py.File(tmp_path / "expected.nc") as expected:
        assert sorted(found) == sorted(expected) == sorted([*VARIABLES, "extra"])
        assert layout(found) == layout(expected)
        for name in found:
            assert layout(found[name]) == layout(expected[name]), name
    opened = [xarray.load_dataset(path, decode_times=False) for path in tmp_path.iterdir()]
    assert opened[0].identical(opened[1]) and list(opened[0]) == list(opened[1])


def test_other_programs_append_to_them(tmp_path: Path) -> None:
    """h5netcdf resizes all variables of a dimension, which it finds by references."""
    create_netcdf(tmp_path / "a.nc", SIZES, VARIABLES, ATTRS)
    with h5netcdf.File(tmp_path / "a.nc", "a") as file:
        file.resize_dimension("time", 5)
        file["later"][:, 4] = 7
    with xarray.open_dataset(tmp_path / "a.nc", decode_times=False) as found:
        assert found.sizes["time"] == 5 and (found["later"][:, 4] == 7).all()
        assert found["growing"].dims == ("time", "y", "x")


@pytest.mark.parametrize("values", [np.ones(4, bool), np.ones(4, complex)], ids=["bool", "complex"])
def test_types_that_netcdf_lacks_are_refused(values: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"a has the type .*, which NetCDF does not have"):
        create_netcdf(tmp_path / "a.nc", {"x": 4}, {"a": Variable(("x",), values)}, {})
