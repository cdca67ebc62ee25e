"""A small case of every solver, with records and a checkpoint now and then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plugin import NAME
from toml_text import toml

Content = dict[str, Any]


def series(field: str, file: str, **where: Any) -> Content:
    """A record of samples and of statistics."""
    return {"fields": [field], "where": where, "what": ["raw", "rms"], "file": file}


# Kernels of the sizes here are in the cache after the first run.
CASES: dict[str, Content] = {
    "earthquake": {
        "grid": {"size": ["1200 m", "1200 m", "1200 m"], "spacing": "100 m"},
        "time": {"duration": "1 s", "step": "10 ms"},
        "medium": {"kind": "homogeneous", "vp": 4e3, "vs": 2.3e3, "rho": 2600, "qp": 100, "qs": 50},
        "attenuation": {"model": "constant"},
        "boundary": {"width": 4},
        "source": [
            {
                "kind": "explosion",
                "x": 630,
                "y": 580,
                "depth": 410,
                "magnitude": 3,
                "time_function": {"kind": "brune", "rise": "0.1 s"},
            }
        ],
        "receiver": [
            {"network": "GS", "name": "A", "x": 320, "y": 710, "depth": 0},
            {"network": "GS", "name": "B", "x": 900, "y": 500, "depth": 450},
        ],
        "output": {
            "seismograms": {"interval": "0.02 s", "formats": ["hdf5", "sac"]},
            "surface": {"interval": "0.05 s", "stride": 2},
            "volumes": {"interval": "0.1 s", "stride": 1, "fields": ["vx", "szz"]},
            "record": [series("vy", "line.nc", kind="box", low=[0, 0, 0], high=[1200, 600, 300])],
        },
        "run": {"checkpoint": {"steps": 30}},
    },
    "cavity": {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e5},
        "grid": {"points": [63, 1, 47]},
        "walls": {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}},
        "time": {"tolerance": 1e-7, "steps": 100},
        "output": {"record": [series("T", "plane.nc", kind="all")]},
        "run": {"checkpoint": {"steps": 3}},
    },
    "poisson": {
        "mesh": {"kind": "box", "counts": [3, 2, 2]},
        "equation": {"source": "x * y", "exact": "x"},
        "boundaries": {"west": {"kind": "fixed", "value": "y"}},
        "method": {"degree": 4},
        "output": {
            "record": [
                {
                    "fields": ["u"],
                    "where": {"kind": "line", "start": [0, 0, 0], "end": [1, 1, 1], "points": 9},
                    "what": "final",
                    "file": "line.nc",
                }
            ]
        },
        "run": {},
    },
    "dgwave": {
        "grid": {"size": ["1200 m", "1200 m", "900 m"], "spacing": "300 m"},
        "time": {"duration": "1 s", "step": "10 ms"},
        "medium": {
            "kind": "homogeneous",
            "vp": 1800,
            "vs": 1000,
            "rho": 2600,
            "qp": 60,
            "qs": 40,
        },
        "attenuation": {"model": "constant"},
        "method": {"degree": 2, "mechanisms": 2},
        "boundary": {"width": 1},
        "source": [
            {
                "kind": "explosion",
                "x": 630,
                "y": 580,
                "depth": 410,
                "magnitude": 3,
                "time_function": {"kind": "brune", "rise": "0.1 s"},
            }
        ],
        "fault": [
            {
                "plane": {"y": 600, "x": [300, 900], "depth": [0, 600]},
                "law": "slip-weakening",
                "friction": {"static": 0.6, "dynamic": 0.4, "distance": 0.05},
                "stress": {"normal": "10 MPa", "shear": "6.2 MPa", "rake": 150},
            }
        ],
        "receiver": [
            {"network": "GS", "name": "A", "x": 320, "y": 710, "depth": 0},
            {"network": "GS", "name": "B", "x": 900, "y": 500, "depth": 450},
            {"name": "C", "kind": "ocean-bottom-node", "x": 400, "y": 500, "depth": 300},
        ],
        "output": {
            "seismograms": {"interval": "0.02 s", "formats": ["hdf5", "sac"]},
            "record": [
                series("vy", "line.nc", kind="line", start=[0, 0, 0], end=[900, 600, 300], points=7)
            ],
            "final_fields": True,
            "volumes": {"interval": "0.1 s", "fields": ["vz", "szz"]},
            "fault_points": {
                "point": [{"name": "P", "along_strike": 0, "down_dip": "200 m"}],
                "formats": ["netcdf", "scec"],
            },
            "rupture": {"interval": "0.02 s"},
        },
        "run": {"checkpoint": {"steps": 30}},
    },
    NAME: {
        "grid": {"cells": [20, 24, 16], "spacing": 0.1},
        "medium": {"speed": 340},
        "start": {"kind": "pulse", "center": [1, 1.2, 0.8], "width": 0.3},
        "time": {"duration": 0.02},
        "output": {
            "record": [
                series("p", "all.nc", kind="all"),
                {"fields": ["p"], "where": {"kind": "all"}, "what": "final", "file": "pressure.nc"},
            ]
        },
        "run": {"checkpoint": {"steps": 30}},
    },
}
STEPPERS = [solver for solver in CASES if solver != "poisson"]  # they write checkpoints


def small_case(solver: str, **changes: Content) -> Content:
    """The case of a solver; `changes` replace keys within its sections, or drop them if None."""
    content = {"solver": solver, "title": f"small {solver}", **CASES[solver]}
    for section, entries in changes.items():
        merged = {**content.get(section, {}), **entries}
        content[section] = {key: value for key, value in merged.items() if value is not None}
    return content


def write_small_case(folder: Path, solver: str, **changes: Content) -> Path:
    """Write the same as `case.toml` into a folder; returns the file."""
    path = folder / "case.toml"
    content = small_case(solver, **changes)
    path.write_text("".join(f"{key} = {toml(entry)}\n" for key, entry in content.items()))
    return path
