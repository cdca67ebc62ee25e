"""Ultrasound cases: what is said of each mistake and of what does not fit the grid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import quantities_of
from ultrasound_cases import ARC, DROP, build, setup

from groundswell.errors import CaseError, InputError

AXES = "must have 2 or 3 entries: x, y and, in three dimensions, z"
POINT = {"kind": "point", "position": ["5 mm", "5 mm"]}
RING = {"kind": "annular-array", "apex": [0, 0], "radius": 1, "focus": [1, 0]}
VELOCITY = {"source__0__pressure": DROP, "source__0__velocity": "1 m/s"}
SAMPLES = {"kind": "samples", "interval": 1e-8}


def record(**changes: Any) -> dict[str, Any]:
    return {"output__record": [{"fields": "p", "where": {"kind": "all"}, "file": "a.nc"} | changes]}


def signal(**content: Any) -> dict[str, Any]:
    return {"source__0__signal": content}


MISTAKES = [
    ({"grid__points": [50]}, "grid.points", AXES),
    ({"grid__points": [50, 4]}, "grid.points[1]", "has 4 points; it must have from 8 to 1048576"),
    ({"grid__points": [50, 40, 1]}, "grid.points[2]", "For two dimensions, leave z out"),
    ({"grid__points": [10**7, 40]}, "grid.points[0]", "has 1e+07 points"),
    ({"grid__points": [50.5, 40]}, "grid.points[0]", "must be a whole number"),
    ({"grid__points": DROP}, "grid", "give points or size"),
    ({"grid__size": ["10 mm", "10 mm"]}, "grid.size", "give only one of points and size"),
    ({"grid__points": DROP, "grid__size": ["10 mm", "10.1 mm"]}, "grid.size[1]",
     "must be a whole number of spacings; nearest: 0.01 m or 0.01025 m"),
    ({"grid__points": DROP, "grid__size": [1e30, "10 mm"]}, "grid.size[0]", "has 4e+33 points"),
    ({"grid__spacing": DROP}, "grid.spacing", "is required"),
    ({"grid__spacing": "-1 mm"}, "grid.spacing", "must be greater than 0"),
    ({"grid__spacing": "1 s"}, "grid.spacing", "is not a length; give a length such as"),
    ({"grid__spacing": ["1 mm"]}, "grid.spacing", AXES),
    ({"grid__spacing": ["1 mm", 0]}, "grid.spacing[1]", "must be greater than 0"),
    ({"grid__spacing": [1, 1, 1]}, "grid.spacing", "must be one length, or 2 as in points"),
    ({"grid__origin": [0]}, "grid.origin", AXES),
    ({"grid__origin": "1 mm"}, "grid.origin", "must be a list"),
    ({"time__courant": 0}, "time.courant", "must be greater than 0"),
    ({"time__reference_speed": 0}, "time.reference_speed", "must be greater than 0"),
    ({"time__step": "3 us"}, "time.step", "at most the duration, 2e-06 s"),
    ({"time__duration": DROP}, "time.duration", "starts earlier); give a time"),
    ({"boundary__width": -1}, "boundary.width", "must be at least 0"),
    ({"boundary__width": 2.5}, "boundary.width", "must be a whole number"),
    ({"boundary__width": "wide"}, "boundary.width", 'must be "auto", a number, or a list'),
    ({"boundary__width": [10, -1]}, "boundary.width[1]", "must be at least 0"),
    ({"boundary__width": [10, 10, 10]}, "boundary.width", "or one for each axis of the grid"),
    ({"boundary__strength": 0}, "boundary.strength", "must be greater than 0"),
    ({"boundary__inside": 1}, "boundary.inside", "must be true or false"),
    ({"source": DROP}, "source", "give an [initial] pressure or a [[source]]"),
    ({"initial": {"kind": "cube"}}, "initial.kind", "must be ball, gaussian or array"),
    ({"initial": {"kind": "array"}}, "initial", "give file or values"),
    ({"initial": {"kind": "array", "values": [1, 2]}}, "initial.values", "from Python only"),
    ({"initial": {"kind": "array", "file": "no.npy"}}, "initial.file", "does not exist"),
    ({"initial": {"kind": "ball", "centre": [0], "radius": 1, "pressure": 1}}, "initial.centre",
     AXES),
    ({"overlap__points": 0}, "overlap.points", "must be at least 1"),
    ({"overlap__accuracy": 1}, "overlap.accuracy", "must be less than 1"),
    (record(fields="vx"), "output.record[0].fields", "must be p, ux, uy or uz"),
    (record(file="medium.nc"), "output.record[0].file", "is the name of another file"),
    ({"source__0__shape": DROP}, "source[0]", "give shape or elements"),
    ({"source__0__shape__kind": "ark"}, "source[0].shape.kind", 'did you mean "arc"?'),
    ({"source__0__elements": [ARC]}, "source[0].elements", "give only one of shape and elements"),
    ({"source__0__shape": DROP, "source__0__elements": []}, "source[0].elements", "not be empty"),
    ({"source__0__shape": DROP, "source__0__elements": [POINT, {"kind": "mask", "indices": [1]}]},
     "source[0].elements[1].kind", 'cannot be "mask"; use shape'),
    ({"source__0__shape__diameter": "20 mm"}, "source[0].shape", "arc: diameter = 0.02 m, but"),
    ({"source__0__shape": RING | {"diameters": []}}, "source[0].shape.diameters", "not be empty"),
    ({"source__0__shape": RING | {"diameters": [[0.2, 0.1]]}}, "source[0].shape", "ring: inner"),
    ({"source__0__pressure": DROP}, "source[0]", "give pressure or velocity"),
    (VELOCITY, "source[0].direction", "must be a direction of the velocity"),
    (VELOCITY | {"source__0__direction": [0, 0]}, "source[0].direction", "must be a direction"),
    (VELOCITY | {"source__0__direction": [1, 0, 1]}, "source[0].direction", "must have z = 0"),
    ({"source__0__direction": [1, 0]}, "source[0].direction", "is for a velocity; leave it out"),
    ({"source__0__mode": "add"}, "source[0].mode", '"additive", "uncorrected" or "dirichlet"'),
    ({"source__0__weights": [1, 2]}, "source[0].weights", "must have one entry per element: 1"),
    ({"source__0__phases": ["1 s"]}, "source[0].phases[0]", "is not an angle"),
    ({"source__0__delays": [-1]}, "source[0].delays[0]", "must be at least 0"),
    ({"source__0__delays": [1], "source__0__steering": [0, 0]}, "source[0].delays", "only one of"),
    ({"source__0__shape": {"kind": "mask", "indices": [1]}, "source__0__steering": [0, 0]},
     "source[0].steering", "is for surfaces; a mask has one signal per point"),
    (signal(kind="sin"), "source[0].signal.kind", "must be sine, burst or samples"),
    ({"source__0__signal__cycles": 0}, "source[0].signal.cycles", "must be greater than 0"),
    ({"source__0__signal__window": "box"}, "source[0].signal.window", '"gaussian" or "hann"'),
    (signal(kind="sine", frequency=1e6, ramp=-1), "source[0].signal.ramp", "must be at least 0"),
    (signal(**SAMPLES), "source[0].signal", "give values or file"),
    (signal(**SAMPLES, values=[1]), "source[0].signal.values", "2 or more finite numbers"),
    (signal(**SAMPLES, values=["a", "b"]), "source[0].signal.values", "2 or more finite numbers"),
    (signal(**SAMPLES, values=[[1, 2], [3]]), "source[0].signal.values", "2 or more finite"),
    (signal(**SAMPLES, values=[1, np.nan]), "source[0].signal.values", "2 or more finite numbers"),
    (signal(**SAMPLES, values=[1, 2]) | {"source__0__phases": [1]}, "source[0].phases",
     "is for a sine or a burst; samples have delays only"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "told"), MISTAKES)
def test_a_mistake_is_told_once_with_its_key(changes: Any, key: str, told: str) -> None:
    with pytest.raises(CaseError) as caught:
        build(**changes)
    assert len(caught.value.problems) == 1, caught.value.problems
    problem = caught.value.problems[0]
    assert problem.key == key
    assert told in problem.allowed


REFUSALS = [
    ({"time__reference_speed": 1000, "time__step": "1 us"},
     "time.step = 1e-06 s is unstable with the reference speed of 1000 m/s; use at most 8.212e-08"),
    ({"boundary__width": [10, 20], "boundary__inside": True},
     "boundary.width = 20 leaves no point of 40 along y; give at most 19"),
    (record(fields="uz"), "uz is for three dimensions"),
    (record(where={"kind": "points", "positions": [["90 mm", 0, 0]]}), "x = 0.09 m of output"),
    ({"source__0__shape__apex": ["-10 mm", "5 mm"]}, "an arc extends from x = -0.01 to"),
    ({"source__0__mode": "dirichlet"},
     'source[0]: mode = "dirichlet" sets values at grid points, but the surface lies between'),
    ({"source__0__shape": {"kind": "disc", "centre": [0, 0], "diameter": 1}},
     "a disc is a surface, but the grid is two-dimensional"),
    (signal(**SAMPLES, file="two.npy"), "2 signals for 1 element or point"),
    (signal(**SAMPLES, file="one.npy"), "holds an array float64 (1,)"),
    ({"initial": {"kind": "ball", "centre": [1, 0], "radius": 1e-3, "pressure": 1}},
     "[initial] of kind 'ball' has no pressure at any grid point"),
    ({"initial": {"kind": "array", "file": "two.npy"}}, "has the shape (10, 2); it must have one"),
    ({"initial": {"kind": "array", "values": np.full((40, 50), np.nan)}},
     "initial.values has values that are not finite numbers"),
    ({"medium__speed": np.full((3, 3), 1500.0)}, "medium.speed has the shape (3, 3)"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "told"), REFUSALS)
def test_what_does_not_fit_the_grid_is_refused(changes: Any, told: str, tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(1))
    np.save(tmp_path / "two.npy", np.zeros((10, 2)))
    with pytest.raises(InputError) as caught:
        quantities_of(setup(tmp_path, **changes))
    assert not isinstance(caught.value, CaseError)
    assert told in str(caught.value)
