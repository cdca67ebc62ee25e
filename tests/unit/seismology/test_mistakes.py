"""Mistakes in the input that both seismic solvers report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import quantities_of, warnings_of
from small_cases import small_case

from groundswell import registry
from groundswell.case.common import Case
from groundswell.errors import CaseError, InputError
from groundswell.simulation.preparation import prepare

SOLVERS = pytest.mark.parametrize("solver", ["earthquake", "dgwave"])
PULSE = {"kind": "gaussian", "sigma": 0.1}
PLACE = {"x": 630, "y": 580, "depth": 410, "time_function": PULSE}
TENSOR = {"rr": 1.0, "tt": -0.4, "pp": -0.6, "rt": 0.2, "rp": 0.1, "tp": -0.3}


def case(solver: str, folder: Path | str = "", **changes: Any) -> Case:
    content = small_case(solver)
    for section, entries in changes.items():
        content[section] = {**content.get(section, {}), **entries}
    schema: type[Case] = registry.find(solver).load("case")
    return schema.from_dict(content, folder)


def with_source(solver: str, source: dict[str, Any], **more: Any) -> Case:
    schema: type[Case] = registry.find(solver).load("case")
    return schema.from_dict({**small_case(solver), "source": [source], **more})


@SOLVERS
def test_moments_in_dyn_cm_are_noticed(solver: str) -> None:
    """A Global CMT solution of Mw 6.5 in dyn cm, read as N m, and one of Mw 4.9."""

    def tensor(scale: Any) -> dict[str, Any]:
        components = {name: scale(value) for name, value in TENSOR.items()}
        return {"kind": "moment-tensor", "components": components, **PLACE}

    with pytest.raises(
        CaseError, match=r'components: gives Mw 11\.\d, .*write values as "1e25 dyn'
    ):
        with_source(solver, tensor(lambda value: 7e25 * value))
    explosion = {"kind": "explosion", "moment": 7e25, **PLACE}
    with pytest.raises(CaseError, match=r"moment = 7e\+25: gives Mw 11.2"):
        with_source(solver, explosion)
    warned = warnings_of(prepare(with_source(solver, tensor(lambda value: 5e23 * value))))
    assert any("more than any recorded earthquake" in warning for warning in warned)
    fine = prepare(with_source(solver, tensor(lambda value: f"{7e25 * value} dyn cm")))
    assert fine.survey.summary.magnitude == pytest.approx(6.4, abs=0.15)
    assert not any("recorded earthquake" in warning for warning in warnings_of(fine))


@SOLVERS
def test_steps_without_end_are_refused(solver: str) -> None:
    with pytest.raises(InputError, match=r"takes 1e\+12 steps of 1e-12 s, and at most 1e\+09"):
        prepare(case(solver, time={"step": 1e-12}))
    with pytest.raises(InputError, match=r"the run from 0 to 1e\+09 s takes .* steps"):
        prepare(case(solver, time={"step": "auto", "duration": 1e9}))
    early = {"kind": "explosion", "moment": 1e12, **PLACE}
    early["time_function"] = {**PULSE, "onset": -1e9}
    with pytest.raises(InputError, match=r"the run from -1e\+09 to 1 s takes .* steps"):
        prepare(with_source(solver, early))


@SOLVERS
def test_the_reference_frequency_lies_in_the_band(solver: str) -> None:
    for reference in (0.05, 30.0):
        with pytest.raises(CaseError, match=r"reference = .*: must lie in the band, 0.1 to 10 Hz"):
            case(solver, attenuation={"reference": reference})
    for reference in (0.1, 10.0):
        case(solver, attenuation={"reference": reference})


@SOLVERS
def test_all_bad_stations_of_a_file_are_named(solver: str, tmp_path: Path) -> None:
    stations = tmp_path / "stations.csv"
    stations.write_text("network,station,x,y,depth\nA,B,1,2,0\nA,C,9000,2,0\nA,D,1,-5,5000\n")
    schema: type[Case] = registry.find(solver).load("case")
    content = {k: v for k, v in small_case(solver).items() if k != "receiver"}
    with pytest.raises(CaseError) as caught:
        prepare(schema.from_dict({**content, "receivers": {"file": str(stations)}}))
    keys = [problem.key for problem in caught.value.problems]
    assert keys == [
        f"line {n}: station {key}" for n, key in ((3, "A.C: x"), (4, "A.D: depth"), (4, "A.D: y"))
    ]
    assert str(caught.value).startswith("stations.csv cannot be used:")
    stations.write_text("network,station,x,y\nA,,1,2\nA,C,east,2\nA,D,1,2\nA,D,1,2\n")
    with pytest.raises(CaseError) as caught:
        prepare(schema.from_dict({**content, "receivers": {"file": str(stations)}}))
    lines = [problem.key.partition(":")[0] for problem in caught.value.problems]
    assert lines == ["line 2", "line 3", "line 5"]


@SOLVERS
@pytest.mark.parametrize(
    ("key", "value", "meant"),
    [("vp", 3.5e5, "cm/s"), ("rho", 2.6e6, "g/m^3"), ("vs", 2.3e4, "cm/s")],
)
def test_speeds_and_densities_of_no_rock_are_refused(
    solver: str, key: str, value: float, meant: str
) -> None:
    faster = {"vp": 29e3} if key == "vs" else {}
    with pytest.raises(
        CaseError, match=rf"{key} = .*must be at most .*if it is in {re.escape(meant)}"
    ):
        case(solver, medium={**faster, key: value})


def test_check_says_how_accurate_resolved_waves_are() -> None:
    """On a grid, differences of exp(i k x) against its derivative."""
    setup = prepare(case("earthquake"))
    told = {q.key: q for q in quantities_of(setup)}
    k = 2 * np.pi * told["resolved_frequency"].value / setup.ground.statistics.speed_min
    h = max(setup.grid.spacing)
    places = np.array([-1.5, -0.5, 0.5, 1.5]) * h
    slope = np.exp(1j * k * places) @ [1 / 24, -9 / 8, 9 / 8, -1 / 24] / h
    assert told["resolved_speed_error"].value == pytest.approx(slope.imag / k - 1, rel=1e-9)
    assert "where the slowest waves are 0.53 % too slow" in told["resolved_frequency"].text
    told = {q.key: q for q in quantities_of(prepare(case("dgwave", method={"degree": 2})))}
    text = "where the slowest waves are 3.3 % too slow and lose 24 % of their amplitude per wave"
    assert text in told["resolved_frequency"].text
