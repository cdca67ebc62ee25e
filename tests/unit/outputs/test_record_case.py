"""`[[output.record]]` in cases: what a table becomes, and the problem that each mistake is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checked import cost

from groundswell.case.recording import RecordSection
from groundswell.errors import CaseError, InputError
from groundswell.grids.cartesian import Grid, Part
from groundswell.outputs.cartesian import CartesianDomain
from groundswell.outputs.recording import RecordableField, Recording, Schedule
from groundswell.solvers.cavity.case import CavityCase
from groundswell.solvers.cavity.setup import prepare as prepare_cavity
from groundswell.solvers.earthquake import EarthquakeCase
from groundswell.solvers.earthquake.setup import Setup as EarthquakeSetup
from groundswell.solvers.earthquake.setup import prepare as prepare_earthquake
from groundswell.solvers.poisson.case import PoissonCase

ALL = {"kind": "all"}
PLANE = {"kind": "plane", "normal": "z", "at": 0.5}
POINT = {"kind": "points", "positions": [[0.5, 0.5, 0.5]]}
CAVITY = {"fluid": {"kind": "rayleigh", "rayleigh": 1e4}, "grid": {"points": [8, 8, 8]}}
POISSON = {"mesh": {"kind": "box", "counts": [2, 2, 2]}, "equation": {"screening": 1.0}}


def cavity(**record: Any) -> CavityCase:
    given = {"fields": ["u"], "where": ALL, "file": "u.nc", **record}
    return CavityCase.from_dict({**CAVITY, "output": {"record": [given]}})


def poisson(**record: Any) -> PoissonCase:
    given = {"fields": "u", "where": POINT, "file": "u.nc", "what": "final", **record}
    return PoissonCase.from_dict({**POISSON, "output": {"record": [given]}})


def test_a_table_becomes_a_section() -> None:
    [found] = cavity(what="final", every=20, **{"from": 100}).output.record
    assert (found.fields, found.what, found.every, found.begin) == (("u",), ("final",), 20, 100)
    found = RecordSection(
        fields="u", where=POINT, file="u.h5", interval="20 ms", **{"from": "1.5 s"}
    )
    assert (found.interval, found.begin, found.what) == (0.02, 1.5, ("raw",))
    assert RecordSection(fields="u", where=POINT, file="u.h5", **{"from": 2.0}).begin == 2.0


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"fields": ["u", "q"]}, r'record\[0\].fields\[1\] = "q": must be p, u, v, w or T'),
        ({"fields": []}, "must not be empty"),
        ({"fields": ["u", "u"]}, "is in the list already"),
        ({"what": ["max", "median"]}, r'what\[1\] = "median": must be "raw", "max", "min"'),
        ({"where": {"kind": "sphere"}}, "must be points, line, plane, box, mask or all"),
        ({"where": {"kind": "points"}}, "give positions or file"),
        ({"where": {**POINT, "method": "quintic"}}, 'must be "nearest", "linear" or "cubic"'),
        ({"where": {"kind": "line", "start": [0, 0, 0], "end": [0, 0, 0], "points": 3}}, "differ"),
        ({"where": {"kind": "box", "low": [0, 0, 1], "high": [1, 1, 0]}}, "must not lie below low"),
        (
            {"where": {**PLANE, "points": [3, 3]}},
            r"record\[0\].where.points = \[3, 3\]: is for plan",
        ),
        ({"where": {"kind": "mask", "indices": []}}, "list of whole numbers from 0 up"),
        ({"where": {"kind": "mask", "indices": [1, -3]}}, "list of whole numbers from 0 up"),
        ({"where": {"kind": "mask", "file": "nowhere.npy"}}, "does not exist"),
        ({"every": 0}, "every = 0: must be at least 1"),
        ({"every": 2, "interval": 1.0}, "give only one of every and interval"),
        ({"interval": 1.0}, "interval = .*: is not for this solver"),
        ({"interval": "1 s"}, 'interval = "1 s": a time has no unit with fluid.kind = "rayleigh"'),
        ({"from": "1 s"}, 'from = "1 s": must be a step for this solver'),
        ({"from": -1}, "from = -1: must be a step from 0 up"),
        ({"from": True}, 'must be a step such as 100, or a time such as "0.5 s"'),
        ({"form": 3}, r"is not a key here \(did you mean \"from\"\?\); keys are: .* from, what"),
        ({"file": "a/u.nc"}, "must be a name that ends in .h5, .nc or .vtkhdf"),
        ({"file": "u.csv"}, "must be a name that ends in"),
        ({"file": "u" * 200 + ".nc"}, "must be at most 180 bytes of printable characters"),
        ({"file": "new\nline.nc"}, "must be at most 180 bytes of printable characters"),
        ({"file": "a\0b.nc"}, "must be at most 180 bytes of printable characters"),
        ({"file": "u.vtkhdf", "where": POINT}, "can be .vtkhdf for what"),
        ({"file": "u.vtkhdf", "what": "max"}, "can be .vtkhdf for what"),
    ],
)
def test_mistakes_are_told_with_what_is_allowed(record: dict[str, Any], told: str) -> None:
    with pytest.raises(CaseError, match=told):
        cavity(**record)


@pytest.mark.parametrize(
    "files",
    [("u.nc", "u.nc"), ("u.nc", "u_statistics.nc"), ("u.nc", "flow.nc"), ("u.nc", "checkpoint.h5")],
)
def test_a_file_is_written_once(files: tuple[str, str]) -> None:
    one = {"fields": ["u"], "where": ALL, "what": ["raw", "max"]}
    records = [{**one, "file": file} for file in files]
    with pytest.raises(CaseError, match=r"record\[1\].file = .*is the name of another file"):
        CavityCase.from_dict({**CAVITY, "output": {"record": records}})


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"where": PLANE}, r"record\[0\].where.points: is required for a plane across elements"),
        (
            {"where": {**PLANE, "points": [3, 3], "stride": 2}},
            "stride = 2: is for planes of a grid",
        ),
        ({"what": "raw"}, "must be final for this solver"),
        ({"where": ALL}, "must be points, line or plane for this solver"),
        ({"fields": "v"}, "must be u"),
    ],
)
def test_a_solver_says_what_can_be_recorded_of_it(record: dict[str, Any], told: str) -> None:
    with pytest.raises(CaseError, match=told):
        poisson(**record)


def test_an_earthquake_refuses_what_it_would_not_record(tiny: Any) -> None:
    def prepared(**record: Any) -> EarthquakeSetup:
        given = {"fields": ["vx"], "where": ALL, "file": "u.nc", **record}
        case = EarthquakeCase.from_dict(tiny(output={"record": [given]}))
        return prepare_earthquake(case)

    with pytest.raises(InputError, match="begins at step 300, but the run has 100 steps"):
        prepared(**{"from": "3 s"})
    outside = {"kind": "points", "positions": [[0, 0, -1]]}
    with pytest.raises(InputError, match=r"z = -1 m of output\.record lies outside"):
        prepared(where=outside)
    less, more = prepared(what="final"), prepared(what=["raw", "max", "rms"], every=7)
    values = 24**3
    assert cost(more).output_bytes - cost(less).output_bytes == (15 + 2 - 1) * values * 4
    # The ring, the largest value, and a sum in double precision; a final value takes no room.
    assert cost(more).memory - cost(less).memory == (2 * (1024 // 7 + 1) * 4 + 4 + 8) * values


# --- schedules ------------------------------------------------------------------------------------


def test_intervals_and_times_become_whole_steps() -> None:
    def schedule(start: float = 0.0, **when: Any) -> Schedule:
        of = RecordSection(fields="u", where=ALL, file="u.nc", **when)
        return Schedule.of(of, 0.1, start=start)

    assert schedule() == Schedule(0, 1, 0.1)
    assert schedule(interval=0.52, **{"from": "1 s"}) == Schedule(10, 5, 0.1)
    assert schedule(interval=0.01, **{"from": 7}) == Schedule(7, 1, 0.1)
    early = schedule(-0.5, **{"from": "-0.2 s"})
    assert early.begin == 3 and list(early.times(range(2))) == pytest.approx([-0.2, -0.1])
    with pytest.raises(InputError, match=r"begins at -0.2 s, but the run starts at 0 s"):
        schedule(**{"from": "-0.2 s"})
    found = schedule(every=4, **{"from": 3})
    assert [found.samples(steps) for steps in (0, 3, 4, 7, 8, 12)] == [0, 0, 1, 1, 2, 3]
    assert found.times(range(1, 3)) == pytest.approx([0.7, 1.1])


def test_what_lies_between_steps_made_at_once_is_refused() -> None:
    of = RecordSection(fields="u", where=ALL, file="u.nc", every=3)
    with pytest.raises(InputError, match="give multiples of 2"):
        Schedule.of(of, None, at_once=2)
    with pytest.raises(InputError, match="give multiples of 2"):
        prepare_cavity(
            CavityCase.from_dict(
                {
                    **CAVITY,
                    "time": {"scheme": "euler", "local": False},
                    "output": {"record": [of.model_dump(by_alias=True)]},
                }
            )
        )


def test_records_take_what_they_say() -> None:
    grid = Grid((4, 5, 6), (1.0, 1.0, 1.0))
    domain = CartesianDomain(Part(grid, (0, 0, 0), (4, 5, 2)), (0.5,) * 3, (0.0,) * 3, (4, 5, 6))
    recording = Recording(domain, {"u": RecordableField("u", "1", "u")}, "float32", 0.1)
    of = RecordSection(fields="u", where=ALL, file="u.nc", what=["raw", "mean", "min"], every=100)
    assert recording.file_bytes([of], 250) == (3 + 2) * np.prod(grid.region) * 4
    assert recording.device_bytes([of]) == 40 * (2 * 11 * 4 + 8 + 4)
