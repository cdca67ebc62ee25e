"""VTKHDF volumes: the structure that the specification asks for, and VTK's own reading of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from groundswell.errors import InputError
from groundswell.formats.vtkhdf import ImageGrid, VolumeWriter

rng = np.random.default_rng(44)
CELLS = (3, 4, 5)
SHAPE = CELLS[::-1]
SPACING = (10.0, 20.0, 30.0)
FIELDS = ("vx", "vy", "vz", "sxx", "sxz")
TIMES = (0.0, 0.5, 1.25)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def snapshot(dtype: str = "f4") -> dict[str, np.ndarray]:
    return {name: rng.normal(size=SHAPE).astype(dtype) for name in FIELDS}


def write(path: Path, **options: Any) -> list[dict[str, np.ndarray]]:
    snapshots = [snapshot(options.get("dtype", "f4")) for _ in TIMES]
    grid = ImageGrid(CELLS, SPACING, (100.0, 200.0, 60.0))
    with VolumeWriter(path, grid, **{"fields": FIELDS, **options}) as writer:
        for time, fields in zip(TIMES, snapshots, strict=True):
            writer.append(time, fields)
    return snapshots


def upward(fields: dict[str, np.ndarray]) -> np.ndarray:
    """Velocity (z, y, x, 3) with z up, written out cell by cell."""
    nx, ny, nz = CELLS
    found = np.empty((nz, ny, nx, 3), fields["vx"].dtype)
    for k in range(nz):
        found[nz - 1 - k, ..., 0] = fields["vx"][k]
        found[nz - 1 - k, ..., 1] = fields["vy"][k]
        found[nz - 1 - k, ..., 2] = -fields["vz"][k]
    return found


def test_the_structure_follows_the_specification(tmp_path: Path) -> None:
    path = tmp_path / "volumes.vtkhdf"
    snapshots = write(path, attrs={"title": "Test"})
    with h5py.File(path) as file:
        assert file.attrs["title"] == "Test"
        root = file["VTKHDF"]
        kind = h5py.h5a.open(root.id, b"Type").get_type()
        assert not kind.is_variable_str()
        assert kind.get_cset() == h5py.h5t.CSET_ASCII
        assert (kind.get_size(), root.attrs["Type"]) == (9, b"ImageData")
        assert root.attrs["Version"].tolist() == [2, 0]
        assert root.attrs["Version"].dtype.kind == root.attrs["WholeExtent"].dtype.kind == "i"
        assert root.attrs["WholeExtent"].tolist() == [0, 3, 0, 4, 0, 5]
        assert root.attrs["Spacing"].tolist() == [10, 20, 30]
        assert root.attrs["Origin"].tolist() == [100, 200, -210]  # the deepest corner
        assert root.attrs["Direction"].tolist() == [1, 0, 0, 0, 1, 0, 0, 0, 1]
        assert root.attrs["Direction"].dtype == np.float64
        steps = root["Steps"]
        assert (steps.attrs["NSteps"], steps.attrs["NSteps"].dtype.kind) == (3, "i")
        assert steps["Values"][:].tolist() == list(TIMES)
        assert steps["Values"].dtype == np.float64
        assert set(root["CellData"]) == {"velocity", "sxx", "sxz"}
        for name, data in root["CellData"].items():
            assert steps["CellDataOffsets"][name][:].tolist() == [0, 1, 2]
            assert data.dtype == np.float32
            assert data.shape == ((3, *SHAPE, 3) if name == "velocity" else (3, *SHAPE))
        for n, fields in enumerate(snapshots):
            assert np.array_equal(root["CellData/velocity"][n], upward(fields))
            assert np.array_equal(root["CellData/sxx"][n], fields["sxx"][::-1])
            assert np.array_equal(root["CellData/sxz"][n], -fields["sxz"][::-1])


def test_vtk_reads_values_times_and_axes(tmp_path: Path) -> None:
    pytest.importorskip("vtk")
    from vtk import vtkHDFReader
    from vtk.util.numpy_support import vtk_to_numpy

    path = tmp_path / "volumes.vtkhdf"
    snapshots = write(path)
    reader = vtkHDFReader()
    assert reader.CanReadFile(str(path))
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(reader.GetExecutive().TIME_STEPS())
    assert times == TIMES
    for time, fields in zip(TIMES, snapshots, strict=True):
        reader.UpdateTimeStep(time)
        image = reader.GetOutputDataObject(0)
        assert image.GetBounds() == (100, 130, 200, 280, -210, -60)
        velocity = vtk_to_numpy(image.GetCellData().GetArray("velocity"))
        assert np.array_equal(velocity.reshape(*SHAPE, 3), upward(fields))
        # The cell at a place in the picture's own coordinates: x = 115 m, y = 270 m, depth 65 m.
        cell = image.FindCell((115.0, 270.0, -65.0), None, 0, 0.0, _index(), [0] * 3, [0] * 8)
        assert velocity[cell, 2] == -fields["vz"][0, 3, 1]


def _index() -> Any:
    from vtk import mutable

    return mutable(0)


def test_values_keep_their_precision(tmp_path: Path) -> None:
    path = tmp_path / "volumes.vtkhdf"
    snapshots = write(path, dtype="f8")
    with h5py.File(path) as file:
        for n, fields in enumerate(snapshots):
            velocity, stress = (file[f"VTKHDF/CellData/{name}"][n] for name in ("velocity", "sxx"))
            assert velocity.dtype == stress.dtype == np.float64
            assert np.array_equal(velocity, upward(fields))
            assert np.array_equal(stress, fields["sxx"][::-1])


def test_a_restart_cuts_and_continues(tmp_path: Path) -> None:
    path = tmp_path / "v.vtkhdf"
    snapshots = write(path, fields=("vz", "vx"))
    last = snapshot()
    with VolumeWriter(path, ImageGrid(CELLS, SPACING), ("vz", "vx"), resume=2) as writer:
        writer.append(9.0, last)
    with h5py.File(path) as file:
        root = file["VTKHDF"]
        assert root["Steps"].attrs["NSteps"] == 3
        assert root["Steps/Values"][:].tolist() == [0.0, 0.5, 9.0]
        assert root["Steps/CellDataOffsets/vx"][:].tolist() == [0, 1, 2]
        assert np.array_equal(root["CellData/vz"][1], -snapshots[1]["vz"][::-1])
        assert np.array_equal(root["CellData/vz"][2], -last["vz"][::-1])
    assert names(tmp_path) == ["v.vtkhdf"]


def test_another_box_is_not_continued(tmp_path: Path) -> None:
    write(tmp_path / "v.vtkhdf")
    with pytest.raises(InputError, match="cannot be continued: its VTKHDF/CellData"):
        VolumeWriter(tmp_path / "v.vtkhdf", ImageGrid((3, 4, 6), SPACING), FIELDS, resume=1)
    with pytest.raises(InputError, match="unfinished run: it is damaged or of another kind"):
        VolumeWriter(tmp_path / "v.vtkhdf", ImageGrid(CELLS, SPACING), ("syy",), resume=1)
