"""The unit of memory variables in 16 bits, which follows from the sources."""

from __future__ import annotations

from math import log2, pi, sqrt
from typing import Any

import numpy as np
import pytest
from checked import cost
from earthquake_setups import case, setup

from groundswell.backends import open_backend
from groundswell.errors import CaseError, InputError
from groundswell.simulation.preparation import check
from groundswell.solvers.earthquake.memory_unit import LARGEST, largest_drive
from groundswell.solvers.earthquake.setup import Setup
from groundswell.solvers.earthquake.solver import MEMORIES, Earthquake

ROCK = {"kind": "homogeneous", "vp": 5000.0, "vs": 2900.0, "rho": 2700.0, "qp": 80, "qs": 40}
PULSE = {"kind": "gaussian", "sigma": 0.1}
PLACE = {"x": 1300.0, "y": 1700.0, "depth": 1100.0}
COUPLE = {"kind": "double-couple", "strike": 0, "dip": 90, "rake": 0, "moment": 1e15}
FORCE = {"kind": "force", "force": [1e10, 0.0, 0.0]}
VOLUME = 100.0**3


def with_sources(*sources: dict[str, Any], **sections: Any) -> Setup:
    placed = [{"time_function": PULSE} | PLACE | source for source in sources]
    content = {"medium": ROCK, "attenuation": {"model": "constant"}, "run": {"memory": "half"}}
    return setup(**(content | {"source": placed} | sections))


def drive(*sources: dict[str, Any]) -> float:
    found = with_sources(*sources)
    return largest_drive(found.ground, found.survey.sources)


def test_the_drive_is_the_largest_moment_rate_in_a_cell_over_its_volume() -> None:
    rate = 1e15 / (0.1 * sqrt(2 * pi))  # the peak of a Gaussian
    assert drive(COUPLE) == pytest.approx(sqrt(2) * rate / VOLUME, rel=1e-3)
    explosion = {"kind": "explosion", "moment": 1e15}
    assert drive(explosion) == pytest.approx(sqrt(3) * rate / VOLUME, rel=1e-3)
    assert drive(COUPLE, COUPLE | {"x": 1350.0}) == pytest.approx(2 * drive(COUPLE))
    assert drive(COUPLE, COUPLE | {"x": 1450.0}) == pytest.approx(drive(COUPLE))


def test_a_force_counts_as_the_moment_rate_of_its_p_waves() -> None:
    found = with_sources(FORCE)
    speed = found.ground.max_wave_speed
    assert drive(FORCE) == pytest.approx(2 * 1e10 * speed / VOLUME, rel=1e-3)


def test_the_unit_is_a_power_of_two_that_grows_with_the_source() -> None:
    unit = with_sources(COUPLE).memory_unit
    assert log2(unit) % 1 == 0
    assert with_sources(COUPLE | {"moment": 8e15}).memory_unit == 8 * unit
    half_as_long = COUPLE | {"time_function": PULSE | {"sigma": 0.05}}
    assert with_sources(half_as_long).memory_unit == 2 * unit


@pytest.mark.most(5)
@pytest.mark.parametrize(
    "source",
    [
        COUPLE,
        COUPLE | {"x": 1350.0, "y": 1750.0, "depth": 1150.0},  # at normal stresses
        COUPLE | {"x": 1300.0, "y": 1700.0, "depth": 1150.0},  # at sxy
        COUPLE | {"depth": 10.0},
        {"kind": "explosion", "moment": 1e15, "x": 1350.0, "y": 1750.0, "depth": 1150.0},
        FORCE | {"x": 1300.0, "y": 1750.0, "depth": 1150.0},  # at vx
        FORCE | {"force": [0.0, 0.0, 1e10], "depth": 0.0},
    ],
)
@pytest.mark.parametrize("sigma", [0.02, 0.1])
def test_no_memory_variable_leaves_the_range_or_most_of_its_precision(
    source: dict[str, Any], sigma: float
) -> None:
    found = with_sources(source | {"time_function": PULSE | {"sigma": sigma}})
    solver = Earthquake(found, open_backend("cpu"))
    largest = 0.0
    for _ in range(round(10 * sigma / found.dt)):
        solver.step()
        fields = [np.abs(solver.fields[name].interior).max() for name in MEMORIES]
        largest = max(largest, float(max(fields)))
    assert LARGEST / 2000 < largest < LARGEST / 4


def test_sources_too_weak_to_tell_the_range_are_refused() -> None:
    with pytest.raises(InputError, match=r'run.memory = "full"'):
        with_sources(FORCE | {"force": [1e-300, 0.0, 0.0]})
    with_sources(FORCE | {"force": [1e-300, 0.0, 0.0]}, run={})


def test_double_precision_is_refused() -> None:
    with pytest.raises(CaseError, match=r'run.memory = "half": must be "full" where precision'):
        with_sources(COUPLE, run={"memory": "half", "precision": "double"})


def test_a_check_states_how_values_are_stored() -> None:
    content = {"medium": ROCK, "attenuation": {"model": "constant"}}
    usual = check(case(**content))
    found = check(case(**content, run={"memory": "half", "materials": "classes"}))
    assert (usual["memory_variables"], usual["materials"]) == ("full", "cells")
    assert (found["memory_variables"], found["materials"]) == ("half", "classes")
    texts = {entry["label"]: entry["text"] for entry in found["quantities"] if entry["label"]}
    assert "about 0.0001 of its peak" in texts["memory variables"]
    assert "16-bit classes" in texts["materials"]
    labels = {entry["label"] for entry in usual["quantities"]}
    assert not {"memory variables", "materials"} & labels
    saved = 6 * 2 + 5 * 4 - 2  # bytes of a cell
    assert usual["memory"] - found["memory"] == setup().layout.size * saved


def test_bytes_are_counted() -> None:
    """52 + 124 bytes a point and those of layers; 24 and 16 less with fewer bytes."""
    periodic = {"boundary": {"sides": "periodic", "width": 1}}

    def traffic(**run: str) -> float:
        return cost(with_sources(COUPLE, run=run, **periodic)).bytes_per_update

    full = traffic()
    assert full == pytest.approx(176, rel=0.03)
    assert full - traffic(memory="half") == pytest.approx(24)
    assert full - traffic(materials="classes") == pytest.approx(16)
    assert full - traffic(memory="half", materials="classes") == pytest.approx(40)
