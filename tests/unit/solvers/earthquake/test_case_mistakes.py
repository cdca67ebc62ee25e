"""Earthquake cases: the problem that each mistake is reported as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from earthquake_cases import DROP, SOURCE, build, changed, only_problem, problems

from groundswell.case import common
from groundswell.errors import CaseError
from groundswell.seismology.case import media as case_media
from groundswell.solvers.earthquake import case as schema

MISTAKES = [
    ({"grid__size": [24050, 20e3, 12e3]}, "grid.size[0]", "24050", "nearest: 24000 m or 24100 m"),
    ({"grid__size": ["24 km", "20 km"]}, "grid.size[2]", "", "too short"),
    ({"grid__size": ["24 km"] * 4}, "grid.size", "24 km", "must have 3"),
    ({"grid__spacing": "100 s"}, "grid.spacing", '"100 s"', 'a length such as "5 km"'),
    ({"grid__spacing": "-100 m"}, "grid.spacing", '"-100 m"', "greater than 0"),
    ({"grid__spacing": [100, 100, [100, 50]]}, "grid.spacing[2]", "[100, 50]", "be one edge"),
    ({"grid__spacing": [100, 100, 1e-300]}, "grid.size[2]", "12 km", "2147483647 cells"),
    ({"grid__geography__center": [-118, 34]}, "grid.geography.center", "[-118, 34]", "only one"),
    ({"grid__geography__origin": [-118, 94]}, "grid.geography.origin[1]", "94", "at most 90"),
    ({"grid__geography__projection": "EPSG:3857"}, "grid.geography", "", "distorts"),
    ({"time__step": "auot"}, "time.step", '"auot"', '"auto", or a time'),
    ({"time__step": 0}, "time.step", "0", "must be positive"),
    ({"time__step": "21 s"}, "time.step", '"21 s"', "at most the duration, 20 s"),
    ({"time__durration": 5}, "time.durration", "5", 'did you mean "duration"?'),
    ({"time__duration": DROP}, "time.duration", "", "starts earlier); give a time"),
    ({"grid": DROP}, "grid", "", "is required"),
    ({"grid": 5}, "grid", "5", "must be a table"),
    ({"title": 5}, "title", "5", "must be text"),
    ({"medium__kind": "layred"}, "medium.kind", '"layred"', 'did you mean "layered"?'),
    ({"medium__kind": ["layered"]}, "medium.kind", '["layered"]', "homogeneous, layered"),
    ({"medium__kind": DROP}, "medium.kind", "", "is required; use homogeneous, layered"),
    ({"medium": "layered"}, "medium", '"layered"', "must be a table with the key kind"),
    ({"medium__file": "x"}, "medium.file", '"x"', "does not exist"),
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
    ({"source": []}, "source", "[]", "add a source or a fault"),
    ({"source": DROP}, "source", "", "add a source or a fault"),
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
    ({"receivers": {"file": "no.csv"}}, "receivers.file", '"no.csv"', "does not exist"),
    ({"output__directory": ""}, "output.directory", '""', "name of a file or folder"),
    ({"output__volumes__fields": ["vx", "vx"]}, "output.volumes.fields[1]", '"vx"', "already"),
    ({"output__volumes__interval": 30}, "output.volumes.interval", "30", "at most the duration"),
    ({"output__film": True, "output__surface": DROP}, "output.film", "true", "nothing to show"),
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
    with pytest.raises(CaseError, match=r"arguments cannot.*\n.*vs = \"3 s\": is not a speed"):
        case_media.LayerSection(top=0, vp=5000, vs="3 s", rho=2000)
    with pytest.raises(CaseError, match=r"time\.duration"):
        schema.EarthquakeCase(time={"duration": -1})


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"codec": "zip"}, "zfp16"),
        ({"codec": "mpc", "narrow": "bfloat16"}, "choose one of the two"),
        ({"lossy": "mpc"}, "codec with loss"),
        ({"lossy": "zfp"}, 'must be a codec with loss, as in "zfp16"'),
        ({"backend": "gpu"}, r'must be "cpu" or "cuda" \(did you mean "cuda"\?\)'),
        ({"lossy": "zfp8", "codec": "mpc"}, "leave it out"),
        ({"link": {"bandwidth": "1 GB/s"}}, "link: is not a key here"),
    ],
)
def test_what_codecs_cannot_be(run: dict[str, Any], words: str) -> None:
    with pytest.raises(CaseError, match=words):
        common.RunSection(**run)
