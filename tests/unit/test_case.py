"""Earthquake cases: what a valid one becomes, and the problem that each mistake is reported as."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundswell.case import common, load_case
from groundswell.errors import CaseError, Problem
from groundswell.exchange.codecs.coder import require_codec
from groundswell.exchange.connect import FUSED, TRANSPORTS
from groundswell.seismology.case import media as case_media
from groundswell.seismology.case import sources as case_sources
from groundswell.solvers.earthquake import case as schema

TEMPLATE = Path(schema.__file__).with_name("template.toml")

PULSE = {"kind": "brune", "rise": "0.2 s"}
SOURCE = {
    "kind": "double-couple", "longitude": -117.93, "latitude": 33.93, "depth": "5 km",
    "strike": 233, "dip": 77, "rake": 49, "magnitude": 5.1, "time_function": PULSE,
}  # fmt: skip
LAYERS = [
    {"top": 0, "vp": "5.5 km/s", "vs": "3.18 km/s", "rho": "2.4 g/cm^3", "qp": 300, "qs": 150},
    {"top": "2 km", "vp": 6300, "vs": 3640, "rho": 2670, "qp": 600, "qs": 300},
]
VALID: dict[str, Any] = {
    "solver": "earthquake",
    "title": "La Habra",
    "grid": {
        "size": ["24 km", "20 km", "12 km"],
        "spacing": "100 m",
        "geography": {"origin": [-118.05, 33.80]},
    },
    "time": {"duration": "20 s", "step": "auto"},
    "medium": {"kind": "layered", "layers": LAYERS},
    "attenuation": {"model": "power-law", "exponent": 0.6, "band": ["0.1 Hz", "10 Hz"]},
    "boundary": {"top": "free-surface", "sides": "pml", "width": 10},
    "source": [SOURCE],
    "receiver": [
        {"network": "CI", "name": "OLI", "longitude": -117.9, "latitude": 33.9},
        {"name": "P1", "x": "2 km", "y": 3000, "depth": "10 m"},
    ],
    "output": {
        "directory": "results",
        "seismograms": {"interval": "0.02 s", "formats": ["hdf5", "sac", "mseed"]},
        "surface": {"interval": "0.1 s", "stride": 2},
        "volumes": {"interval": "1 s", "fields": ["vx", "szz"]},
    },
    "run": {"backend": "cuda", "precision": "double", "checkpoint": {"steps": 1000}},
}

DROP = object()


def changed(**changes: Any) -> dict[str, Any]:
    """The valid case with values put at paths such as `source__0__depth`."""
    content = copy.deepcopy(VALID)
    for path, value in changes.items():
        *way, last = (int(part) if part.isdigit() else part for part in path.split("__"))
        table: Any = content
        for part in way:
            table = table[part] if isinstance(part, int) else table.setdefault(part, {})
        if value is DROP:
            del table[last]
        else:
            table[last] = value
    return content


def build(content: dict[str, Any], folder: Path | str = "") -> schema.EarthquakeCase:
    return schema.EarthquakeCase.from_dict(content, folder)


def problems(content: dict[str, Any], folder: Path | str = "") -> list[Problem]:
    with pytest.raises(CaseError) as caught:
        build(content, folder)
    return list(caught.value.problems)


def only_problem(content: dict[str, Any], folder: Path | str = "") -> Problem:
    found = problems(content, folder)
    assert len(found) == 1, found
    return found[0]


# --- what a valid case becomes --------------------------------------------------------------------


def test_a_valid_case_is_in_si() -> None:
    case = build(VALID)
    assert case.grid.size == (24e3, 20e3, 12e3) and case.grid.spacing == (100.0, 100.0, 100.0)
    assert case.grid.cells == (240, 200, 120)
    assert case.time.duration == 20.0 and case.time.step == "auto"
    assert [layer.rho for layer in case.medium.layers] == [2400.0, 2670.0]
    assert case.attenuation.transition == case.attenuation.reference == 1.0
    assert case.source[0].time_function.rise == 0.2 and case.source[0].time_function.onset == 0.0
    assert case.receiver[0].code == "CI.OLI" and case.receiver[1].code == "P1"
    assert case.output.shaking_map is True and case.output.surface.stride == 2
    assert case.run.checkpoint.steps == 1000 and case.run.checkpoint.minutes is None


def test_positions_are_placed_in_the_grid() -> None:
    grid = build(VALID).grid
    case = build(VALID)
    assert grid.locate(case.receiver[1]) == (2000.0, 3000.0, 10.0)
    x, y, depth = grid.locate(case.source[0])
    # A degree is 111.3 km cos(33.9 deg) = 92.4 km of longitude and 110.9 km of latitude here.
    assert (x, y, depth) == pytest.approx((0.12 * 92.5e3, 0.13 * 110.9e3, 5e3), rel=5e-3)


def test_the_template_is_a_valid_case() -> None:
    case = load_case(TEMPLATE)
    assert isinstance(case, schema.EarthquakeCase)
    assert np.prod(case.grid.cells) * case.time.duration < 1e6  # seconds on a laptop


def test_small_cases_need_few_sections() -> None:
    case = schema.EarthquakeCase(
        grid={"size": [1000, 1000, 1000], "spacing": [100, 50, 10]},
        time={"duration": 1},
        medium=case_media.HomogeneousSection(kind="homogeneous", vp=2000, vs=0, rho=1000),
        source=[
            case_sources.PointForce(
                kind="force", x=1, y=2, depth=3, force=[0, 0, "1 MN"],
                time_function={"kind": "ricker", "frequency": "2 Hz"},
            )
        ],
    )  # fmt: skip
    assert case.grid.cells == (10, 20, 100)
    assert case.attenuation.model == "none"
    assert case.boundary.sides == "pml" and case.output.seismograms.formats == ("hdf5",)
    assert case.source[0].force == (0.0, 0.0, 1e6)


@pytest.mark.parametrize(
    "function",
    [
        {"kind": "brune", "rise": 0.2, "onset": "1 s"},
        {"kind": "cosine", "rise": 0.2},
        {"kind": "triangle", "rise": 0.2},
        {"kind": "gaussian", "sigma": "50 ms", "delay": "0.3 s"},
        {"kind": "ricker", "frequency": 2, "delay": "0.6 s"},
    ],
)
def test_time_functions(function: dict[str, Any]) -> None:
    assert build(changed(source__0__time_function=function)).source[0].time_function.kind


@pytest.mark.parametrize("frame", ["nn ee dd ne nd ed", "rr tt pp rt rp tp"])
def test_moment_tensors_in_either_frame(frame: str) -> None:
    components = dict.fromkeys(frame.split(), "1e17 N m")
    source = {**SOURCE, "kind": "moment-tensor", "components": components}
    for key in ("strike", "dip", "rake", "magnitude"):
        del source[key]
    given = dict(build(changed(source=[source])).source[0].components)
    assert {k: v for k, v in given.items() if v is not None} == dict.fromkeys(components, 1e17)


def test_files_start_in_the_folder_of_the_case(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "layers.csv").write_text("top,vp,vs,rho\n")
    content = changed(medium={"kind": "layered", "file": "models/layers.csv"})
    case = build(content, tmp_path)
    assert case.medium.file == tmp_path / "models" / "layers.csv"
    assert case.output.directory == tmp_path / "results" == case.resolve("results")
    assert case.source_path == tmp_path
    assert (
        "models/none.csv"
        in only_problem(
            changed(medium={"kind": "layered", "file": "models/none.csv"}), tmp_path
        ).value
    )
    assert only_problem(changed(medium={"kind": "layered", "file": "models"}), tmp_path)


def test_arrays_from_python() -> None:
    shape = (4, 3, 2)
    vp = np.full(shape, 2000.0)
    medium = {"kind": "arrays", "vp": vp, "vs": vp / 2, "rho": vp}
    content = changed(
        grid={"size": [2, 3, 4], "spacing": 1}, medium=medium, attenuation=DROP, receiver=DROP,
        source=[{**SOURCE, "longitude": None, "latitude": None, "x": 1, "y": 1, "depth": 1}],
    )  # fmt: skip
    case = build(content)
    assert case.medium.vp is vp and case.medium.cells == (2, 3, 4)
    other = build({**content, "medium": {**medium, "vp": vp + 1}})
    assert case.digest() != other.digest()
    content["grid"] = {"size": [4, 3, 2], "spacing": 1}
    assert "(2, 3, 4) cells (nx, ny, nz), but the region (4, 3, 2)" in only_problem(content).allowed
    content["medium"] = {**medium, "vs": vp[1:]}
    assert only_problem(content).key == "medium.vs"
    content["medium"] = {**medium, "vs": [[[1.0]]]}
    assert "NumPy" in only_problem(content).allowed


# --- identity -------------------------------------------------------------------------------------


def test_the_digest_is_of_the_meaning_not_the_writing(tmp_path: Path) -> None:
    same = changed(
        grid__spacing=[100, "0.1 km", 100.0], time__duration=20, boundary=DROP, time__step=DROP
    )
    assert build(same, tmp_path).digest() == build(VALID).digest()
    for other in (
        changed(time__duration=21),
        changed(title="other"),
        changed(receiver__0__name="B"),
    ):
        assert build(other).digest() != build(VALID).digest()


def test_sections_can_be_left_out_of_the_digest() -> None:
    other = changed(title="other", run__backend="cpu")
    assert build(other).digest(("title", "run")) == build(VALID).digest(("title", "run"))


# --- mistakes -------------------------------------------------------------------------------------

MISTAKES = [
    ({"grid__size": [24050, 20e3, 12e3]}, "grid.size[0]", "24050", "nearest: 24000 m or 24100 m"),
    ({"grid__size": ["24 km", "20 km"]}, "grid.size[2]", "", "too short"),
    ({"grid__size": ["24 km"] * 4}, "grid.size", "24 km", "must have 3"),
    ({"grid__spacing": "100 s"}, "grid.spacing", '"100 s"', 'a length such as "5 km"'),
    ({"grid__spacing": "-100 m"}, "grid.spacing", '"-100 m"', "greater than 0"),
    ({"grid__spacing": [100, 100, 1e-300]}, "grid.size[2]", "12 km", "2147483647 cells"),
    ({"grid__geography__center": [-118, 34]}, "grid.geography.center", "[-118, 34]", "only one"),
    ({"grid__geography__origin": [-118, 94]}, "grid.geography.origin[1]", "94", "at most 90"),
    ({"grid__geography__projection": "EPSG:3857"}, "grid.geography", "", "distorts"),
    ({"time__step": "auot"}, "time.step", '"auot"', '"auto", or a time'),
    ({"time__step": 0}, "time.step", "0", "must be positive"),
    ({"time__step": "21 s"}, "time.step", '"21 s"', "at most the duration, 20 s"),
    ({"time__durration": 5}, "time.durration", "5", 'did you mean "duration"?'),
    ({"time__duration": DROP}, "time.duration", "", "is required; give a time"),
    ({"grid": DROP}, "grid", "", "is required"),
    ({"grid": 5}, "grid", "5", "must be a table"),
    ({"title": 5}, "title", "5", "must be text"),
    ({"medium__kind": "layred"}, "medium.kind", '"layred"', 'did you mean "layered"?'),
    ({"medium__kind": ["layered"]}, "medium.kind", '["layered"]', "homogeneous, layered"),
    ({"medium__kind": DROP}, "medium.kind", "", "is required; use homogeneous, layered"),
    ({"medium": "layered"}, "medium", '"layered"', "must be a table with the key kind"),
    ({"medium__file": "x"}, "medium.file", '"x"', "is not there"),
    ({"medium__layers": []}, "medium.layers", "[]", "must not be empty"),
    ({"medium__layers": DROP}, "medium", "", "give layers or file"),
    ({"medium__layers__0__top": 1}, "medium.layers[0].top", "1", "start at the surface"),
    ({"medium__layers__1__top": 0}, "medium.layers[1].top", "0", "must lie below"),
    ({"medium__layers__1__vs": 5460}, "medium.layers[1].vp", "6300", "sqrt(4/3) vs = 6304.66"),
    ({"medium__layers__1__rho": 0}, "medium.layers[1].rho", "0", "greater than 0"),
    ({"medium__layers__1__rho": 2.7}, "medium.layers[1].rho", "2.7", 'write "2.7 g/cm^3"'),
    ({"medium__layers__0__top": -500}, "medium.layers[0].top", "-500", "start at the surface"),
    ({"medium": {"kind": "homogeneous", "vp": 3.0, "vs": 0, "rho": 2700}, "attenuation": DROP},
     "medium.vp", "3.0", 'at least 100 m/s; if it is in km/s, write "3 km/s"'),
    ({"medium__layers__1__qs": 0}, "medium.layers[1].qs", "0", "greater than 0"),
    ({"medium__layers__1__qs": DROP}, "medium.layers[1]", "", "both qp and qs"),
    ({"medium__floor": {}}, "medium.floor", "", "give a bound"),
    ({"attenuation__model": "q"}, "attenuation.model", '"q"', "none, constant or power-law"),
    ({"attenuation__band": [2, 1]}, "attenuation.band", "[2, 1]", "the lower one first"),
    ({"attenuation__exponent": 1.1}, "attenuation.exponent", "1.1", "at most 1"),
    ({"attenuation": {"model": "none", "band": [1, 2]}}, "attenuation.band", "[1, 2]", "not a key"),
    ({"attenuation": DROP}, "attenuation.model", "", "since the medium has qp and qs"),
    ({"boundary__width": True}, "boundary.width", "true", "whole number"),
    ({"boundary__width": 0}, "boundary.width", "0", "at least 1"),
    ({"boundary__sides": "PML"}, "boundary.sides", '"PML"', 'did you mean "pml"?'),
    ({"source": []}, "source", "[]", "must not be empty"),
    ({"source": DROP}, "source", "", "is required"),
    ({"source": SOURCE}, "source", "", "must be a list"),
    ({"source__0__depth": "-1 km"}, "source[0].depth", '"-1 km"', "above the surface"),
    ({"source__0__depth": "13 km"}, "source[0].depth", '"13 km"', "12000 m deep; move it, or"),
    ({"source__0__longitude": -119}, "source[0].longitude", "-119", "outside the region: x is -8"),
    ({"source__0__x": 5}, "source[0]", "", "either x and y, or longitude and latitude"),
    ({"source__0__latitude": DROP}, "source[0]", "", "either x and y"),
    ({"source__0__moment": 1e17}, "source[0].moment", "1e+17", "only one of magnitude and moment"),
    ({"source__0__magnitude": DROP}, "source[0]", "", "give magnitude or moment"),
    ({"source__0__dip": 91}, "source[0].dip", "91", "at most 90"),
    ({"source__0__time_function__rise": 0}, "source[0].time_function.rise", "0", "greater than 0"),
    ({"source__0__time_function": DROP}, "source[0].time_function", "", "is required"),
    ({"source__0__kind": "explosion"}, "source[0].strike", "233", "is not a key here"),
    ({"receiver__1__x": "25 km"}, "receiver[1].x", '"25 km"', "not 0 to 24000 m; move it"),
    ({"receiver__1__depth": -5}, "receiver[1].depth", "-5", "above the surface"),
    ({"receiver__1__name": "A/B"}, "receiver[1].name", '"A/B"', "letters, digits"),
    ({"receiver__1__name": ""}, "receiver[1].name", '""', "must not be empty"),
    ({"receiver__1__name": "LONGER"}, "receiver[1].name", '"LONGER"', "at most 5 characters"),
    ({"receivers": {"file": "no.csv"}}, "receivers.file", '"no.csv"', "is not there"),
    ({"output__directory": ""}, "output.directory", '""', "name of a file or folder"),
    ({"output__volumes__fields": ["vx", "vx"]}, "output.volumes.fields[1]", '"vx"', "already"),
    ({"output__volumes__interval": 30}, "output.volumes.interval", "30", "at most the duration"),
    ({"output__seismograms__formats": ["h5"]}, "output.seismograms.formats[0]", '"h5"', '"hdf5"'),
    ({"run__checkpoint__minutes": 5}, "run.checkpoint.steps", "1000", "only one of minutes"),
    ({"run__checkpoint": {}}, "run.checkpoint", "", "give minutes or steps"),
    ({"solvr": 1}, "solvr", "1", 'did you mean "solver"?'),
    ({"odd key\n": 1}, r'"odd key\n"', "1", "is not a key here"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "value", "allowed"), MISTAKES)
def test_each_mistake_is_reported(changes: Any, key: str, value: str, allowed: str) -> None:
    problem, *others = problems(changed(**changes))
    assert not others or "explosion" in str(changes)  # which has no use for three angles
    assert problem.key == key
    assert value in problem.value if value else problem.value == ""
    assert allowed in problem.allowed


def test_all_problems_are_listed_at_once() -> None:
    found = problems(
        changed(
            time__duration="1 km", titel="x", medium__layers__0__rho=-1, run__precision="half",
            source__0__depth="20 km", receiver__0__latitude=35, receiver__1__name="OLI ",
            output__surface__stride=0,
        )
    )  # fmt: skip
    assert {problem.key for problem in found} == {
        "time.duration", "titel", "medium.layers[0].rho", "run.precision", "source[0].depth",
        "receiver[0].latitude", "receiver[1].name", "output.surface.stride",
    }  # fmt: skip


def test_names_of_receivers_are_unique() -> None:
    twice = changed(receiver__1__name="OLI", receiver__1__network="CI")
    assert only_problem(twice).key == "receiver[1].name"
    assert build(changed(receiver__1__name="OLI", receiver__1__network="AZ"))


def test_longitudes_need_a_geography(tmp_path: Path) -> None:
    found = problems(changed(grid__geography=DROP))
    assert [p.key for p in found] == ["source[0].longitude", "receiver[0].longitude"]
    assert all("[grid.geography]" in p.allowed for p in found)
    (tmp_path / "rupture.srf").touch()
    rupture = changed(source=[{"kind": "srf", "file": "rupture.srf"}], receiver=[])
    assert build(rupture, tmp_path)
    del rupture["grid"]["geography"]
    assert only_problem(rupture, tmp_path).key == "source[0].kind"


def test_attenuation_needs_quality_factors() -> None:
    elastic = {"kind": "homogeneous", "vp": 2000, "vs": 1000, "rho": 2000}
    assert only_problem(changed(medium=elastic)).key == "attenuation.model"
    assert build(changed(medium=elastic, attenuation=DROP)).attenuation.model == "none"
    assert build(changed(attenuation={"model": "none"})).attenuation.model == "none"


def test_an_awp_mesh_has_the_cells_of_the_region(tmp_path: Path) -> None:
    (tmp_path / "mesh.bin").touch()
    mesh = {"kind": "awp", "file": "mesh.bin", "cells": [240, 200, 120], "variables": 5}
    assert build(changed(medium=mesh), tmp_path).medium.cells == (240, 200, 120)
    mesh["cells"] = [240, 200, 100]
    assert only_problem(changed(medium=mesh), tmp_path).key == "medium.cells"
    mesh["variables"] = 4
    assert only_problem(changed(medium=mesh), tmp_path).key == "medium.variables"


@pytest.mark.parametrize(
    ("components", "allowed"),
    [
        ({"nn": 1, "ee": 1}, "all six of one frame"),
        (dict.fromkeys("nn ee dd ne nd ed rr".split(), 1), "all six of one frame"),
        (dict.fromkeys("nn ee dd ne nd ed".split(), 0), "all zero"),
    ],
)
def test_incomplete_moment_tensors(components: dict[str, float], allowed: str) -> None:
    source = {**SOURCE, "kind": "moment-tensor", "components": components}
    for key in ("strike", "dip", "rake", "magnitude"):
        del source[key]
    assert allowed in only_problem(changed(source=[source])).allowed


def test_sections_built_by_keyword_raise_the_same_error() -> None:
    with pytest.raises(CaseError, match=r"LayerSection.*\n.*vs = \"3 s\": is not a speed"):
        case_media.LayerSection(top=0, vp=5000, vs="3 s", rho=2000)
    with pytest.raises(CaseError, match=r"time\.duration"):
        schema.EarthquakeCase(time={"duration": -1})


def test_a_case_may_name_every_transport_that_there_is() -> None:
    backends = [*TRANSPORTS.values(), *FUSED.values()]
    known = {name for transports in backends for name in transports}
    assert set(common.TRANSPORTS) == known and len(common.TRANSPORTS) == len(known)


def test_a_case_does_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        build(VALID).title = "other"


def test_codecs_of_a_run() -> None:
    run = common.RunSection(codec="auto", lossy="zfp16")
    assert run.codecs == ["none", "mpc", "zfp16"]
    assert common.RunSection(narrow="bfloat16").codecs == ["none"]
    assert common.RunSection(codec="zfp8").codecs == ["zfp8"]


@pytest.mark.parametrize(
    "codec", ["none", "mpc", "bitcomp", "ans", *(f"zfp{rate}" for rate in range(4, 33))]
)
def test_every_codec_of_a_case_exists(codec: str) -> None:
    assert require_codec(common.RunSection(codec=codec).codec) == codec


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"codec": "zip"}, "zfp16"),
        ({"codec": "mpc", "narrow": "bfloat16"}, "choose one of the two"),
        ({"lossy": "mpc"}, "codec with loss"),
        ({"lossy": "zfp8", "codec": "mpc"}, "leave it out"),
        ({"link": {"bandwidth": "1 GB/s"}}, "link: is not a key here"),
    ],
)
def test_what_codecs_cannot_be(run: dict[str, Any], words: str) -> None:
    with pytest.raises(CaseError, match=words):
        common.RunSection(**run)
