"""Whatever is thrown at the case reader, it answers with a valid case or a readable refusal."""

from __future__ import annotations

import copy
import datetime
import math
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from checked import cost, quantities_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundswell import registry
from groundswell.case import read_case
from groundswell.errors import CaseError

# With all sections more can be hit.
MORE = {
    "earthquake": [
        "checkpoint = { minutes = 10 }",
        "[[source]]",
        'kind = "force"',
        'force = ["0 N", "0 N", "1e10 N"]',
        "x = 100",
        "y = 200.0",
        'depth = "1 km"',
        'time_function = { kind = "ricker", frequency = "2 Hz", onset = "0.1 s" }',
        "[[source]]",
        'kind = "moment-tensor"',
        "components = { nn = 1e15, ee = -1e15, dd = 0, ne = 0, nd = 0, ed = 0 }",
        "x = 100",
        "y = 200.0",
        'depth = "1 km"',
        'time_function = { kind = "gaussian", sigma = "0.1 s", delay = "0.5 s" }',
    ],
    "cavity": [
        "checkpoint = { steps = 10 }",
        "[walls]",
        'west = { kind = "fixed", temperature = "20 K" }',
        'east = { kind = "fixed", temperature = 10 }',
        'north = { kind = "conducting" }',
        'top = { kind = "adiabatic", velocity = [0.1, 0.002, 0] }',
        'south = { kind = "symmetry" }',
    ],
    "dgwave": [
        "checkpoint = { minutes = 10 }",
        "[[source]]",
        'kind = "airgun"',
        'strength = "20 bar m"',
        "x = 100",
        "y = 200.0",
        'depth = "10 m"',
        'time_function = { kind = "ricker", frequency = "2 Hz" }',
        "[[source]]",
        'kind = "force"',
        'force = ["0 N", "0 N", "1e10 N"]',
        "x = 100",
        "y = 200.0",
        'depth = "1 km"',
        'time_function = { kind = "ricker", frequency = "2 Hz", onset = "0.1 s" }',
    ],
    "poisson": [
        "processes = [2, 0, 1]",
        "[boundaries]",
        'west = { kind = "fixed", value = "y * z" }',
        'top = { kind = "flux", value = 3 }',
    ],
}


FEW_SECONDS = settings(
    derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)

NUMBERS = [0, -1, 1, 3, 1e-320, 1e308, -1e308, 10**30, 10**400, -(2**63), math.nan, math.inf, -0.0]
TEXTS = [
    "", " ", "5 km", "-5 km", "0 m", "5 s", "1e300 km", "1e-300 m", "1e9**9**9 m", "5 °C", "5 dB",
    "5 km" * 50, "9" * 20_000, "m" * 20_000, "5 " + "k" * 60, "NaN", "inf m", "∞ m", "٣ km", "km",
    "auto", "none", "pml", "layered", "awp", "arrays", "srf", "table", "ricker", "EPSG:4326",
    "tmerc", "\0", "\n", "\u202e", "\ud800", "a\0b", "../" * 2000, "/dev/zero", "{text}", "{", "%s",
    "'", '"',
]  # fmt: skip
OTHERS = [None, True, False, [], {}, [[]], [{}], {"kind": {}}, {"": 1}, b"5 km", 1j, {1, 2}, object]
DATES = [datetime.date(2014, 3, 29), datetime.time(4, 9), datetime.datetime(2014, 3, 29, 4, 9)]


def _nested(depth: int) -> Any:
    value: Any = []
    for n in range(depth):
        value = {"kind": value} if n % 2 else [value]
    return value


junk = st.one_of(
    st.sampled_from([*NUMBERS, *TEXTS, *OTHERS, *DATES, _nested(50), _nested(5000)]),
    st.floats(),
    st.integers(),
    st.text(max_size=20),
    st.builds("{} {}".format, st.floats(), st.sampled_from(["m", "km", "s", "Hz", "N m", "foo"])),
    st.lists(st.sampled_from(NUMBERS + TEXTS), max_size=5),
    st.dictionaries(
        st.sampled_from(["kind", "x", "depth", "rise", "é", ""]), st.just(1), max_size=3
    ),
)


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to every value inside tables and lists."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, entry in entries if isinstance(value, dict | list) else ():
        yield (*way, key)
        yield from _places(entry, (*way, key)) if isinstance(entry, dict | list) else ()


class Subject(NamedTuple):
    """A case to start from, of one solver."""

    solver: str
    text: str
    content: Any
    places: list[tuple[Any, ...]]
    tokens: list[str]

    @classmethod
    def of(cls, solver: str) -> Subject:
        """Without comments more mutations hit something that matters."""
        text = re.sub(r"(?m)\s*#.*$", "", registry.find(solver).read_template())
        text = re.sub(r"(?ms)^\[(walls|boundaries)\].*?(?=^\[|\Z)", "", text)
        text += "\n".join(MORE[solver])
        read_case(text)  # loads the units and the projections, and is valid
        content = tomllib.loads(text)
        tokens = re.findall(r'"[^"]*"|[\w.-]+|\s+|.', text)
        return cls(solver, text, content, list(_places(content)), tokens)


SUBJECTS = [Subject.of(solver) for solver in MORE]
VALUES = [v for s in SUBJECTS for v in re.findall(r'= ("[^"]*"|[-\d.]+)', s.text)]
subjects = st.sampled_from(SUBJECTS)


def _remove(table: Any, key: Any, other: Any) -> None:
    del table[key]


def _replace(table: Any, key: Any, other: Any) -> None:
    table[key] = other


def _wrap(table: Any, key: Any, other: Any) -> None:
    table[key] = [table[key]]


def _scale(table: Any, key: Any, other: Any) -> None:
    if isinstance(table[key], int | float) and isinstance(other, int | float):
        table[key] *= float(f"{other:.3g}") if abs(other) < 1e300 else 2


def _insert(table: Any, key: Any, other: Any) -> None:
    if isinstance(table, list):
        table.insert(key, other)
    else:
        table[f"{key}{str(other)[:3]}" if isinstance(other, str | float) else "kind"] = other


def _repeat(table: Any, key: Any, other: Any) -> None:
    if isinstance(table, list):
        table.append(copy.deepcopy(table[key]))


MUTATIONS: list[Callable[[Any, Any, Any], None]] = [
    _remove, _replace, _replace, _replace, _wrap, _scale, _insert, _repeat
]  # fmt: skip


@st.composite
def mutated_content(draw: st.DrawFn) -> tuple[str, Any]:
    subject = draw(subjects)
    content = copy.deepcopy(subject.content)
    for _ in range(draw(st.integers(1, 4))):
        mutate, other = draw(st.sampled_from(MUTATIONS)), draw(junk)
        *way, key = draw(st.sampled_from(subject.places))
        table: Any = content
        try:
            for part in way:
                table = table[part]
            mutate(table, key, other)
        except (LookupError, TypeError, OverflowError):
            continue  # an earlier mutation took the place away, or made it too large to scale
    return subject.solver, content


scraps = st.sampled_from(
    [*VALUES, "[", "]", "{", "}", "=", ",", '"', "'''", "\n", "#", ".", "[[a]]"]
)


@st.composite
def mutated_text(draw: st.DrawFn) -> str:
    parts = list(draw(subjects).tokens)
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(parts) - 1))
        stop = start + draw(st.sampled_from([0, 1, 1, 1, 5, 40]))
        parts[start:stop] = draw(st.lists(st.one_of(scraps, st.text(max_size=3)), max_size=2))
    return "".join(parts)


@st.composite
def mutated_bytes(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(subjects).text.encode())
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data) - 1))
        data[start : start + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data)


def check(read: Callable[[], Any]) -> None:
    """The case is valid and says so consistently, or is refused in words."""
    try:
        case = read()
    except CaseError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.key and problem.allowed
            line = str(problem)
            assert line.isprintable() and len(line) < 1000, line
            assert not re.search(r"pydantic|[Ii]nput should|a valid ", problem.allowed), line
        return
    assert len(case.digest()) == 64
    CONSISTENT[case.solver](case)


def earthquake(case: Any) -> None:
    assert all(n >= 1 for n in case.grid.cells)
    assert case.time.duration > 0 and case.source
    for position in (*case.source, *case.receiver):
        if hasattr(position, "depth"):
            x, y, z = case.grid.locate(position)
            for at, size in zip((x, y, z), case.grid.size, strict=True):
                assert -0.01 <= at <= size + 0.01


def cavity(case: Any) -> None:
    """What would be computed can be told, whatever the numbers."""
    if max(case.grid.points) < 2000:
        setup = registry.find("cavity").load("prepare")(case)
        assert cost(setup).memory > 0 and quantities_of(setup) and len(setup.grids) >= 1


def poisson(case: Any) -> None:
    setup = registry.find("poisson").load("prepare")(case)
    assert cost(setup).memory > 0 and quantities_of(setup) and cost(setup).bytes_per_update > 0
    assert setup.equation.fixed or case.equation.screening > 0


CONSISTENT: dict[str, Callable[[Any], None]] = {
    "earthquake": earthquake,
    "dgwave": earthquake,
    "cavity": cavity,
    "poisson": poisson,
}


@settings(FEW_SECONDS, max_examples=900)
@given(mutated_content())
def test_mutated_content(mutated: tuple[str, Any]) -> None:
    solver, content = mutated
    check(lambda: registry.find(solver).load("case").from_dict(content))


@pytest.mark.full
@settings(FEW_SECONDS, max_examples=5000)
@given(mutated_content(), mutated_text(), mutated_bytes())
def test_many_mutants(mutated: tuple[str, Any], text: str, data: bytes) -> None:
    solver, content = mutated
    check(lambda: registry.find(solver).load("case").from_dict(content))
    check(lambda: read_case(text))
    check(lambda: read_case(data))


@settings(FEW_SECONDS, max_examples=400)
@given(mutated_text())
def test_mutated_text(text: str) -> None:
    check(lambda: read_case(text))


@settings(FEW_SECONDS, max_examples=400)
@given(mutated_bytes())
def test_mutated_bytes(data: bytes) -> None:
    check(lambda: read_case(data))


@settings(FEW_SECONDS, max_examples=100)
@given(st.sampled_from(list(MORE)), junk)
def test_content_that_is_no_table(solver: str, content: Any) -> None:
    check(lambda: registry.find(solver).load("case").from_dict(content))
