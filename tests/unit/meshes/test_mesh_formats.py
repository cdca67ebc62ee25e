"""Meshes from files of all formats: what was written comes back, and what other programs wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bent_boxes import bent
from mesh_files import write

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.hexahedra import face_nodes, positions
from groundswell.meshes.reading import FORMATS, read_mesh, read_mesh_groups
from groundswell.spectral_elements.geometry import compute_mass

FILES = Path(__file__).parent / "files"
NAMES = {4: "inlet", 7: "the outlet", 2: "walls"}
TEXTS = {".inp": {"shells": True}, ".e": {"version": 4}, ".vtk": {"binary": False}}
TEXTS[".vtu"] = {"binary": False}
ENDINGS = (".msh", ".inp", ".e", ".med", ".vtk", ".vtu")
QUARTER = 3 * np.pi / 4  # of a ring of radii 1 and 2 and height 1


# --- what was written -----------------------------------------------------------------------------


def require_same(path: Path, size: int) -> None:
    """The bent box is read as it is, with its sides."""
    mesh, tags = bent(1 if size == 8 else 2)
    found = read_mesh_groups(path)
    assert np.allclose(found.mesh.nodes, mesh.nodes, rtol=0, atol=1e-14)
    number = {name: tag for tag, name in NAMES.items()}
    if path.suffix.startswith(".vt"):  # which have numbers only
        number = {str(tag): tag for tag in NAMES}
    expected = np.zeros_like(tags)
    for name, tag in number.items():
        expected[tags == tag] = found.sides[name]
    assert set(found.sides) == set(number)
    assert np.array_equal(found.mesh.tags(np.arange(mesh.count)), expected)
    assert found.volumes.tolist() == [1] * mesh.count
    assert found.volume_names == {1: "1" if path.suffix.startswith(".vt") else "steel"}
    assert not found.warnings


@pytest.mark.parametrize("ending", ENDINGS[1:])
@pytest.mark.parametrize("size", [8, 20, 27])
def test_what_was_written_is_read(tmp_path: Path, ending: str, size: int) -> None:
    mesh, tags = bent(1 if size == 8 else 2)
    require_same(write(tmp_path / f"a{ending}", mesh, tags, NAMES, size), size)


@pytest.mark.parametrize("ending", TEXTS)
def test_other_flavours_of_formats(tmp_path: Path, ending: str) -> None:
    """Sets of shells instead of surfaces, NetCDF-4, text instead of bytes."""
    mesh, tags = bent(2)
    require_same(write(tmp_path / f"a{ending}", mesh, tags, NAMES, 27, **TEXTS[ending]), 27)


def test_capitals_of_endings_do_not_matter(tmp_path: Path) -> None:
    mesh, tags = bent(1)
    path = write(tmp_path / "a.e", mesh, tags, NAMES)
    assert read_mesh(path.rename(tmp_path / "A.EXO"))[0].count == mesh.count


# --- what other programs wrote --------------------------------------------------------------------

# Written by Gmsh 4.15 and VTK 9.7 (Exodus by its copy of Sandia's IOSS): a quarter of a ring with 2
# elements, or 6 with periodic ends. The error of the volume tells the order of the elements.
ERRORS = {1: 0.11, 2: 8e-4, 3: 2e-4, 4: 2e-6}
WRITTEN = [(path.name, 2) for path in sorted(FILES.glob("*_2[07].*"))]
WRITTEN += [(name, 2) for name in ("vtk_51.vtk", "vtk_raw.vtu", "vtk_base64.vtu", "vtk_inline.vtu")]
WRITTEN += [("gmsh_8.med", 1), ("gmsh_order3.msh", 3), ("vtk_order3.vtu", 3)]
WRITTEN += [("gmsh_order4.msh", 4), ("vtk_order4.vtk", 4)]


@pytest.mark.parametrize(("name", "order"), WRITTEN)
def test_files_of_other_programs(name: str, order: int) -> None:
    found = read_mesh_groups(FILES / name)
    mesh, everyone = found.mesh, np.arange(found.mesh.count)
    assert (mesh.count, mesh.order) == (2, order)
    error = abs(compute_mass(mesh, 8, everyone).sum() / QUARTER - 1)
    assert ERRORS.get(order + 1, 0) / 10 < error < ERRORS[order]
    places = positions(mesh, 6, everyone)
    radii = np.hypot(places[..., 0], places[..., 1])
    assert radii.min() > 1 - ERRORS[order] * 3 and radii.max() < 2 + ERRORS[order] * 3
    if name.startswith("gmsh") and not name.endswith("vtk"):
        assert found.sides.keys() == {"bottom", "top", "south", "outer", "west", "inner"}
        assert [*found.volume_names.values()] == ["steel"]
        outer = mesh.tags(everyone) == found.sides["outer"]
        faces = np.stack([mesh.nodes[:, face_nodes(order, f)] for f in range(6)], axis=1)
        assert np.allclose(np.hypot(*faces[outer][..., :2].T), 2, atol=ERRORS[order])


def test_lagrange_elements_of_earlier_versions_of_vtk(tmp_path: Path) -> None:
    """They have the nodes of two upright edges exchanged."""
    text = (FILES / "vtk_order4.vtk").read_bytes()
    start = text.index(b"CONNECTIVITY vtktypeint64\n") + len(b"CONNECTIVITY vtktypeint64\n")
    nodes = np.frombuffer(text, ">i8", 250, start).reshape(2, 125).copy()
    third, fourth = 8 + 8 * 3 + 2 * 3 + np.arange(3), 8 + 8 * 3 + 3 * 3 + np.arange(3)
    nodes[:, [*third, *fourth]] = nodes[:, [*fourth, *third]]
    (tmp_path / "old.vtk").write_bytes(text[:start] + nodes.tobytes() + text[start + 2000 :])
    old, new = read_mesh(tmp_path / "old.vtk")[0], read_mesh(FILES / "vtk_order4.vtk")[0]
    assert np.array_equal(old.nodes, new.nodes)


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [*FORMATS])
def test_other_content(tmp_path: Path, ending: str) -> None:
    """Empty files, text and pictures."""
    for content in (b"", b"not a mesh\n" * 9, b"\x89PNG\r\n" + bytes(range(256))):
        path = tmp_path / f"a{ending}"
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"a\{ending}: ") as caught:
            read_mesh(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("C3D8", "C3D6"), "numbers are not elements of 6 nodes"),
        (("C3D8", "B31"), "no .NODE or no .ELEMENT"),
        (("*Solid", "*INCLUDE, INPUT=a\n*Solid"), "INCLUDE, which is not read"),
        (("*Solid", "*Instance, name=a\n*Instance, name=b\n*Solid"), "several instances"),
        (("_4_S1, S1", "_4_S1, S7"), "'inlet' has a face 'S7'; allowed: S1 to S6"),
        (("_4_S1, S1", "_4_S1, SPOS"), "without the face 'SPOS'"),
        (("_4_S1, S1", "none, S1"), "'none' is missing or contains itself"),
        (("*ELSET, ELSET=_4_S1\n", "*ELSET, ELSET=_4_S1\n_4_S1\n"), "contains itself"),
        (("elset=steel", "elset=iron"), "'iron' is missing"),
        (("ELSET=Steel\n1, ", "ELSET=Steel\n1, x"), r"line \d+, .ELEMENT: invalid literal"),
    ],
)
def test_abaqus_files_that_are_refused(tmp_path: Path, change: Any, words: str) -> None:
    mesh, tags = bent(1)
    path = write(tmp_path / "a.inp", mesh, tags, NAMES)
    text = path.read_text()
    assert change[0] in text
    path.write_text(text.replace(*change))
    with pytest.raises(InputError, match=words):
        read_mesh(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ((b"HEX8", b"WED8"), "cells are .*12 wedge; allowed: hexahedra only"),
        ((b"coordz", b"coordw"), "in other than 3 dimensions"),
        ((b"side_ss1", b"side_xs1"), "lacks the variable side_ss1"),
    ],
)
def test_exodus_files_that_are_refused(tmp_path: Path, change: Any, words: str) -> None:
    mesh, tags = bent(1)
    path = write(tmp_path / "a.e", mesh, tags, NAMES)
    path.write_bytes(path.read_bytes().replace(*change))
    with pytest.raises(InputError, match=words):
        read_mesh(path)


def test_arrays_that_may_number_surfaces(tmp_path: Path) -> None:
    mesh, tags = bent(1)
    path = write(tmp_path / "a.vtu", mesh, tags, NAMES, binary=False)
    text = path.read_text()
    one = text[text.index('<DataArray type="Int32"') : text.index("</CellData>")]
    path.write_text(text.replace(one, one + one.replace('"part"', '"other"')))
    found = read_mesh_groups(path)
    assert "several arrays of whole numbers on cells (other, part)" in found.warnings[0]
    assert found.sides == {"1": 1}
    path.write_text(text.replace(one, one + one.replace('"part"', '"MaterialIds"')))
    assert read_mesh_groups(path).sides.keys() == {"2", "4", "7"}


def test_names_of_arrays_in_a_field_of_vtk(tmp_path: Path) -> None:
    """They keep their case, and may be called like a section."""
    mesh, tags = bent(1)
    path = write(tmp_path / "a.vtk", mesh, tags, NAMES, binary=False)
    text = path.read_text()
    header, values = "SCALARS part int 1\nLOOKUP_TABLE default\n", text.split("default\n")[1]
    count = len(values.split())
    arrays = [f"{name} 1 {count} int\n{values}" for name in ("gmsh:physical", "normals")]
    metadata = "METADATA\nINFORMATION 0\n\n"
    path.write_text(text.replace(header + values, "FIELD a 2\n" + metadata.join(arrays)))
    require_same(path, 8)


def test_groups_of_med_that_share_cells(tmp_path: Path) -> None:
    import h5py

    mesh, tags = bent(1)
    path = write(tmp_path / "a.med", mesh, tags, NAMES)
    with h5py.File(path, "a") as file:
        names = file["FAS/part/ELEME/FAM_-5_inlet/GRO/NOM"][()]
        del file["FAS/part/ELEME/FAM_-5_inlet/GRO/NOM"]
        file["FAS/part/ELEME/FAM_-5_inlet/GRO/NOM"] = np.concatenate([names, names])
    with pytest.raises(InputError, match=r"groups \['inlet', 'inlet'\] share cells"):
        read_mesh(path)


def test_files_without_surfaces() -> None:
    found = read_mesh_groups(FILES / "vtk_20.exo")
    assert found.sides == {"1": 1} and "no surfaces are named" in found.warnings[0]


def test_the_guide_has_every_format() -> None:
    page = (Path(__file__).parents[3] / "docs" / "meshes.md").read_text()
    assert all(f"| `{ending}`" in page or f", `{ending}`" in page for ending in FORMATS)


def test_the_case_reads_any_format(tmp_path: Path) -> None:
    """Sides have the names of the file."""
    mesh, tags = bent(2)
    write(tmp_path / "part.e", mesh, tags, NAMES, 27)
    (tmp_path / "case.toml").write_text("""
        solver = "poisson"
        mesh = { kind = "file", file = "part.e" }
        [boundaries]
        inlet = { kind = "fixed" }
        outlet = { kind = "flux" }
        """)
    with pytest.raises(InputError, match="outlet: is not a side of the mesh"):
        gs.check(tmp_path / "case.toml")
