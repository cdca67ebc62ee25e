"""Fields on elements in time: the structure of the file, restarts, and VTK's own reading of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from dgwave_cases import EXPLOSION, WATER, build

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.meshes.box import Box
from groundswell.meshes.leaves import Leaves
from groundswell.spectral_elements.vtkhdf import MAX_DEGREE, LagrangeElements
from groundswell.spectral_elements.vtkhdf_series import LagrangeSeries

rng = np.random.default_rng(12)
MESH = Box((2, 1, 2), high=(3.0, 2.0, 1.0))
TIMES = (0.0, 0.5, 1.25)
NODES = 27  # degree 2


def snapshots(count: int = len(TIMES), nodes: int = NODES) -> list[dict[str, np.ndarray]]:
    """Continuous fields, which have one value at a point that elements share."""
    ids = MESH.ids(round(nodes ** (1 / 3)) - 1, np.arange(MESH.count))
    draws = [{n: rng.normal(size=ids.max() + 1) for n in ("vz", "p")} for _ in range(count)]
    return [{name: values[ids] for name, values in fields.items()} for fields in draws]


def write(path: Path, resume: int | None = None, *, given: Any, first: int = 0) -> Path:
    elements = LagrangeElements.of(MESH, 2, {}, {"title": "Test"})
    with LagrangeSeries(path, elements, ("vz", "p"), resume, "float64") as writer:
        for n, fields in enumerate(given, first):
            writer.append(TIMES[n], fields)
    return path


def test_the_structure_follows_the_specification(tmp_path: Path) -> None:
    given = snapshots()
    path = write(tmp_path / "v.vtkhdf", given=given)
    single = [LagrangeElements.of(MESH, 2, fields) for fields in given]
    points = len(single[0].points)
    with h5py.File(path) as file:
        root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
        assert root.attrs["Version"].tolist() == [2, 0] and steps.attrs["NSteps"] == 3
        assert root.attrs["Type"] == b"UnstructuredGrid" and file.attrs["title"] == "Test"
        assert steps["Values"][:].tolist() == list(TIMES)
        assert steps["NumberOfParts"][:].tolist() == [1, 1, 1]
        for name in ("PartOffsets", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets"):
            assert not steps[name][:].any() and steps[name].dtype == np.int64
        assert steps["CellOffsets"].shape == steps["ConnectivityIdOffsets"].shape == (3, 1)
        assert np.array_equal(root["Points"], single[0].points)
        for name in ("vz", "p"):
            offsets = [0, points, 2 * points]
            assert steps["PointDataOffsets"][name][:].tolist() == offsets
            wanted = np.concatenate([elements.fields[name] for elements in single])
            assert np.array_equal(root["PointData"][name], wanted)


def test_a_restart_cuts_and_continues(tmp_path: Path) -> None:
    first, second = snapshots(3), snapshots(1)
    path = write(tmp_path / "v.vtkhdf", given=first)
    write(path, 2, given=second, first=2)
    whole = write(tmp_path / "whole.vtkhdf", given=[*first[:2], *second])
    with h5py.File(path) as found, h5py.File(whole) as wanted:
        for name in ("PointData/vz", "PointData/p", "Steps/Values", "Steps/PointDataOffsets/p"):
            assert np.array_equal(found[f"VTKHDF/{name}"], wanted[f"VTKHDF/{name}"])
    with pytest.raises(InputError, match="holds 3 samples, but the checkpoint continues after 4"):
        write(path, 4, given=[])


def test_high_degrees_are_interpolated(tmp_path: Path) -> None:
    degree = MAX_DEGREE + 1
    [fields] = snapshots(1, (degree + 1) ** 3)
    elements = LagrangeElements.of(MESH, degree, fields)
    with LagrangeSeries(tmp_path / "v.vtkhdf", elements, ("p",), dtype="float64") as writer:
        writer.append(0.0, fields)
    with h5py.File(tmp_path / "v.vtkhdf") as file:
        assert np.array_equal(file["VTKHDF/PointData/p"], elements.fields["p"])


def test_vtk_reads_values_and_times(tmp_path: Path) -> None:
    pytest.importorskip("vtk")
    from vtk import vtkHDFReader
    from vtk.util.numpy_support import vtk_to_numpy

    given = snapshots()
    path = write(tmp_path / "v.vtkhdf", given=given)
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(reader.GetExecutive().TIME_STEPS())
    assert times == TIMES
    for time, fields in zip(TIMES, given, strict=True):
        reader.UpdateTimeStep(time)
        grid = reader.GetOutputDataObject(0)
        wanted = LagrangeElements.of(MESH, 2, fields)
        assert grid.GetNumberOfCells() == MESH.count and grid.GetCell(0).GetCellType() == 72
        assert np.array_equal(vtk_to_numpy(grid.GetPoints().GetData()), wanted.points)
        for name in ("vz", "p"):
            found = vtk_to_numpy(grid.GetPointData().GetArray(name))
            assert np.array_equal(found, wanted.fields[name])


# --- in a run -------------------------------------------------------------------------------------


def test_snapshots_of_a_run_are_its_fields(tmp_path: Path) -> None:
    """The snapshot after so many steps, against the fields of a simulation."""
    volumes = {"interval": "0.06 s", "fields": ["vz", "szz"]}
    case = build(tmp_path, output__volumes=volumes, output__shaking_map=False, time__duration=0.2)
    result = gs.run(case, folder=tmp_path / "results")
    with h5py.File(result.folder / "volumes.vtkhdf") as file:
        times = file["VTKHDF/Steps/Values"][:]
        found = {n: file[f"VTKHDF/PointData/{n}"][:].reshape(len(times), -1) for n in ("vz", "szz")}
        assert len(times) > 2 and times[1] == pytest.approx(0.06, rel=0.1)
    with gs.Simulation(case) as simulation:
        steps = round(times[2] / simulation.setup.dt)
        simulation.advance(steps)
        wanted = {name: simulation.gather(name) for name in found}
        mesh = Leaves(simulation.setup.geometry.forest)
    for name, values in LagrangeElements.of(mesh, 2, wanted).fields.items():
        assert np.abs(values).max() > 0
        assert np.allclose(found[name][2], values, rtol=1e-6, atol=1e-6 * np.abs(values).max())


def test_fields_that_there_are_not() -> None:
    with pytest.raises(CaseError, match=r"output\.volumes\.fields\[1\].*must be p, vx"):
        build(output__volumes={"interval": 0.02, "fields": ["vx", "T"]})
    with pytest.raises(CaseError, match=r"output\.volumes\.interval.*at most the duration"):
        build(output__volumes={"interval": 2})
    water = {"medium": WATER, "source": [EXPLOSION]}
    case = build(output__volumes={"interval": 0.02, "fields": ["szz"]}, **water)
    with pytest.raises(InputError, match=r'output\.volumes\.fields: the acoustic .* no "szz"'):
        gs.check(case)
