"""Media of a small case in all formats that both seismic solvers read: rock, or water above it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from awp_files import write_awp_mesh

Content = dict[str, Any]

SIZE, SPACING, CELLS = 1200.0, 200.0, (6, 6, 6)
FLOOR = 400.0  # of the water, m
ROCK = {"vp": 4000.0, "vs": 2300.0, "rho": 2600.0, "qp": 100.0, "qs": 50.0}
WATER = {"vp": 1500.0, "vs": 0.0, "rho": 1000.0, "qp": 1e4, "qs": 1e4}


def properties(depth: np.ndarray, is_wet: bool) -> dict[str, np.ndarray]:
    """Rock, or water above rock, with speeds that grow downwards."""
    solid = {n: v * (1 + 1e-4 * depth * (n in ("vp", "vs"))) for n, v in ROCK.items()}
    above = is_wet & (depth < FLOOR)
    return {name: np.where(above, WATER[name], values) for name, values in solid.items()}


def layers(is_wet: bool) -> list[Content]:
    return [{"top": 0.0, **WATER}, {"top": FLOOR, **ROCK}] if is_wet else [{"top": 0.0, **ROCK}]


NODES = np.linspace(-100.0, 1300.0, 8)  # of models on grids, along each axis


def on_grid(is_wet: bool) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Coordinates z, y, x of the nodes of a model, and its properties, (8, 8, 8)."""
    coordinates = np.meshgrid(NODES, NODES, NODES, indexing="ij")
    return coordinates, properties(coordinates[0], is_wet)


def netcdf(folder: Path, is_wet: bool) -> Content:
    axes = dict.fromkeys(("depth", "y", "x"), NODES)
    fields = {n: (tuple(axes), v) for n, v in on_grid(is_wet)[1].items()}
    xarray.Dataset(fields, axes).to_netcdf(folder / "model.nc", engine="h5netcdf")
    return {"file": "model.nc"}


def segy(folder: Path, is_wet: bool) -> Content:
    segyio = pytest.importorskip("segyio")
    for name, values in on_grid(is_wet)[1].items():
        of_line = np.ascontiguousarray(values.transpose(1, 2, 0), np.float32)  # (y, x, z)
        segyio.tools.from_array3D(folder / f"{name}.segy", of_line, format=5, dt=200.0)
    files = {name: f"{name}.segy" for name in ROCK if name != "vp"}
    place = {"spacing": [200.0, 200.0], "corner": [100.0, 100.0], "top": -100.0}
    return {"file": "vp.segy", "files": files, "interval": 200.0, **place}


def rows_of(is_wet: bool, sign: int) -> str:
    """A line for each node, from the top or, with z upwards, from the bottom."""
    (z, y, x), values = on_grid(is_wet)
    table = np.stack([each[::sign].ravel() for each in (x, y, sign * z, *values.values())], axis=1)
    return "".join(" ".join(map(repr, row)) + "\n" for row in table.tolist())


def columns(folder: Path, is_wet: bool) -> Content:
    head = " ".join(["x y depth", *ROCK])
    (folder / "model.txt").write_text(f"{head}\n{rows_of(is_wet, 1)}")
    return {"file": "model.txt"}


def specfem(folder: Path, is_wet: bool) -> Content:
    values, low, high = on_grid(is_wet)[1], NODES[0], NODES[-1]
    limits = " ".join(f"{values[n].min()} {values[n].max()}" for n in ("vp", "vs", "rho"))
    ends = f"{low} {low} {-high} {high} {high} {-low}"
    head = f"{ends}\n200. 200. 200.\n8 8 8\n{limits}\n"
    (folder / "model.xyz").write_text(head + rows_of(is_wet, -1))
    return {"file": "model.xyz"}


def cellwise(is_wet: bool) -> dict[str, np.ndarray]:
    depth = SPACING * (np.arange(CELLS[2])[:, None, None] + 0.5) + np.zeros(CELLS[::-1])
    return properties(depth, is_wet)


def awp_mesh(folder: Path, is_wet: bool) -> Content:
    cells = cellwise(is_wet)
    planes = [{name: values[k] for name, values in cells.items()} for k in range(CELLS[2])]
    write_awp_mesh(folder / "mesh.bin", planes, variables=5)
    return {"file": "mesh.bin", "cells": list(CELLS), "variables": 5}


MEDIA: dict[str, Callable[[Path, bool], Content]] = {
    "homogeneous": lambda folder, is_wet: WATER if is_wet else ROCK,
    "layered": lambda folder, is_wet: {"layers": layers(is_wet)},
    "netcdf": netcdf,
    "segy": segy,
    "columns": columns,
    "specfem": specfem,
    "awp": awp_mesh,
    "arrays": lambda folder, is_wet: cellwise(is_wet),
}
