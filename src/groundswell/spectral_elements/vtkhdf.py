"""Values on hexahedra of any degree in VTKHDF, which ParaView opens as curved Lagrange elements.

Format: "VTKHDF format specification", https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format
(UnstructuredGrid, version 1.0, read by VTK 9.1 and ParaView 5.10 or later). Lagrange elements have
their nodes at equal distances, corners first, then edges, faces and the inside (the numbering of
vtkHigherOrderHexahedron from VTK 9.1 on).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from groundswell.errors import InputError
from groundswell.formats.atomic import atomic_write
from groundswell.formats.netcdf import netcdf_attributes
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import AXES, Floats, Hexahedra, Numbers, interpolated, positions

MOST = 10  # degree: VTK has no room for more
_LAGRANGE_HEXAHEDRON = 72
_VERSION = (1, 0)


@dataclass(frozen=True, eq=False)
class LagrangeElements:
    """Values at nodes of elements, equally far apart in each, numbered along r, then s, then t.

    Args:
        points: where the different nodes lie, (points, 3), m.
        places: of each element's nodes among them, (elements, (degree + 1)^3).
        fields: values by name, (points,).
        attrs: what else the file says, such as its title.
    """

    points: Floats
    places: Numbers
    fields: Mapping[str, NDArray[Any]]
    attrs: Mapping[str, Any]

    @cached_property
    def degree(self) -> int:
        """Of the elements."""
        return round(self.places.shape[1] ** (1 / AXES)) - 1

    @classmethod
    def of(
        cls,
        mesh: Hexahedra,
        degree: int,
        fields: Mapping[str, Floats],
        attrs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Functions on a whole mesh; those of a degree above MOST at nodes of that degree.

        Args:
            degree: of the functions.
            fields: their values at Lobatto's points, (elements, (degree + 1)^3).
        """
        everyone, lower = np.arange(mesh.count), min(degree, MOST)
        ids = mesh.ids(lower, everyone).ravel()
        _, first, place = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they come, so that neighbours are close in the file
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        nodes = evenly(positions(mesh, degree, everyone), degree, lower)
        found = {
            name: evenly(values[..., None], degree, lower)[..., 0].ravel()[first[order]]
            for name, values in fields.items()
        }
        places = rank[place].reshape(mesh.count, -1)
        return cls(nodes.reshape(-1, AXES)[first[order]], places, found, dict(attrs or {}))

    def write(self, path: Path) -> Path:
        """Write the file, in one part.

        Raises:
            RunFailed: the disk is full.
        """
        import h5py

        size = sum(array.nbytes for array in (self.points, self.places, *self.fields.values()))
        with atomic_write(path, size) as part, h5py.File(part, "w", locking=False) as file:
            file.attrs.update(netcdf_attributes(self.attrs))
            root = file.create_group("VTKHDF")
            root.attrs["Version"] = np.array(_VERSION, np.int64)
            root.attrs["Type"] = np.bytes_("UnstructuredGrid")  # fixed-length ASCII
            for name, values in self._layout.items():
                root[name] = values
            for name, values in self.fields.items():
                root[f"PointData/{name}"] = values
        return path

    @property
    def _layout(self) -> dict[str, NDArray[Any]]:
        """The datasets that make the grid: types as the specification has them."""
        elements, nodes = self.places.shape
        return {
            "NumberOfPoints": np.array([len(self.points)], np.int64),
            "NumberOfCells": np.array([elements], np.int64),
            "NumberOfConnectivityIds": np.array([elements * nodes], np.int64),
            "Points": self.points,
            "Types": np.full(elements, _LAGRANGE_HEXAHEDRON, np.uint8),
            "Offsets": nodes * np.arange(elements + 1, dtype=np.int64),
            "Connectivity": self.places[:, lagrange_order(self.degree)].ravel(),
        }

    @classmethod
    def read(cls, path: Path) -> Self:
        """What `write` has written.

        Raises:
            InputError: the file is missing or damaged.
        """
        import h5py

        try:
            with h5py.File(path, "r") as file:
                root = file["VTKHDF"]
                connectivity = np.asarray(root["Connectivity"])
                places = connectivity.reshape(int(root["NumberOfCells"][0]), -1)
                fields = {name: np.asarray(values) for name, values in root["PointData"].items()}
                points, attrs = np.asarray(root["Points"]), dict(file.attrs)
            degree = round(places.shape[1] ** (1 / AXES)) - 1
            return cls(points, places[:, np.argsort(lagrange_order(degree))], fields, attrs)
        except (OSError, LookupError, ValueError, TypeError) as error:
            raise InputError(f"{path} is damaged ({error}); run the case again") from error


def evenly(values: Floats, degree: int, lower: int) -> Floats:
    """Values (elements, (degree + 1)^3, components) at nodes (lower + 1)^3 equally far apart."""
    return interpolated(values, gll(degree).interpolation(np.linspace(-1, 1, lower + 1)))


def lagrange_order(degree: int) -> Numbers:
    """Places of an element's nodes, in the order in which VTK wants them, ((degree + 1)^3,)."""
    lattice = np.arange((degree + 1) ** AXES).reshape((degree + 1,) * AXES)  # t, s, r
    low, high, inside = 0, -1, slice(1, -1)
    flat: list[tuple[Any, Any]]
    ring = [(low, low), (low, high), (high, high), (high, low)]  # (s, r) around the element
    corners = [lattice[t, s, r] for t in (low, high) for s, r in ring]
    flat = [(low, inside), (inside, high), (high, inside), (inside, low)]
    edges = [lattice[t, s, r] for t in (low, high) for s, r in flat]
    upright = [lattice[inside, s, r] for s, r in ring]
    faces = [np.take(lattice, end, axis)[inside, inside] for axis in (2, 1, 0) for end in (0, -1)]
    parts = [*corners, *edges, *upright, *faces, lattice[inside, inside, inside]]
    return np.concatenate([np.ravel(part) for part in parts])
