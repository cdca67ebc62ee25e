"""Small input files of every format, and the cases that read them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import xarray
from awp_files import write_awp_mesh, write_awp_source
from event_files import Quake, quakeml
from fsp_files import Model, Segment
from small_cases import small_case

from groundswell.formats.netcdf import Variable
from groundswell.outputs.files import write_fields
from groundswell.seismology.formats.awp import AwpSource

Content = dict[str, Any]
ROCK = {"vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100.0, "qs": 50.0}
CELLS = (12, 12, 12)


def earthquake(**sections: Any) -> Content:
    """The small earthquake with other sections; None removes one."""
    content = {**small_case("earthquake"), **sections}
    return {name: section for name, section in content.items() if section is not None}


def layers(folder: Path) -> tuple[Path, Content]:
    path = folder / "layers.csv"
    rows = ["top,vp,vs,rho,qp,qs", "0,3000,1700,2200,100,50", "400,4500,2500,2600,300,150"]
    path.write_text("\n".join(rows) + "\n")
    return path, earthquake(medium={"kind": "layered", "file": path.name})


def _model() -> xarray.Dataset:
    axes = {axis: np.linspace(-50.0, 1250.0, 6) for axis in ("x", "y", "depth")}
    values = {name: (("depth", "y", "x"), np.full((6, 6, 6), of)) for name, of in ROCK.items()}
    return xarray.Dataset(values, axes)


def netcdf4(folder: Path) -> tuple[Path, Content]:
    path = folder / "model.nc"
    found = _model()
    coordinates = {name: Variable((name,), axis.values) for name, axis in found.coords.items()}
    fields = {name: Variable(of.dims, of.values) for name, of in found.data_vars.items()}
    write_fields(path, coordinates, fields, {"title": "rock"})
    return path, earthquake(medium={"kind": "netcdf", "file": path.name})


def netcdf3(folder: Path) -> tuple[Path, Content]:
    path = folder / "model3.nc"
    _model().to_netcdf(path, engine="scipy", format="NETCDF3_64BIT")
    return path, earthquake(medium={"kind": "netcdf", "file": path.name})


def awp_mesh(folder: Path) -> tuple[Path, Content]:
    path = folder / "mesh.bin"
    plane = {name: np.full(CELLS[:2], value) for name, value in ROCK.items()}
    write_awp_mesh(path, [plane] * CELLS[2], variables=5)
    medium = {"kind": "awp", "file": path.name, "cells": list(CELLS), "variables": 5}
    return path, earthquake(medium=medium)


def _awp_source(folder: Path, form: str) -> tuple[Path, Content]:
    path = folder / f"source_{form}.bin"
    rates = np.zeros((2, 20, 6), np.float32)
    rates[..., :3] = 1e13 * np.hanning(20)[None, :, None]
    write_awp_source(path, AwpSource(np.array([[6, 6, 6], [7, 6, 6]]), rates), form)
    source = {"kind": "awp", "file": path.name, "points": 2, "steps": 20, "step": "0.01 s"}
    return path, earthquake(source=[{**source, "format": form}])


def awp_binary(folder: Path) -> tuple[Path, Content]:
    return _awp_source(folder, "binary")


def awp_text(folder: Path) -> tuple[Path, Content]:
    return _awp_source(folder, "text")


GEOGRAPHY = {
    "size": ["1200 m", "1200 m", "1200 m"],
    "spacing": "100 m",
    "geography": {"origin": [-118.0, 34.0]},
}
HERE = (-117.9935, 34.0054)  # the middle of the region


def srf(folder: Path) -> tuple[Path, Content]:
    path = folder / "rupture.srf"
    rates = 10 * np.hanning(12)  # cm/s
    slip = 0.02 * rates.sum()
    points = [
        f"{HERE[0]} {HERE[1]} {0.6 + 0.1 * n} 30 90 1e8 {0.05 * n} 0.02 2.3e5 2.6\n"
        f"180 {slip:g} 12 0 0 0 0\n" + " ".join(f"{rate:g}" for rate in rates) + "\n"
        for n in range(2)
    ]
    plane = f"{HERE[0]} {HERE[1]} 1 2 0.1 0.2\n30 90 0.55 0 0.05\n"
    path.write_text(f"2.0\nPLANE 1\n{plane}POINTS 2\n" + "".join(points))
    sections = {"source": [{"kind": "srf", "file": path.name}], "grid": GEOGRAPHY}
    return path, earthquake(**sections)


def fsp(folder: Path) -> tuple[Path, Content]:
    path = folder / "model.fsp"
    columns = {"SLIP": [0.3], "RAKE": [170.0], "TRUP": [0.0], "RISE": [0.2]}
    segment = Segment(30.0, 80.0, (1, 1), {n: np.array(of) for n, of in columns.items()})
    path.write_text(Model([segment]).text())
    place = {"x": 600.0, "y": 600.0, "depth": 600.0}
    return path, earthquake(source=[{"kind": "fsp", "file": path.name, **place}])


def stations(folder: Path) -> tuple[Path, Content]:
    path = folder / "stations.csv"
    path.write_text("network,station,x,y,depth\nGS,A,320,710,0\nGS,B,900,500,450\n")
    return path, earthquake(receiver=None, receivers={"file": path.name})


def station_xml(folder: Path) -> tuple[Path, Content]:
    from obspy.core.inventory import Channel, Inventory, Network, Station

    path = folder / "stations.xml"
    channel = Channel("BHZ", "", HERE[1], HERE[0], elevation=10.0, depth=100.0)
    at = Station("OLI", HERE[1], HERE[0], 10.0, channels=[channel])
    Inventory([Network("CI", stations=[at])], source="test").write(str(path), format="STATIONXML")
    return path, earthquake(grid=GEOGRAPHY, receiver=None, receivers={"file": path.name})


def specfem_stations(folder: Path) -> tuple[Path, Content]:
    path = folder / "STATIONS"
    path.write_text("OLI CI 610 320 10.0 0.0\nPAS CI 500 900 10.0 100.0\n")
    return path, earthquake(receiver=None, receivers={"file": path.name})


def quakeml_event(folder: Path) -> tuple[Path, Content]:
    path = folder / "event.xml"
    path.write_bytes(quakeml(Quake(shift=0.1, half_duration=0.1)))
    source = {"kind": "event", "file": path.name, "x": 600.0, "y": 600.0, "depth": 600.0}
    return path, earthquake(source=[source | {"magnitude": 4.0}])


def time_table(folder: Path) -> tuple[Path, Content]:
    path = folder / "pulse.txt"
    path.write_text("# time, moment rate\n0 0\n0.1 1\n0.2 0.5\n0.3 0\n")
    [source] = small_case("earthquake")["source"]
    source = {**source, "time_function": {"kind": "table", "file": path.name}}
    return path, earthquake(source=[source])


def mask(folder: Path) -> tuple[Path, Content]:
    path = folder / "mask.npy"
    np.save(path, np.arange(0, 1728, 100))
    where = {"kind": "mask", "file": path.name}
    record = {"fields": ["vx"], "where": where, "what": ["final"], "file": "some.nc"}
    return path, earthquake(output={"record": [record]})


def _gmsh(folder: Path, version: str, binary: bool) -> tuple[Path, Content]:
    import meshio

    path = folder / f"cubes_{version}_{binary}.msh"
    x, y, z = np.meshgrid(*[np.arange(n + 1.0) for n in (2, 2, 1)], indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    places = [*corners, *((i, j, 1) for i, j, _ in corners)]
    cubes = np.stack([number[i : i + 2, j : j + 2, k] for i, j, k in places], axis=-1)
    floor = np.stack([number[i : i + 2, j : j + 2, 0] for i, j, _ in corners], axis=-1)
    cells = [("hexahedron", cubes.reshape(-1, 8)), ("quad", floor.reshape(-1, 4))]
    tags = [np.full(4, 1), np.full(4, 2)]
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    names = {"inside": np.array([1, 3]), "floor": np.array([2, 2])}
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3)
    found = meshio.Mesh(points, cells, cell_data=data, field_data=names)
    if version == "4.1":
        entities = [(3, 1), (2, 2), *[(3, 1)] * (len(points) - 2)]  # of the points
        found.point_data["gmsh:dim_tags"] = np.array(entities)
    meshio.gmsh.write(path, found, version, binary=binary)
    content = small_case("poisson") | {"mesh": {"kind": "gmsh", "file": path.name}}
    content["boundaries"] = {"floor": {"kind": "fixed", "value": 0.0}}
    content["output"] = {}
    return path, content


def gmsh2(folder: Path) -> tuple[Path, Content]:
    return _gmsh(folder, "2.2", False)


def gmsh2_binary(folder: Path) -> tuple[Path, Content]:
    return _gmsh(folder, "2.2", True)


def gmsh4(folder: Path) -> tuple[Path, Content]:
    return _gmsh(folder, "4.1", False)


def gmsh4_binary(folder: Path) -> tuple[Path, Content]:
    return _gmsh(folder, "4.1", True)


def flow(folder: Path) -> tuple[Path, Content]:
    """The initial flow of a cavity."""
    path = folder / "flow.nc"
    axes = {axis: np.linspace(0.0, 1.0, 7) for axis in ("x", "y", "z")}
    values = {name: (("z", "y", "x"), np.zeros((7, 7, 7))) for name in ("p", "u", "v", "w", "T")}
    xarray.Dataset(values, axes).to_netcdf(path, engine="h5netcdf")
    content = small_case("cavity") | {"grid": {"points": [15, 15, 15]}, "walls": {}}
    content["time"] = {"tolerance": 1e-2}
    return path, content | {"start": {"flow": path.name}, "output": {}, "run": {}}


FORMATS: dict[str, Callable[[Path], tuple[Path, Content]]] = {
    of.__name__: of
    for of in (
        layers,
        netcdf4,
        netcdf3,
        awp_mesh,
        awp_binary,
        awp_text,
        srf,
        fsp,
        stations,
        station_xml,
        specfem_stations,
        quakeml_event,
        time_table,
        mask,
        gmsh2,
        gmsh2_binary,
        gmsh4,
        gmsh4_binary,
        flow,
    )
}
TEXTS = {"layers", "awp_text", "srf", "stations", "station_xml", "time_table", "gmsh2", "gmsh4"}
TEXTS |= {"fsp", "specfem_stations", "quakeml_event"}
