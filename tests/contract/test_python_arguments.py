"""Python arguments of wrong kinds or lengths are invalid input, with the value in the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import InputError

AIR = {"kind": "rayleigh", "rayleigh": 1e3}
FLAT = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}
SOURCE = {
    "kind": "explosion",
    "x": 300,
    "y": 300,
    "depth": 300,
    "magnitude": 3,
    "time_function": {"kind": "cosine", "rise": "0.5 s"},
}
WATER = {"speed": 1500.0, "density": 1000.0}
FIXED = {"west": {"kind": "fixed"}}
CUBE = gs.poisson.Box((1, 1, 1))


def flow(**changes: Any) -> Any:
    arguments = {"points": (7, 1, 7), "fluid": AIR, "walls": FLAT} | changes
    return gs.cavity.build_case(**arguments)


def sound(medium: Any = WATER, **changes: Any) -> Any:
    arguments = {"spacing": 1e-3, "duration": "1 us", "points": (32, 32)} | changes
    return gs.ultrasound.build_case(medium, **arguments)


def waves(solver: str, **changes: Any) -> Any:
    api = getattr(gs, solver)
    vs = np.full((6, 6, 6), 1000.0)
    model = {"vp": 2 * vs, "vs": vs, "rho": 2500.0, "spacing": 100.0}
    model |= {name: changes.pop(name) for name in list(changes) if name in model}
    arguments = {"sources": [SOURCE], "duration": "1 s"} | changes
    return api.build_case(api.Model(**model), **arguments)


def solved(degree: Any = 2, source: Any = 1.0, boundaries: Any = FIXED, **options: Any) -> Any:
    return gs.poisson.solve(CUBE, degree, source, boundaries, **options)


def record(low: Any) -> dict[str, Any]:
    where = {"kind": "box", "low": low, "high": (1, 1, 1)}
    return {"record": [{"fields": ["vx"], "where": where, "every": 1, "file": "a.nc"}]}


TAKERS: dict[str, Callable[[Any], Any]] = {
    "cavity points": lambda v: flow(points=v),
    "cavity size": lambda v: flow(size=v),
    "cavity velocity": lambda v: flow(walls=FLAT | {"top": {"kind": "adiabatic", "velocity": v}}),
    "cavity fluid": lambda v: flow(fluid=v),
    "cavity walls": lambda v: flow(walls=[v]),
    "Box counts": lambda v: gs.poisson.Box(v),
    "Box low": lambda v: gs.poisson.Box((2, 2, 2), low=v, high=(9, 9, 9)),
    "Box high": lambda v: gs.poisson.Box((2, 2, 2), high=v),
    "Box periodic": lambda v: gs.poisson.Box((2, 2, 2), periodic=v),
    "Box order": lambda v: gs.poisson.Box((2, 2, 2), order=v),
    "Mesh corners": lambda v: gs.poisson.Mesh(v, np.zeros((1, 8, 3))),
    "Mesh nodes": lambda v: gs.poisson.Mesh(np.zeros((1, 8), int), v),
    "kershaw": lambda v: gs.poisson.kershaw(v, 0.3),
    "nodes": lambda v: gs.poisson.nodes(CUBE, v),
    "solve degree": lambda v: solved(degree=v),
    "solve boundaries": lambda v: solved(boundaries=[v]),
    "solve screening": lambda v: solved(screening=[v]),
    "ultrasound medium": lambda v: sound(medium=v),
    "ultrasound points": lambda v: sound(points=v),
    "ultrasound spacing": lambda v: sound(spacing=[v]),
    "ultrasound sources": lambda v: sound(sources=v),
    "ultrasound records": lambda v: sound(records=v),
    "domain": lambda v: gs.exchange.Domain(v) and gs.exchange.Domain((v, v)),
    "domain processes": lambda v: gs.exchange.Domain((8, 8, 8), processes=v),
    "domain periodic": lambda v: gs.exchange.Domain((8, 8, 8), periodic=[v]),
} | {
    f"{solver} {name}": take
    for solver in ("earthquake", "dgwave")
    for name, take in {
        "spacing": lambda v, s=solver: waves(s, spacing=[v]),
        "sources": lambda v, s=solver: waves(s, sources=v),
        "receivers": lambda v, s=solver: waves(s, receivers=v),
        "low": lambda v, s=solver: waves(s, output=record(v)),
    }.items()
}
WRONG = [
    (2.5,),
    (2, -2),
    (2, 2, 2, 2.5),
    "x",
    ["x"],
    (1, "a", 2),
    (1, None, 2),
    np.full((2, 2), -1.5),
    object(),
]


@pytest.mark.parametrize("name", TAKERS)
def test_arguments_of_wrong_kinds_are_bad_input(name: str) -> None:
    for value in WRONG:
        try:
            TAKERS[name](value)
        except InputError as error:
            assert str(error)
        else:
            pytest.fail(f"{name} takes {value!r}")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: gs.poisson.Box((2, 2, 2), periodic=["x"]),
            r"periodic = \['x'\]: give True or False, or .* 3 axes, such as \(True, False, False\)",
        ),
        (lambda: gs.poisson.Box((2, 2)), r"counts = \(2, 2\): give a whole number for each of 3"),
        (lambda: gs.poisson.Box((2, 2, 2), high=(1, 1)), r"high = \(1, 1\): give one value, or"),
        (lambda: flow(points=7), r"grid\.points = 7"),
        (lambda: sound(points=np.array([2.5, 2])), r"grid\.points"),
    ],
)
def test_messages_state_the_value_and_what_is_allowed(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_arrays_of_numpy_are_as_good_as_tuples() -> None:
    box = gs.poisson.Box(np.array([2, 3, 4]), high=np.array([1.0, 2.0, 3.0]), periodic=True)
    assert box == gs.poisson.Box((2, 3, 4), high=(1.0, 2.0, 3.0), periodic=(True, True, True))
    start = np.zeros((24, 32))
    start[12, 16] = 1.0
    assert sound(points=np.array([32, 24]), initial=start).grid.points == (32, 24)
