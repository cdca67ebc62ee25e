"""Tensors from runs and stores: what belongs together, and 16 bits a value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from green_tensors import make_tensor

from groundswell.ensembles.store import COMPLETE, Store
from groundswell.errors import InputError
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.green.command import pack
from groundswell.seismology.green.store import HALF_ERROR, write_store
from groundswell.seismology.green.tensor import read_tensors


def write_runs(folder: Path, **changes: dict[str, Any]) -> list[Path]:
    """The files of three runs; `changes` of attributes or variables by axis."""
    tensor = make_tensor(samples=30)
    paths = []
    for n, axis in enumerate("xyz"):
        attrs = {
            **tensor.attrs,
            **{"force_axis": axis, "force": 1e10, "impulse": 2.0 + n},
            **{"force_start": 0.005, "force_step": 0.01},
        }
        run = tensor.isel(force=n).drop_vars("force")
        run = run.assign(strain=run["strain"] * (2.0 + n), force_function=("f", [0.1, 1.0, 0.1]))
        run.attrs = attrs
        for name, value in changes.get(axis, {}).items():
            if name in run:
                run[name] = (run[name].dims, value)
            else:
                run.attrs[name] = value
        paths.append(folder / f"{axis}.h5")
        run.to_netcdf(paths[-1], engine="h5netcdf")
    return paths


def test_three_runs_are_a_tensor_per_unit_impulse(tmp_path: Path) -> None:
    paths = write_runs(tmp_path)
    (tensor,) = read_tensors([paths[2], paths[0], paths[1]])
    xarray.testing.assert_allclose(tensor["strain"], make_tensor(samples=30)["strain"])
    assert tensor.attrs["station"] == "USC" and "force_axis" not in tensor.attrs


def write_ensemble(folder: Path, runs: Sequence[Path]) -> Path:
    """A store of an ensemble with the strains of these runs."""
    store = Store(folder / "tensors.zarr")
    store.create({})
    for path in runs:
        store.write(path.stem, {"status": COMPLETE}, {}, {GREEN: xarray.load_dataset(path)})
    return store.path


def test_runs_of_an_ensemble_are_a_tensor(tmp_path: Path) -> None:
    runs = write_runs(tmp_path)
    (expected,), (found,) = read_tensors(runs), read_tensors([write_ensemble(tmp_path, runs)])
    xarray.testing.assert_identical(found, expected)


def test_an_ensemble_without_strains_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no run with a strain_green_tensor"):
        read_tensors([write_ensemble(tmp_path, [])])
    store = write_ensemble(tmp_path / "two", write_runs(tmp_path)[:2])
    with pytest.raises(InputError, match="x, y and z, but has x, y"):
        read_tensors([store])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"y": {"medium": "other"}}, "another medium"),
        ({"z": {"time_step": 0.02}}, "other time steps"),
        ({"z": {"interval": 0.02}}, "other intervals"),
        ({"y": {"start": 0.1}}, "start at other times"),
        ({"y": {"station_x": 5.0}}, "different positions"),
        ({"z": {"force_function": [0.1, 0.9, 0.1]}}, "other time functions"),
        ({"z": {"force_start": 0.1}}, "other time functions"),
        ({"x": {"depth": np.array([1.0, 2.0, 3.0])}}, "other points"),
        ({"y": {"force_axis": "x"}}, "has x, x, z"),
    ],
)
def test_runs_of_other_cases_are_refused(
    changes: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"station GS\.USC") as caught:
        read_tensors(write_runs(tmp_path, **changes))
    assert words in str(caught.value)


def test_each_station_comes_once(tmp_path: Path) -> None:
    path = write_store(make_tensor(), tmp_path / "store.h5")
    with pytest.raises(InputError, match=r"station GS\.USC is given twice"):
        read_tensors([path, path])


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_tensors([tmp_path])
    xarray.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.h5", engine="h5netcdf")
    with pytest.raises(InputError, match=r"other\.h5"):
        read_tensors([tmp_path / "other.h5"])


def test_a_store_keeps_every_bit(tmp_path: Path) -> None:
    tensor = make_tensor()
    (found,) = read_tensors([write_store(tensor, tmp_path / "store.h5")])
    for name, of in tensor.variables.items():
        assert np.array_equal(found[name].values, of.values), name
    assert {name: found.attrs[name] for name in tensor.attrs} == tensor.attrs


def test_a_store_with_16_bits_rounds_each_series(tmp_path: Path) -> None:
    tensor = make_tensor()
    tensor["strain"][0, 0, 0] = 0.0  # has no scale
    path = write_store(tensor, tmp_path / "store.h5", half=True)
    with h5py.File(path) as file:
        assert file["strain"].dtype == np.int16
        assert file["strain"].chunks[-1] == tensor.sizes["time"]
    (found,) = read_tensors([path])
    peak = np.abs(tensor["strain"]).max("time")
    error = np.abs(found["strain"] - tensor["strain"]).max("time")
    assert (error <= 1.001 * HALF_ERROR * peak).all() and error.max() > 0


def test_stores_are_named_by_their_stations(tmp_path: Path) -> None:
    runs = write_runs(tmp_path)
    (path,) = pack(runs, tmp_path / "stores")
    assert path == tmp_path / "stores" / "GS.USC.h5"
    with pytest.raises(InputError, match="exists already"):
        pack(runs, tmp_path / "stores")
