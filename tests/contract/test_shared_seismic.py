"""Everything that the cases of both seismic solvers share runs in each of them.

The kinds come from the case schemas: a kind that both list but that has no example here fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_origin

import numpy as np
import pytest
from awp_files import write_awp_source
from event_files import Quake, quakeml
from input_files import fsp, srf, time_table
from shared_media import MEDIA, ROCK, SIZE, SPACING, Content, layers

import groundswell as gs
from groundswell import registry
from groundswell.backends import open_backend
from groundswell.case.recording import HARMONICS
from groundswell.case.section import Section
from groundswell.seismology.case.base import SeismicCase
from groundswell.seismology.case.outputs import GREEN
from groundswell.seismology.case.sources import AnyTimeFunction
from groundswell.seismology.formats.awp import AwpSource
from groundswell.seismology.green.slip import PointFinder, SlipRows, read_slip
from groundswell.seismology.green.synthesis import seismograms
from groundswell.seismology.green.tensor import read_tensors
from groundswell.seismology.map_lines.run import LINES

pytestmark = pytest.mark.each_value

SOLVERS = ("earthquake", "dgwave")
CASES: list[type[SeismicCase]] = [registry.find(name).load("case") for name in SOLVERS]  # type: ignore[assignment]

PULSE = {"kind": "cosine", "rise": 0.2}
AT = {"x": 630.0, "y": 580.0, "depth": 710.0}
EXPLOSION = {"kind": "explosion", **AT, "magnitude": 3, "time_function": PULSE}
STATIONS = [
    {"name": "TOP", "x": 320, "y": 710, "depth": 0},
    {"name": "LOW", "x": 900, "y": 500, "depth": 850},
]

Example = Callable[[Path], Content]


def _kinds(annotation: Any, tag: str = "kind") -> Iterator[str]:
    """The kinds of all sections in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        if tag in annotation.model_fields:
            yield from get_args(annotation.model_fields[tag].annotation)
    elif get_origin(annotation) is not None:
        for part in get_args(annotation):
            yield from _kinds(part, tag)


def shared(section: str, tag: str = "kind") -> list[str]:
    """The kinds of a section that both solvers have, in the order of the first."""
    first, other = ([*_kinds(c.model_fields[section].annotation, tag)] for c in CASES)
    return [kind for kind in first if kind in other]


def outputs() -> list[str]:
    """The keys of `[output]` that both have."""
    first, other = (c.model_fields["output"].annotation.model_fields for c in CASES)  # type: ignore[union-attr]
    return [key for key in first if key in other]


def recordable() -> tuple[list[str], list[str]]:
    """The kinds of positions, and the series and statistics, that both can record."""
    first, other = (c.model_fields["output"].annotation.recordable for c in CASES)  # type: ignore[union-attr]
    return [k for k in first.kinds if k in other.kinds], [w for w in first.what if w in other.what]


# --- examples -------------------------------------------------------------------------------------


ATTENUATION: dict[str, Content] = {
    "none": {},
    "constant": {"reference": 2.0},
    "power-law": {"exponent": 0.3, "transition": 2.0},
}


def rupture(folder: Path) -> Content:
    return srf(folder)[1]["source"][0] | {"x": 600.0, "y": 600.0, "depth": 600.0}


def awp_rupture(folder: Path) -> Content:
    rates = np.zeros((2, 20, 6), np.float32)
    rates[..., :3] = 1e13 * np.hanning(20)[None, :, None]
    write_awp_source(folder / "rates.bin", AwpSource(np.array([[3, 3, 4], [4, 3, 4]]), rates))
    return {"file": "rates.bin", "points": 2, "steps": 20, "step": 0.01}


def event(folder: Path) -> Content:
    quake = Quake(origin="2020-01-01T00:00:00", shift=0.1, half_duration=0.1)
    (folder / "event.xml").write_bytes(quakeml(quake))
    return {"file": "event.xml", **AT, "magnitude": 3}


TENSOR = {"nn": 1e13, "ee": 3e13, "dd": -1e13, "ne": 2e13, "nd": -2e13, "ed": 5e12}
SOURCES: dict[str, Example] = {
    "double-couple": lambda folder: {**AT, "strike": 20, "dip": 60, "rake": 70, "magnitude": 3},
    "moment-tensor": lambda folder: {**AT, "components": TENSOR},
    "explosion": lambda folder: {**AT, "magnitude": 3},
    "force": lambda folder: {**AT, "force": (1e9, 2e9, -1e9)},
    "airgun": lambda folder: {**AT, "depth": 190.0, "volume": 1.0},
    "event": event,
    "srf": rupture,
    "fsp": lambda folder: fsp(folder)[1]["source"][0],
    "awp": awp_rupture,
}
TIME_FUNCTIONS: dict[str, Example] = {
    "brune": lambda folder: {"rise": 0.1},
    "gaussian": lambda folder: {"sigma": 0.05},
    "ricker": lambda folder: {"frequency": 3.0},
    "cosine": lambda folder: {"rise": 0.2},
    "triangle": lambda folder: {"rise": 0.2},
    "trapezoid": lambda folder: {"duration": 0.2, "rise": 0.08},
    "table": lambda folder: time_table(folder)[1]["source"][0]["time_function"],
}
OUTPUTS: dict[str, Any] = {
    "directory": "elsewhere",
    "seismograms": {
        "interval": 0.006,
        "formats": ["hdf5", "sac", "mseed", "text", "segy"],
        "quantities": ["velocity", "displacement", "acceleration"],
        "components": "ZRT",
        "export_interval": 0.012,
        "shot": 7,
    },
    "surface": {"interval": 0.03, "stride": 2},
    "shaking_map": True,
    "intensity": {"periods": [0.2], "maps": ["psa", "cav"]},
    "volumes": {"interval": 0.03, "fields": ["vx", "szz"]},
    "record": [],  # see WHERE
    "fault_points": {"point": [{"name": "P", "along_strike": 90, "down_dip": 310}]},
    "rupture": {"interval": 0.006},
    "film": True,
    "map_lines": ["fault.gmt"],
}
WHERE: dict[str, Content] = {
    "points": {"positions": [[300, 400, 500]]},
    "line": {"start": [0, 0, 0], "end": [1200, 600, 300], "points": 7},
    "plane": {"normal": "z", "at": 500.0},
}

FAULT: Content = {
    "law": "slip-weakening",
    "friction": {"static": 0.6, "dynamic": 0.5, "distance": 0.1},
    "stress": {"normal": 50e6, "shear": 31e6, "rake": 170},
}
# Planes of elements and of the centres of cells.
ACROSS_FAULT = {"earthquake": 500.0, "dgwave": 400.0}

ACROSS = {"earthquake": {"stride": 2}, "dgwave": {"points": [5, 5]}}  # of a plane


# --- runs -----------------------------------------------------------------------------------------


def make_case(solver: str, folder: Path, **sections: Any) -> SeismicCase:
    """A small case; sections replace others."""
    content: Content = {
        "grid": {"size": [SIZE] * 3, "spacing": SPACING},
        "time": {"duration": 0.15, "step": 0.003},
        "medium": {"kind": "homogeneous", **ROCK},
        "attenuation": {"model": "constant"},
        "boundary": {"width": 2 if solver == "dgwave" else 4},
        "source": [EXPLOSION],
        "receiver": STATIONS,
        "event": {"origin_time": "2020-01-01T00:00:00"},
    }
    if solver == "dgwave":
        content["method"] = {"degree": 2}
    found: SeismicCase = CASES[SOLVERS.index(solver)].model_validate(
        content | sections, context={"folder": folder}
    )
    return found


def run(solver: str, folder: Path, **sections: Any) -> Any:
    """Run the case; the receivers must have recorded waves."""
    folder.mkdir(exist_ok=True)
    result = gs.run(make_case(solver, folder, **sections), folder=folder / "results")
    motion = result.seismograms.values
    assert np.isfinite(motion).all() and np.abs(motion).max() > 0
    return result


solvers = pytest.mark.parametrize("solver", SOLVERS)


@pytest.mark.parametrize("is_wet", [False, True], ids=["rock", "water"])
@pytest.mark.parametrize("kind", shared("medium"))
@solvers
def test_media(solver: str, kind: str, is_wet: bool, tmp_path: Path) -> None:
    if is_wet and kind == "awp":
        pytest.skip("the format has no water")
    medium = {"kind": kind, **MEDIA[kind](tmp_path, is_wet)}
    stations = [STATIONS[0]] if is_wet and kind == "homogeneous" else STATIONS
    run(solver, tmp_path, medium=medium, receiver=stations)


@pytest.mark.parametrize("model", shared("attenuation", "model"))
@solvers
def test_attenuation(solver: str, model: str, tmp_path: Path) -> None:
    run(solver, tmp_path, attenuation={"model": model, **ATTENUATION[model]})


@solvers
def test_sources(solver: str, tmp_path: Path) -> None:
    """All kinds at once, in rock below water; a rupture or a time function names its entry."""
    sources = [{"kind": kind, **SOURCES[kind](tmp_path)} for kind in shared("source")]
    for source in sources:
        if source["kind"] not in ("srf", "fsp", "awp"):
            source["time_function"] = PULSE
    medium = {"kind": "layered", "layers": layers(is_wet=True)}
    run(solver, tmp_path, source=sources, medium=medium)


@solvers
def test_time_functions(solver: str, tmp_path: Path) -> None:
    kinds = dict.fromkeys(_kinds(AnyTimeFunction))
    functions = [{"kind": kind, **TIME_FUNCTIONS[kind](tmp_path)} for kind in kinds]
    run(solver, tmp_path, source=[EXPLOSION | {"time_function": each} for each in functions])


@solvers
def test_receivers(solver: str, tmp_path: Path) -> None:
    """All instruments that both have, as entries and in a file."""
    kinds = [kind for kind in CASES[0].instruments if kind in CASES[1].instruments]
    stations = [
        {**station, "kind": kind, "name": f"{kind[:3]}{station['name']}".upper()}
        for kind in kinds
        for station in STATIONS
    ]
    listed = run(solver, tmp_path, receiver=stations).seismograms
    rows = [f"GS,{s['name']},{s['x']},{s['y']},{s['depth']}" for s in stations]
    table = "\n".join(["network,station,x,y,depth", *rows])
    (tmp_path / "stations.csv").write_text(table + "\n")
    read = run(solver, tmp_path / "file", receiver=(), receivers={"file": "../stations.csv"})
    np.testing.assert_array_equal(read.seismograms.values, listed.values)


@solvers
def test_outputs(solver: str, tmp_path: Path) -> None:
    """All at once, with every kind of record."""
    content = {name: OUTPUTS[name] for name in outputs() if name != GREEN}
    places, what = recordable()
    fields = ["vx", "szz"]
    content["record"] = [
        {
            "fields": fields,
            "where": {"kind": kind, **WHERE[kind], **(ACROSS[solver] if kind == "plane" else {})},
            "interval": 0.006,
            "what": what,
            "file": f"{kind}.nc",
            **({"frequencies": [20.0]} if {*HARMONICS} & {*what} else {}),
        }
        for kind in places
    ]
    plane = {"y": ACROSS_FAULT[solver], "x": [200, 1000], "depth": [200, 800]}
    (tmp_path / "fault.gmt").write_text("-119 34\n-117 34\n")
    grid = {"size": [SIZE] * 3, "spacing": SPACING, "geography": {"center": [-118, 34]}}
    result = run(solver, tmp_path, grid=grid, output=content, fault=[{**FAULT, "plane": plane}])
    assert result.shaking_map["pgv"].max() > 0 and len(result.stream) == 6
    files = {path.name for path in result.folder.rglob("*")}
    assert {"TOP.displacement.txt", "acceleration.segy", "LOW..HXT.sac"} <= files
    assert result.motion("displacement", "ZRT").sizes["component"] == 3
    assert result.intensity_maps["cav"].max() > 0 and (result.intensity["rotd50"] > 0).all()
    assert result.rupture.slip_strike[-1].max() < 0 and result.fault_points.rate_updip[-1] > 0
    assert len(result.records) >= len(places) and (result.folder / LINES).exists()


@solvers
def test_strain_due_to_a_force(solver: str, tmp_path: Path) -> None:
    """At the subfaults of a rupture, which three such runs are enough for."""
    assert GREEN in outputs()
    slip = {**rupture(tmp_path), "file": str(tmp_path / "rupture.srf")}
    recorded = {"rupture": slip, "components": "shear"}
    output, pulse = {GREEN: {"station": "TOP", **recorded}}, {"kind": "cosine", "rise": 0.1}
    for axis in range(3):
        force = {"kind": "force", "force": np.eye(3)[axis] * 1e9, "time_function": pulse}
        source = [{**force, **{key: STATIONS[0][key] for key in ("x", "y", "depth")}}]
        run(solver, tmp_path / f"{axis}", source=source, output=output)
    [tensor] = read_tensors([tmp_path / f"{axis}" / "results" for axis in range(3)])
    assert tensor["strain"].shape[:3] == (3, 2, 2)
    finder = PointFinder(tensor)
    rows = SlipRows.of(read_slip(tmp_path / "rupture.srf", finder), finder)
    assert np.abs(seismograms(tensor, rows, open_backend("cpu"))).max() > 0
