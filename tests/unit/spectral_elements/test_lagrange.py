"""Elements in VTKHDF: numbered as VTK does, read back, and right in VTK itself where it is here."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import h5py
import numpy as np
import pytest
from dense_spectral_elements import shuffled

from groundswell.errors import InputError
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import positions
from groundswell.spectral_elements.vtkhdf import MAX_DEGREE, LagrangeElements, lagrange_order


def bent(p: np.ndarray) -> np.ndarray:
    return p + 0.1 * p[..., ::-1] ** 2


def vtk_index(i: int, j: int, k: int, n: int) -> int:
    """A node's number, told by where it lies: a count of all that come before it."""
    corners = [(0, 0), (n, 0), (n, n), (0, n)]
    inner = range(1, n)
    ring = [
        [(m, 0) for m in inner],
        [(n, m) for m in inner],
        [(m, n) for m in inner],
        [(0, m) for m in inner],
    ]
    order = [(*c, end) for end in (0, n) for c in corners]
    order += [(*place, end) for end in (0, n) for edge in ring for place in edge]
    order += [(*c, m) for c in corners for m in inner]
    for axis in range(3):
        for end, slow, fast in product((0, n), inner, inner):
            place = [fast, slow]
            place.insert(axis, end)
            order.append(tuple(place))
    order += [(a, b, c) for c, b, a in product(inner, inner, inner)]
    return order.index((i, j, k))


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_the_order_of_nodes(degree: int) -> None:
    n = degree + 1
    order = lagrange_order(degree)
    assert sorted(order) == list(range(n**3))
    for place, node in enumerate(order):
        k, j, i = np.unravel_index(node, (n, n, n))
        assert vtk_index(int(i), int(j), int(k), degree) == place


@pytest.mark.parametrize(("degree", "written"), [(1, 1), (3, 3), (12, MAX_DEGREE)])
def test_files_hold_the_polynomials(tmp_path: Path, degree: int, written: int) -> None:
    mesh = shuffled(Box((2, 1, 2), deform=bent, order=2), np.random.default_rng(1))
    x, y, z = np.moveaxis(positions(mesh, degree, np.arange(4)), -1, 0)
    elements = LagrangeElements.of(mesh, degree, {"u": x - 2 * y + z}, {"title": "t"})
    found = LagrangeElements.read(elements.write(tmp_path / "u.vtkhdf"))
    assert found.degree == written and found.attrs["title"] == "t"
    assert len(found.points) == mesh.count_nodes(written)
    assert (found.connectivity == elements.connectivity).all()
    x, y, z = found.points.T
    np.testing.assert_allclose(found.fields["u"], x - 2 * y + z, atol=1e-12)
    wanted = mesh.geometry_nodes(np.arange(4))[:, [0, -1]]  # corners are nodes of both
    np.testing.assert_allclose(found.points[found.connectivity[:, [0, -1]]], wanted, atol=1e-12)


def test_what_the_format_asks_for(tmp_path: Path) -> None:
    LagrangeElements.of(Box((2, 1, 1)), 2, {"u": np.zeros((2, 27))}).write(tmp_path / "u.vtkhdf")
    with h5py.File(tmp_path / "u.vtkhdf") as file:
        root = file["VTKHDF"]
        assert root.attrs["Type"] == b"UnstructuredGrid" and [*root.attrs["Version"]] == [1, 0]
        counts = [
            int(root[f"NumberOf{what}"][0]) for what in ("Points", "Cells", "ConnectivityIds")
        ]
        assert counts == [45, 2, 54]
        assert root["Points"].shape == (45, 3) and root["PointData/u"].shape == (45,)
        assert [*root["Offsets"]] == [0, 27, 54] and [*root["Types"]] == [72, 72]
        assert {root[name].dtype.str for name in ("Offsets", "Connectivity")} == {"<i8"}


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "u.vtkhdf"
    with pytest.raises(InputError, match=r"u.vtkhdf does not exist; run the case again"):
        LagrangeElements.read(path)
    path.write_text("nothing")
    with pytest.raises(InputError, match=r"is damaged .*; run the case again"):
        LagrangeElements.read(path)


@pytest.mark.parametrize("degree", [1, 2, 5])
def test_vtk_sees_the_same_elements(tmp_path: Path, degree: int) -> None:
    """Volumes by its own derivatives, and no faces inside."""
    vtk = pytest.importorskip("vtk")
    from vtk.util.numpy_support import vtk_to_numpy

    mesh = shuffled(Box((2, 1, 2), deform=bent, order=2), np.random.default_rng(1))
    fields = {"u": positions(mesh, degree, np.arange(4))[..., 0]}
    path = LagrangeElements.of(mesh, degree, fields).write(tmp_path / "u.vtkhdf")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    points = vtk_to_numpy(grid.GetPoints().GetData())
    values = vtk_to_numpy(grid.GetPointData().GetArray("u"))
    np.testing.assert_allclose(values, points[:, 0], atol=1e-14)
    places = np.random.default_rng(2).uniform(0, 1, (20, 3))
    for n in range(4):
        cell = grid.GetCell(n)
        ids = [cell.GetPointId(m) for m in range(cell.GetNumberOfPoints())]
        derivatives = [0.0] * (3 * len(ids))
        for place in places:
            cell.InterpolateDerivs(list(place), derivatives)
            jacobian = np.reshape(derivatives, (-1, 3)).T @ points[ids]
            assert np.linalg.det(jacobian) > 0.01
    surface = vtk.vtkDataSetSurfaceFilter()
    surface.SetInputData(grid)
    surface.SetNonlinearSubdivisionLevel(1)
    surface.Update()
    assert surface.GetOutput().GetNumberOfCells() == 16 * 2 * degree**2
