"""Earthquake cases: what a valid one becomes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from earthquake_cases import DROP, SOURCE, VALID, build, changed, only_problem

from groundswell.case import common, load_case
from groundswell.compression import require_codec
from groundswell.exchange.connect import TRANSPORTS
from groundswell.seismology.case import media as case_media
from groundswell.seismology.case import sources as case_sources
from groundswell.solvers.earthquake import case as schema

TEMPLATE = Path(schema.__file__).with_name("template.toml")


# --- what a valid case becomes --------------------------------------------------------------------


def test_a_valid_case_is_in_si() -> None:
    case = build(VALID)
    assert case.grid.size == (24e3, 20e3, 12e3) and case.grid.spacing == (100.0, 100.0, 100.0)
    assert case.grid.cells == (240, 200, 120)
    assert case.time.duration == 20.0 and case.time.step == "auto"
    assert [layer.rho for layer in case.medium.layers] == [2400.0, 2670.0]
    assert case.attenuation.transition == case.attenuation.reference == 1.0
    function = case.source[0].time_function
    assert function.rise == 0.2 and function.start == 0.0
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


def test_a_case_may_name_every_transport_that_there_is() -> None:
    known = {name for transports in TRANSPORTS.values() for name in transports}
    assert set(common.TRANSPORTS) == known and len(common.TRANSPORTS) == len(known)


def test_a_case_does_not_change() -> None:
    with pytest.raises(ValueError, match="frozen"):
        build(VALID).title = "other"


def test_codecs_of_a_run() -> None:
    run = common.RunSection(codec="auto", lossy="zfp16")
    assert run.codecs == ["none", "mpc", "zfp16"]
    assert common.RunSection(narrow="bfloat16").codecs == ["none"]
    assert common.RunSection(codec="zfp8").codecs == ["zfp8"]


@pytest.mark.parametrize("codec", ["none", "mpc", *(f"zfp{rate}" for rate in range(4, 33))])
def test_every_codec_of_a_case_exists(codec: str) -> None:
    assert require_codec(common.RunSection(codec=codec).codec) == codec
