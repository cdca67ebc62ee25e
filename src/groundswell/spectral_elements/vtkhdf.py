"""High-order output: fields on curved Lagrange hexahedra in VTKHDF files, which ParaView opens.

Format: "VTKHDF format specification",
https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format (UnstructuredGrid, version 1.0,
read by VTK 9.1 and ParaView 5.10 or later). Lagrange elements have equidistant nodes: corners
first, then edges, faces and the interior (the numbering of vtkHigherOrderHexahedron from VTK 9.1
on).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from groundswell.arrays import HostArray, Integers
from groundswell.formats.atomic import atomic_write
from groundswell.formats.damage import read_errors_reported
from groundswell.formats.netcdf import netcdf_attributes
from groundswell.meshes.box import Box
from groundswell.meshes.gll import gll
from groundswell.meshes.hexahedra import (
    AXES,
    Floats,
    Hexahedra,
    StoredShapes,
    interpolate,
    positions,
)
from groundswell.meshes.mesh import Mesh
from groundswell.meshes.node_orders import lagrange_order
from groundswell.spectral_elements.fields import as_dataset
from groundswell.spectral_elements.geometry import tabulate
from groundswell.spectral_elements.node_numbering import NodeNumbering

if TYPE_CHECKING:
    import xarray

MAX_DEGREE = 10  # of VTK's Lagrange elements
_LAGRANGE_HEXAHEDRON = 72
_VERSION = (1, 0)


@dataclass(frozen=True, eq=False)
class LagrangeElements:
    """Fields at equidistant nodes of elements, numbered along r first, then s, then t.

    Args:
        points: positions of the distinct nodes, (points, 3), m.
        connectivity: index of each element's nodes among the points, (elements, (degree + 1)^3).
        fields: values by name, (points,).
        attrs: attributes of the file, such as its title.
    """

    points: Floats
    connectivity: Integers
    fields: Mapping[str, HostArray]
    attrs: Mapping[str, Any]

    @cached_property
    def degree(self) -> int:
        """Degree of the elements."""
        return round(self.connectivity.shape[1] ** (1 / AXES)) - 1

    @classmethod
    def of(
        cls,
        mesh: Hexahedra,
        degree: int,
        fields: Mapping[str, Floats],
        attrs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Fields on a whole mesh, interpolated to MAX_DEGREE if their degree is higher.

        Linked points of periodic sides are different points.

        Args:
            degree: of the fields.
            fields: values at GLL nodes by name, (elements, (degree + 1)^3).
        """
        mesh = _without_links(mesh)
        everyone, lower = np.arange(mesh.count), min(degree, MAX_DEGREE)
        numbering = NodeNumbering.on(mesh, lower)

        matrix = _equidistant_matrix(degree, lower)

        def field(values: Floats) -> Floats:
            return numbering.collect(lambda some: interpolate(values[some][..., None], matrix))[
                :, 0
            ]

        shapes = StoredShapes.of(mesh, everyone)
        points = numbering.collect(
            lambda some: interpolate(positions(shapes, degree, everyone[some]), matrix)
        )
        chosen = {name: field(values) for name, values in fields.items()}
        # Numbered by first use, so that neighbours are close in the file.
        connectivity = numbering.number_by_use().reshape(mesh.count, -1)
        return cls(points, connectivity, chosen, dict(attrs or {}))

    def write(self, path: Path) -> Path:
        """Write the file.

        Raises:
            RunFailed: the disk is full.
        """
        import h5py

        arrays = (self.points, self.connectivity, *self.fields.values())
        size = sum(array.nbytes for array in arrays)
        with atomic_write(path, size) as part, h5py.File(part, "w", locking=False) as file:
            file.attrs.update(netcdf_attributes(self.attrs))
            root = self.write_grid(file, _VERSION)
            for name, values in self.fields.items():
                root[f"PointData/{name}"] = values
        return path

    @property
    def grid_bytes(self) -> int:
        """Size of the points and elements in a file."""
        return sum(values.nbytes for values in self._layout.values())

    def write_grid(self, file: Any, version: tuple[int, int]) -> Any:
        """Write the points and elements to a file; returns its group of VTK."""
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array(version, np.int64)
        root.attrs["Type"] = np.bytes_("UnstructuredGrid")  # fixed-length ASCII
        for name, values in self._layout.items():
            root[name] = values
        return root

    @property
    def _layout(self) -> dict[str, HostArray]:
        """The datasets of the grid, with the types of the specification."""
        elements, nodes = self.connectivity.shape
        return {
            "NumberOfPoints": np.array([len(self.points)], np.int64),
            "NumberOfCells": np.array([elements], np.int64),
            "NumberOfConnectivityIds": np.array([elements * nodes], np.int64),
            "Points": self.points,
            "Types": np.full(elements, _LAGRANGE_HEXAHEDRON, np.uint8),
            "Offsets": nodes * np.arange(elements + 1, dtype=np.int64),
            "Connectivity": self._lagrange_connectivity,
        }

    @property
    def _lagrange_connectivity(self) -> Integers:
        """Indices of the elements' nodes among the points, in VTK's order, (elements * nodes,)."""
        order = lagrange_order(self.degree)

        def compute(some: Integers) -> tuple[Integers]:
            return (self.connectivity[some][:, order].astype(np.int64),)

        return tabulate(compute, len(self.connectivity), len(order))[0].ravel()

    def as_dataset(self, units: Mapping[str, str] | None = None) -> xarray.Dataset:
        """The fields, (element, node), with the positions x, y and z of the nodes, m.

        Args:
            units: of the fields, by name; without an entry, they are plain numbers.
        """
        values = {name: values[self.connectivity] for name, values in self.fields.items()}
        return as_dataset(self.points[self.connectivity], values, units)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file that `write` has written.

        Raises:
            InputError: the file is missing or damaged.
        """
        import h5py

        with read_errors_reported(
            path, "a solution", "run the case again", if_missing="run the case again"
        ):
            with h5py.File(path, "r") as file:
                root = file["VTKHDF"]
                cells = np.asarray(root["Connectivity"]).reshape(int(root["NumberOfCells"][0]), -1)
                fields = {name: np.asarray(values) for name, values in root["PointData"].items()}
                points, attrs = np.asarray(root["Points"]), dict(file.attrs)
            degree = round(cells.shape[1] ** (1 / AXES)) - 1
            return cls(points, cells[:, np.argsort(lagrange_order(degree))], fields, attrs)


def to_equidistant(values: Floats, degree: int, lower: int) -> Floats:
    """Interpolate values (elements, (degree + 1)^3, components) to (lower + 1)^3 nodes."""
    matrix = _equidistant_matrix(degree, lower)

    def compute(some: Integers) -> tuple[Floats]:
        return (np.ascontiguousarray(interpolate(values[some], matrix)),)

    return tabulate(compute, len(values), len(matrix) ** AXES)[0]


def _without_links(mesh: Hexahedra) -> Hexahedra:
    """The mesh without periodic sides."""
    if isinstance(mesh, Box):
        return replace(mesh, periodic=(False, False, False))
    return mesh.without_links() if isinstance(mesh, Mesh) else mesh


def _equidistant_matrix(degree: int, lower: int) -> Floats:
    """Interpolation from GLL nodes to equidistant ones along an axis, (lower + 1, degree + 1)."""
    return gll(degree).interpolation(np.linspace(-1, 1, lower + 1))
