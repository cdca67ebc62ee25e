"""Meshes as files of other formats than Gmsh's, with the orders of nodes of their manuals."""

from __future__ import annotations

import base64
import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from gmsh_files import QUADS, VTK, cells_of, numbered, places, save
from numpy.typing import NDArray
from scipy.io import netcdf_file

from groundswell.meshes.hexahedra import face_nodes
from groundswell.meshes.mesh import Mesh

# Steps (r, s, t) of each node, 0 to 2, as the manuals draw them.
EXODUS = """000 200 220 020 002 202 222 022 100 210 120 010 001 201 221 021 102 212 122 012
            111 110 112 011 211 101 121""".split()
ABAQUS = """000 200 220 020 002 202 222 022 100 210 120 010 102 212 122 012 001 201 221 021
            111 110 112 101 211 121 011""".split()
MED = """000 200 220 020 002 202 222 022 100 210 120 010 102 212 122 012 001 201 221 021
         110 101 211 121 011 112 111""".split()
STEPS = {".inp": ABAQUS, ".e": EXODUS, ".med": MED, ".vtk": VTK, ".vtu": VTK}
# Faces of hexahedra by number, with the fixed axis and its end: 2 axis + end, as ours are numbered.
SIDES = {".e": [2, 1, 3, 0, 4, 5], ".inp": [4, 5, 2, 1, 3, 0], ".re2": [2, 1, 3, 0, 4, 5]}


class Parts:
    """A mesh as tables: points, nodes of elements in a format's order, faces and their tags."""

    def __init__(self, mesh: Mesh, tags: NDArray[Any], ending: str, size: int) -> None:
        self.points, numbers = numbered(mesh)
        order = 1 if size == 8 else 2
        self.size, self.ending = size, ending
        self.elements = numbers[:, places(STEPS[ending][:size], order + 1)]
        faces = np.stack([numbers[:, face_nodes(order, face)] for face in range(6)], axis=1)
        quad = {8: 4, 20: 8, 27: 9}[size]
        self.faces = {
            t: faces[tags == t][:, QUADS[4 if order == 1 else 9][:quad]] for t in tagged(tags)
        }
        self.sides = {t: self._sides(tags == t) for t in tagged(tags)}
        if size == 20:  # points that only 27 nodes have are left out
            used, back = np.unique(self.elements, return_inverse=True)
            index = np.full(len(self.points), -1)
            index[used] = np.arange(len(used))
            self.points, self.elements = self.points[used], back.reshape(self.elements.shape)
            self.faces = {t: index[found] for t, found in self.faces.items()}

    def _sides(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """Elements and sides by the format's numbers, from 1 on, (faces, 2)."""
        if self.ending not in SIDES:
            return np.empty((0, 2), int)
        number = np.argsort(SIDES[self.ending]) + 1
        elements, faces = np.nonzero(chosen)
        return np.column_stack([elements + 1, number[faces]])


def tagged(tags: NDArray[Any]) -> list[int]:
    return [int(tag) for tag in np.unique(tags[tags > 0])]


def write(
    path: Path, mesh: Mesh, tags: NDArray[Any], names: dict[int, str], size: int = 8, **how: Any
) -> Path:
    """A file whose ending tells the format.

    Args:
        tags: of the faces of elements, 0 where they are not in a surface, (elements, 6).
        names: of the surfaces by tag; VTK's files have none.
        size: number of nodes of an element.
        how: see the functions.
    """
    if path.suffix == ".msh":
        points, numbers = numbered(mesh)
        of_surface = {name: (tag, 2) for tag, name in names.items()}
        return save(path, points, cells_of(numbers, tags), of_surface | {"steel": (1, 3)}, **how)
    parts = Parts(mesh, tags, path.suffix, size)
    WRITERS[path.suffix](path, parts, names, **how)
    return path


# --- formats --------------------------------------------------------------------------------------


def write_abaqus(path: Path, parts: Parts, names: dict[int, str], shells: bool = False) -> None:
    """Surfaces of faces of hexahedra, or sets of shell elements."""
    rows = lambda table: "\n".join(", ".join(map(str, row)) for row in table)  # noqa: E731
    numbered_points = [(n, *at) for n, at in enumerate(parts.points.tolist(), 1)]
    elements = [(n, *nodes) for n, nodes in enumerate((parts.elements + 1).tolist(), 1)]
    # Lines have at most 16 numbers, so long elements go on in the next one.
    lines = "\n".join(
        ",\n".join(", ".join(map(str, row[n : n + 16])) for n in range(0, len(row), 16))
        for row in elements
    )
    text = f"*HEADING\n** a mesh\n*Node\n{rows(numbered_points)}\n"
    text += (
        f"*Element, type=C3D{parts.size}, ELSET=Steel\n{lines}\n*Solid Section, elset=steel\n1.\n"
    )
    for tag, name in names.items():
        if shells:
            first = 1000 * tag
            faces = [(first + n, *nodes) for n, nodes in enumerate((parts.faces[tag] + 1).tolist())]
            text += f"*ELEMENT, TYPE=S{parts.faces[tag].shape[1]}R, ELSET={name}\n{rows(faces)}\n"
            continue
        for side in range(1, 7):
            chosen = parts.sides[tag][parts.sides[tag][:, 1] == side, 0]
            text += f"*ELSET, ELSET=_{tag}_S{side}\n{rows(chosen[:, None])}\n"
        sets = "\n".join(f"_{tag}_S{side}, S{side}" for side in range(1, 7))
        text += f"*Surface, name={name}, type=ELEMENT\n{sets}\n"
    path.write_text(text)


def write_exodus(path: Path, parts: Parts, names: dict[int, str], version: int = 3) -> None:
    """A file of NetCDF of a version, with a block of elements and side sets."""
    tables: dict[str, tuple[tuple[str, ...], NDArray[Any]]] = {
        f"coord{axis}": (("num_nodes",), parts.points[:, n]) for n, axis in enumerate("xyz")
    }
    tables["connect1"] = (("num_el_in_blk1", "num_nod_per_el1"), (parts.elements + 1).astype("i4"))
    tables["eb_names"] = (("num_el_blk", "len_name"), _letters(["steel"]))
    tables["ss_names"] = (("num_side_sets", "len_name"), _letters([*names.values()]))
    tables["ss_prop1"] = (("num_side_sets",), np.array([*names], "i4"))
    for n, tag in enumerate(names, 1):
        for column, of in enumerate(("elem", "side")):
            sides = parts.sides[tag][:, column].astype("i4")
            tables[f"{of}_ss{n}"] = ((f"num_side_ss{n}",), sides)
    attributes = {"connect1": {"elem_type": f"HEX{parts.size}"}}
    (_write_netcdf3 if version == 3 else _write_netcdf4)(path, tables, attributes)


def _letters(texts: list[str]) -> NDArray[Any]:
    raw = b"".join(text.encode().ljust(33, b"\0") for text in texts)
    return np.frombuffer(raw, "S1").reshape(len(texts), 33)


def _write_netcdf3(path: Path, tables: Any, attributes: Any) -> None:
    with netcdf_file(path, "w", version=2) as file:
        for dims, values in tables.values():
            for dim, length in zip(dims, values.shape, strict=True):
                if dim not in file.dimensions:
                    file.createDimension(dim, length)
        for name, (dims, values) in tables.items():
            variable = file.createVariable(name, values.dtype, dims)
            variable[:] = values
            for key, value in attributes.get(name, {}).items():
                setattr(variable, key, value)


def _write_netcdf4(path: Path, tables: Any, attributes: Any) -> None:
    import h5netcdf

    with h5netcdf.File(path, "w") as file:
        file.dimensions = {
            dim: length
            for dims, values in tables.values()
            for dim, length in zip(dims, values.shape, strict=True)
        }
        for name, (dims, values) in tables.items():
            variable = file.create_variable(name, dims, data=values)
            variable.attrs.update(attributes.get(name, {}))


def write_med(path: Path, parts: Parts, names: dict[int, str]) -> None:
    """A mesh of one step whose families have one group each."""
    with h5py.File(path, "w") as file:
        mesh = file.create_group("ENS_MAA/part")
        step = mesh.create_group("-0000000000000000001-0000000000000000001")
        coordinates = step.create_dataset("NOE/COO", data=parts.points.T.ravel())
        coordinates.attrs["NBR"] = len(parts.points)
        kinds = {8: ("HE8", "QU4"), 20: ("H20", "QU8"), 27: ("H27", "QU9")}[parts.size]
        quads = np.concatenate([parts.faces[tag] for tag in names])
        of_quads = np.concatenate([np.full(len(parts.faces[tag]), -1 - tag) for tag in names])
        ones = np.full(len(parts.elements), -1)
        for kind, nodes, family in zip(
            kinds, (parts.elements, quads), (ones, of_quads), strict=True
        ):
            cells = step.create_dataset(f"MAI/{kind}/NOD", data=(nodes + 1).T.ravel())
            cells.attrs["NBR"] = len(nodes)
            step.create_dataset(f"MAI/{kind}/FAM", data=family)
        for number, name in [(-1, "steel"), *((-1 - tag, name) for tag, name in names.items())]:
            family = file.create_group(f"FAS/part/ELEME/FAM_{number}_{name}")
            family.attrs["NUM"] = number
            letters = np.frombuffer(name.encode().ljust(80, b"\0"), "i1")
            family.create_dataset("GRO/NOM", data=letters[None])


def _vtk_cells(parts: Parts, names: dict[int, str]) -> tuple[list[Any], list[int], list[int]]:
    """Points, types and tags of all cells."""
    cell, quad = {8: (12, 9), 20: (25, 23), 27: (29, 28)}[parts.size]
    cells = [(row, cell, 1) for row in parts.elements]
    cells += [(row, quad, tag) for tag in names for row in parts.faces[tag]]
    rows, types, tags = zip(*cells, strict=True)
    return list(rows), list(types), list(tags)


def write_vtk(path: Path, parts: Parts, names: dict[int, str], binary: bool = True) -> None:
    """A legacy file of version 4.2."""
    rows, types, tags = _vtk_cells(parts, names)
    connectivity = np.concatenate([[len(row), *row] for row in rows])
    ascii_of = lambda values: " ".join(map(repr, np.ravel(values).tolist())).encode()  # noqa: E731
    raw_of = lambda values: values.astype(values.dtype.newbyteorder(">")).tobytes()  # noqa: E731
    of = raw_of if binary else ascii_of
    sections = [
        (f"POINTS {len(parts.points)} double", parts.points),
        (f"CELLS {len(rows)} {len(connectivity)}", connectivity.astype("i4")),
        (f"CELL_TYPES {len(rows)}", np.array(types, "i4")),
        (f"CELL_DATA {len(rows)}\nSCALARS part int 1\nLOOKUP_TABLE default", np.array(tags, "i4")),
    ]
    kind = "BINARY" if binary else "ASCII"
    text = f"# vtk DataFile Version 4.2\na mesh\n{kind}\nDATASET UNSTRUCTURED_GRID\n".encode()
    path.write_bytes(
        text + b"".join(f"{h}\n".encode() + of(values) + b"\n" for h, values in sections)
    )


def write_vtu(path: Path, parts: Parts, names: dict[int, str], binary: bool = True) -> None:
    """An XML file, with arrays of text, or compressed in base64."""
    rows, types, tags = _vtk_cells(parts, names)
    ends = np.cumsum([len(row) for row in rows])

    def array(name: str, kind: str, values: NDArray[Any], components: int = 1) -> str:
        values = np.asarray(values, kind.lower())
        content, form = " ".join(map(repr, values.ravel().tolist())), "ascii"
        if binary:
            raw, form = values.tobytes(), "binary"
            packed = zlib.compress(raw)
            header = np.array([1, len(raw), len(raw), len(packed)], "u4").tobytes()
            content = (base64.b64encode(header) + base64.b64encode(packed)).decode()
        return (
            f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" '
            f'format="{form}">{content}</DataArray>'
        )

    compressor = ' compressor="vtkZLibDataCompressor"' if binary else ""
    path.write_text(
        f'<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="2.2" '
        f'byte_order="LittleEndian" header_type="UInt32"{compressor}>\n<UnstructuredGrid>\n'
        f'<Piece NumberOfPoints="{len(parts.points)}" NumberOfCells="{len(rows)}">\n'
        f"<Points>{array('Points', 'Float64', parts.points, 3)}</Points>\n"
        f"<Cells>{array('connectivity', 'Int64', np.concatenate(rows))}\n"
        f"{array('offsets', 'Int64', ends)}\n{array('types', 'UInt8', np.array(types))}</Cells>\n"
        f"<CellData>{array('part', 'Int32', np.array(tags))}</CellData>\n"
        "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n"
    )


WRITERS: dict[str, Any] = {
    ".inp": write_abaqus,
    ".e": write_exodus,
    ".med": write_med,
    ".vtk": write_vtk,
    ".vtu": write_vtu,
}
