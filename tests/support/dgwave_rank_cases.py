"""Cases of DG waves whose results must not depend on the number of ranks."""

from __future__ import annotations

import atexit
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import numpy as np
from dense_spectral_elements import shuffled
from gmsh_files import cells_of, numbered, save
from mesh_faults import fault_mesh

from groundswell.meshes.box import Box
from groundswell.meshes.mesh import Mesh

PULSE = {"kind": "gaussian", "sigma": 0.05}
# At corners and on faces of elements, which different ranks have, and inside them.
CORNER, FACE, INSIDE = ((400, 400, 200), (200, 330, 200), (570, 120, 310))
RECEIVERS = [*((x, y, z) for x in (0, 400, 800) for y in (200, 600) for z in (0, 400)), INSIDE]
KINDS = ("seismometer", "hydrophone", "ocean-bottom-node")
WATER = {"vp": 1500, "vs": 0, "rho": 1000}
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}


MEDIA = {
    "sea": {"kind": "layered", "layers": [{"top": 0, **WATER}, {"top": 200, **ROCK}]},
    "rock": {"kind": "homogeneous", **ROCK},
    "water": {"kind": "homogeneous", **WATER},
    "soft": {
        "kind": "layered",
        "layers": [
            {"top": 0, **WATER, "qp": 300, "qs": 300},
            {"top": 200, **ROCK, "qp": 60, "qs": 30},
        ],
    },
    "gradient": {
        "kind": "layered",
        "interpolation": "linear",
        "layers": [
            {"top": 0, **WATER},
            {"top": 200, **WATER, "rho": 1100},
            {"top": 200, **ROCK},
            {"top": 400, **ROCK, "vp": 4000},
        ],
    },
}


INTENSITY = {
    **{"periods": [0.2, 1.0], "angles": 5, "interval": 0.008},
    "maps": ["psa", "rotd50", "arias", "cav"],
}


def at(place: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("x", "y", "depth"), place, strict=True))


def records(field: str) -> list[dict[str, Any]]:
    """A line and a plane across all ranks."""
    line = {"kind": "line", "start": [0, 0, 0], "end": [800, 600, 400], "points": 9}
    plane = {"kind": "plane", "normal": "z", "at": 200, "points": [9, 7]}
    what = ["raw", "max", "rms"]
    return [
        {"fields": [field, "vx"], "where": line, "what": what, "file": "line.nc"},
        {"fields": ["vz"], "where": plane, "what": what, "file": "plane.nc"},
    ]


def case(medium: str, degree: int, flux: Any, **changes: Any) -> dict[str, Any]:
    """24 elements, and those of damping layers."""
    early = PULSE | {"onset": -0.02}  # so that the run starts before time 0
    force = {"kind": "force", "force": [1e9, 2e9, -1e9], **at(FACE), "time_function": early}
    explosion = {"kind": "explosion", "magnitude": 3, **at(CORNER), "time_function": PULSE}
    lowest = 390 if "topography" in changes else 400  # below valleys, the bottom is less deep
    return {
        "solver": "dgwave",
        "grid": {"size": [800, 600, 400], "spacing": 200},
        "time": {"duration": 0.16, "step": 0.004},
        "medium": MEDIA[medium],
        "method": {"degree": degree, "flux": flux},
        "boundary": {"width": 2},
        "source": [force, explosion],
        "receiver": [
            {"name": f"R{n}", "kind": KINDS[n % 3], **at((x, y, min(z, lowest)))}
            for n, (x, y, z) in enumerate(RECEIVERS)
        ],
        "output": {
            "seismograms": {"interval": 0.008},
            "record": records("p" if medium == "water" else "szz"),
            "final_fields": True,
            "shaking_map": True,
            "intensity": INTENSITY,
            "surface": {"interval": 0.02, "stride": 2},
            "volumes": {"interval": 0.08},
        },
        **changes,
    }


def folder() -> Path:
    """A new folder, which is removed at the end."""
    made = Path(mkdtemp(prefix="groundswell-"))
    atexit.register(rmtree, made, ignore_errors=True)
    return made


def mesh_file() -> Path:
    """A file with 24 elements in any order and orientation, bent inside."""

    def bend(points: Any) -> Any:
        x, y, z = np.moveaxis(points, -1, 0)
        lift = np.sin(np.pi * x / 800) * np.sin(np.pi * y / 600)
        return np.stack([x, y, z + 60 * lift * z / 400 * (1 - z / 400)], axis=-1)

    box = Box((4, 3, 2), high=(800.0, 600.0, 400.0), order=2)
    mesh = shuffled(box, np.random.default_rng(2))
    points, numbers = numbered(Mesh(mesh.corners, bend(mesh.nodes), 2))
    no_tags = np.zeros((mesh.count, 6), int)
    return save(folder() / "a.msh", points, cells_of(numbers, no_tags), {"inside": (1, 3)})


def faulted_file() -> Path:
    """A file with 48 elements around two upright faults that meet along a line."""
    surfaces = {
        "main": lambda x, y, z: (y == 200) & (z <= 400),
        "branch": lambda x, y, z: (x == 400) & (y >= 200) & (y <= 600),
    }
    return fault_mesh(folder() / "a.msh", surfaces)


MESH, FAULTED = mesh_file(), faulted_file()
GRADED = [[150, 250, 200, 200], 200, [250, 150]]
DEEPENING = {
    "kind": "layered",
    "interpolation": "linear",
    "layers": [
        {"top": 0, **ROCK, "qp": 80, "qs": 40},
        {"top": 400, **ROCK, "vp": 4000, "qp": 90, "qs": 50},
    ],
}
START = [400, 200, 200]
WEAKENING = {
    "law": "slip-weakening",
    "friction": {"static": 0.677, "dynamic": 0.525, "distance": 0.02},
    "stress": {"normal": "120 MPa", "shear": "75 MPa", "rake": 160},
    "hypocenter": START,
    "plane": {"y": 200, "x": [0, 800], "depth": [0, 400]},
    "patch": [
        {"shape": "circle", "center": START, "radius": 120, "stress": {"shear": "84 MPa"}},
    ],
}
AGEING = {
    "law": "ageing",
    "friction": {
        **{"direct": 0.008, "evolution": 0.012, "length": 0.05},
        **{"reference_friction": 0.6, "reference_speed": 1e-6},
    },
    "stress": {"normal": "120 MPa", "shear": "75 MPa", "rake": 160},
    "initial_rate": 1e-9,
}
RISE = {"kind": "stress", "shear": "25 MPa", "radius": 300, "duration": 0.05}
HILLS = {"kind": "formula", "elevation": "60 + 40 * sin(x / 130) * cos(y / 110)"}
FAULT = {
    "plane": {"y": 400, "x": [200, 600], "depth": [0, 400]},
    "law": "slip-weakening",
    "friction": {"static": 0.6, "dynamic": 0.4, "distance": 0.02},
    "stress": {"normal": "20 MPa", "shear": "12.1e6 * (1 - along_strike / 1e4)", "rake": 150},
}
WEAK = {
    "model": "drucker-prager",
    "cohesion": "0.1 + x / 1e4",
    "friction_angle": 20,
    "relaxation_time": "5 ms",
    "stress": {"tensor": {"xx": "-depth / 1e3", "yy": 0, "zz": 0, "xy": 0.2, "xz": 0, "yz": 0}},
}
PLASTIC_STRAIN = {
    **case("soft", 2, "riemann")["output"],
    "record": records("plastic_strain"),
    "volumes": {"interval": 0.04, "fields": ["plastic_strain", "vx"]},
}
VARIANTS = {
    "sea": case("sea", 3, "riemann", run={"precision": "single"}),
    "rock": case("rock", 2, 0.3, boundary={"sides": "periodic"}, run={"precision": "double"}),
    "water": case("water", 3, "central", boundary={"sides": "rigid", "width": 2}, run={}),
    "soft": case(
        "soft",
        2,
        "riemann",
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 3.3, "levels": 1},
        time={"duration": 0.08, "step": 0.002},
        run={"precision": "single"},
    ),
    "mesh": {
        **case("rock", 3, 0.5, run={"precision": "double"}),
        "grid": {"file": str(MESH), "vertical": "down"},
        "medium": {"kind": "volumes", "volumes": {"inside": ROCK}},
        "boundary": {"surfaces": {"1": "free-surface"}},
    },
    "volumes": {
        **case("rock", 2, 0.5, run={"precision": "single"}),
        "grid": {"file": str(MESH), "vertical": "down"},
        "medium": {"kind": "volumes", "volumes": {"inside": DEEPENING}},
        "boundary": {"surfaces": {"1": {"kind": "sponge", "width": 100}}},
        "method": {"degree": 2, "flux": 0.5, "material": "node"},
        "attenuation": {"model": "power-law", "exponent": 0.4},
    },
    "gradient": case(
        "gradient",
        3,
        0.5,
        method={"degree": 2, "flux": 0.5, "material": "node"},
        refinement={"frequency": 3.2, "levels": 1},
        run={"precision": "single"},
    ),
    "graded": case(
        "soft",
        2,
        "riemann",
        grid={"size": [800, 600, 400], "spacing": GRADED},
        time={"duration": 0.08, "step": 0.002},
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 2.7, "levels": 1},
        run={"precision": "single"},
    ),
    "fault": {
        **case("rock", 2, "riemann", topography=HILLS, run={"precision": "single"}),
        "medium": DEEPENING,
        "method": {"degree": 2, "material": "node"},
        "attenuation": {"model": "power-law", "exponent": 0.4},
        "fault": [WEAKENING],
    },
    "yielding": case(
        "soft",
        2,
        "riemann",
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 3.3, "levels": 1},
        time={"duration": 0.08, "step": 0.002},
        plasticity=WEAK,
        output=PLASTIC_STRAIN,
        run={"precision": "single"},
    ),
    "yielding mesh fault": {
        **case("rock", 3, 0.5, output=PLASTIC_STRAIN, run={"precision": "double"}),
        "grid": {"file": str(FAULTED), "vertical": "down"},
        "boundary": {"surfaces": {"top": "free-surface", "rest": "absorbing"}},
        "fault": [{"surface": "main", **{k: v for k, v in WEAKENING.items() if k != "plane"}}],
        "plasticity": {
            **WEAK,
            "cohesion": "1e6 + 1e4 * x",
            "friction_angle": {"by": "depth", "at": [0, 400], "values": [10, 30]},
            "relaxation_time": 0,
        },
    },
    "mesh fault": {
        **case("rock", 3, 0.5, run={"precision": "double"}),
        "grid": {"file": str(FAULTED), "vertical": "down"},
        "boundary": {"surfaces": {"top": "free-surface", "rest": "absorbing"}},
        "fault": [
            {**AGEING, "name": "main", "surface": "main", "hypocenter": START, "nucleation": RISE},
            {**AGEING, "name": "branch", "surface": "branch"},
        ],
    },
    "hills": case("rock", 3, "riemann", topography=HILLS, run={"precision": "single"}),
    "halved hills": case(
        "soft",
        2,
        0.5,
        topography=HILLS,
        method={"degree": 2, "flux": 0.5, "material": "node"},
        time={"duration": 0.08, "step": 0.002},
        attenuation={"model": "power-law", "exponent": 0.4},
        refinement={"frequency": 3.3, "levels": 1},
        run={"precision": "single"},
    ),
    "fault outputs": case(
        "rock",
        2,
        "riemann",
        fault=[FAULT],
        output={
            **case("rock", 2, "riemann")["output"],
            "fault_points": {
                "point": [
                    {"name": f"P{n}", "along_strike": along, "down_dip": 100 * n}
                    for n, along in enumerate((-200, 0, 130, 200))
                ],
                "formats": ["netcdf", "scec"],
            },
            "rupture": {"interval": 0.008},
        },
        run={"precision": "single"},
    ),
}
