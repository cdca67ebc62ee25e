"""Phases of arrays that focus, in a homogeneous medium and behind an aberrating layer."""

from __future__ import annotations

import tomllib
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ranks import COMMAND, run_on_ranks
from typer.testing import CliRunner

import groundswell as gs
from groundswell.cli.app import app
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.aberration import phase_correction

H, SPEED, FREQUENCY = 0.25e-3, 1500.0, 1e6
TARGET = (11e-3, 7e-3)
Y = 1e-3 * np.array([4.0, 5.2, 6.4, 7.6, 8.8, 10.0])  # centres of the elements
ELEMENTS = [
    {"kind": "line", "start": [2e-3, y - 0.3e-3], "end": [2e-3, y + 0.3e-3]} for y in Y.tolist()
]


def build(shapes: Any = (), **source: Any) -> Any:
    """An array in water, with parts of the medium."""
    signal = {"kind": "sine", "frequency": FREQUENCY}
    return gs.ultrasound.build_case(
        {"speed": SPEED, "density": 1000.0, "shape": list(shapes)},
        [{"elements": ELEMENTS, "pressure": 1e4, "signal": signal, **source}],
        spacing=H,
        points=(56, 56),
        duration="20 us",
        precision="double",
        records=[
            {
                "fields": ["p"], "where": {"kind": "points", "positions": [[*TARGET, 0]]},
                "from": "16 us", "what": ["amplitude", "phase"], "frequencies": [FREQUENCY],
                "file": "target.nc",
            }
        ],
    )  # fmt: skip


ABERRATION = [
    {"kind": "box", "low": [4e-3, 0], "high": [6e-3, 6e-3], "speed": 2200.0, "density": 1200.0},
    {"kind": "box", "low": [4e-3, 6e-3], "high": [6e-3, 8e-3], "speed": 1700.0},
]


def at_target(case: Any) -> float:
    from groundswell.simulation.temporary import run_built

    found = run_built(case)
    return float(found.records["target.nc"]["p_amplitude"].squeeze())


def test_phases_are_geometric_in_a_homogeneous_medium() -> None:
    """The far field of a point in two dimensions, exp(-i k r); the tolerance is 3 degrees."""
    found = phase_correction(build(), TARGET)
    distances = np.hypot(TARGET[0] - 2e-3, TARGET[1] - Y)
    exact = np.degrees(2 * pi * FREQUENCY / SPEED * distances)
    difference = found.phases[0] - exact
    difference -= difference[0]
    wrapped = difference - 360 * np.rint(difference / 360)
    assert np.abs(wrapped).max() < 3.0
    assert found.weights[0].max() == 1.0 and found.weights[0].argmax() in (2, 3)
    assert found.gain * found.efficiency == pytest.approx(1.0)


@pytest.mark.full
def test_pressure_at_the_target_rises_behind_an_aberrating_layer_as_predicted() -> None:
    plain = build(ABERRATION)
    found = phase_correction(plain, TARGET)
    corrected = build(ABERRATION, phases=found.phases[0].tolist())
    geometric = build(ABERRATION, steering=[*TARGET])
    before, after, steered = map(at_target, (plain, corrected, geometric))
    assert found.gain > 1.2
    assert after / before == pytest.approx(found.gain, rel=0.02)
    assert after > 1.05 * steered
    again = phase_correction(geometric, TARGET)
    assert after / steered == pytest.approx(again.gain, rel=0.02)


def test_arrays_that_have_no_phases_are_refused() -> None:
    one = build().model_copy()
    for changes, message in (
        ({"elements": ELEMENTS[:1]}, "the sources have 1 element; focusing needs two or more"),
        ({"signal": {"kind": "samples", "interval": 1e-8, "values": [0, 1, 0]}}, "has samples"),
    ):
        with pytest.raises(InputError, match=message):
            phase_correction(build(**changes), TARGET)
    with pytest.raises(InputError, match="the target has 3 coordinates; give 2"):
        phase_correction(one, (1e-3, 2e-3, 3e-3))
    for target in ((99e-3, 2e-3), (-1e-6, 2e-3), (float("nan"), 2e-3)):
        with pytest.raises(InputError, match=r"the target, x = .* mm, lies outside the region"):
            phase_correction(one, target)
    edge = [{"kind": "line", "start": [x, 3e-3], "end": [x, 4e-3]} for x in (0.1e-3, 2e-3)]
    with pytest.raises(InputError, match="element 0 extends into an absorbing layer"):
        phase_correction(build(elements=edge), TARGET)


CASE = """
solver = "ultrasound"
[grid]
points = [56, 56]
spacing = "0.25 mm"
[medium]
speed = "1500 m/s"
density = 1000
[[medium.shape]]
kind = "box"
low = ["4 mm", "0 mm"]
high = ["6 mm", "6 mm"]
speed = 2200
[[source]]
elements = [
  { kind = "line", start = ["2 mm", "4 mm"], end = ["2 mm", "5 mm"] },
  { kind = "line", start = ["2 mm", "8 mm"], end = ["2 mm", "9 mm"] },
]
pressure = "10 kPa"
signal = { kind = "sine", frequency = "1 MHz" }
steering = ["11 mm", "7 mm"]
[time]
duration = "16 us"
"""


def test_the_command_writes_a_case_with_phases(tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    case.write_text(CASE)
    given = ["focus", str(case), "--target", "11,7", "--quiet"]
    said = CliRunner().invoke(app, [*given, "--amplitudes"])
    assert said.exit_code == 0, said.output
    assert "times the pressure at the target" in said.output
    content = tomllib.loads((tmp_path / "case_focused.toml").read_text())
    (source,) = content["source"]
    assert len(source["phases"]) == 2 and max(source["weights"]) == 1.0
    assert "steering" not in source and source["pressure"] == "10 kPa"
    assert content["output"]["directory"] == "results_case_focused"
    assert gs.check(tmp_path / "case_focused.toml")["problems"] == []
    again = CliRunner().invoke(app, given)
    assert isinstance(again.exception, InputError) or again.exit_code != 0
    assert "exists already" in str(again.exception) + again.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.toml", "case_focused.toml"]


@pytest.mark.timeout(300)
def test_two_ranks_find_the_phases_of_one(tmp_path: Path) -> None:
    """To the accuracy of the overlaps, which is 1e-4 of the largest pressure anywhere."""
    case = tmp_path / "case.toml"
    case.write_text(CASE + "[overlap]\naccuracy = 1e-4\n")
    given = ["focus", str(case), "--target", "11,7", "--quiet", "--amplitudes"]
    assert CliRunner().invoke(app, [*given, "--output", "one.toml"]).exit_code == 0
    done = run_on_ranks(2, COMMAND, *given, "--output", "two.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("wrote") == 1
    one, two = (
        tomllib.loads((tmp_path / f"{name}.toml").read_text())["source"][0]
        for name in ("one", "two")
    )
    turned = np.exp(1j * np.radians(np.subtract(one["phases"], two["phases"])))
    assert np.abs(np.angle(turned, deg=True)).max() < 0.5
    assert np.abs(np.subtract(one["weights"], two["weights"])).max() < 5e-3
    assert one["phases"] != pytest.approx([0, 0], abs=1)


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("target", "output", "message"),
    [
        ("11,7", "taken.toml", "exists already"),
        ("11,7,3", "new.toml", "the target has 3 coordinates; give 2"),
        ("99,7", "new.toml", "the target, x = 99 mm, lies outside the region, which reaches from"),
    ],
)
def test_two_ranks_refuse_together_and_write_nothing(
    tmp_path: Path, target: str, output: str, message: str
) -> None:
    case = tmp_path / "case.toml"
    case.write_text(CASE)
    (tmp_path / "taken.toml").write_text("kept")
    done = run_on_ranks(2, COMMAND, "focus", case, "--target", target, "-q", "--output", output)
    assert done.returncode == 2 and done.stderr.count(message) == 1, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.toml", "taken.toml"]
    assert (tmp_path / "taken.toml").read_text() == "kept"
