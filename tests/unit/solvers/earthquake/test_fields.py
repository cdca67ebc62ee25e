"""`Result.fields` and `Result.records` of earthquakes: values, places, units, refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from groundswell.errors import InputError
from groundswell.simulation.result import Result
from groundswell.simulation.run import run
from groundswell.solvers.earthquake import EarthquakeCase

FIELDS = ["vz", "vx", "vy", "sxz", "szz"]
STEPS, EVERY = 20, 8
ALL = {"fields": FIELDS, "where": {"kind": "all", "stride": 3}, "every": EVERY}
PLANE = {"fields": ["vy"], "where": {"kind": "plane", "normal": "y", "at": 1000.0}}
BOX = {"fields": ["szz", "vx"], "where": {"kind": "box", "low": [450, 200, 0], "high": [1900] * 3}}


@pytest.fixture(scope="module")
def recorded(
    tiny: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Result]:
    """Run the tiny case in double precision with such records."""

    def record(**output: Any) -> Result:
        short = {"duration": f"{STEPS * 10} ms"}
        content = tiny(time=short, run={"precision": "double"}) | {"output": output}
        return run(EarthquakeCase.from_dict(content), folder=tmp_path_factory.mktemp("results"))

    return record


@pytest.fixture(scope="module")
def result(recorded: Callable[..., Result]) -> Result:
    volumes = {"interval": f"{EVERY * 10} ms", "stride": 3, "fields": FIELDS}
    box = BOX | {"every": EVERY}
    files = {"all.nc": ALL, "plane.h5": PLANE, "box.nc": box, "box.vtkhdf": box}
    return recorded(
        volumes=volumes, record=[{**table, "file": name} for name, table in files.items()]
    )


def assert_same(found: xarray.Dataset, expected: xarray.Dataset) -> None:
    """The same values, places and units; the two formats order fields and attributes as they do."""
    assert set(found.data_vars) == set(expected.data_vars)
    for name, values in expected.data_vars.items():
        axes = zip("zyx", values.dims[1:], found[name].dims[1:], strict=True)
        for axis, theirs, ours in axes:
            assert str(ours).partition("_")[0] == axis
            assert found[ours].values == pytest.approx(expected[theirs].values, abs=1e-9)
            assert found[ours].attrs == expected[theirs].attrs
        assert found["time"].values == pytest.approx(expected["time"].values)
        assert found[name].dtype == np.float64 and np.array_equal(found[name], values)
        assert found[name].attrs["units"] == values.attrs["units"]
        assert found[name].attrs["long_name"] == values.attrs["long_name"]


def test_snapshots_are_what_a_record_of_all_cells_has(result: Result) -> None:
    """Two formats, one of which turns z over, hold the same values in the same places."""
    assert result.fields is not None and set(result.fields.data_vars) == set(FIELDS)
    assert_same(result.fields, result.records["all.nc"])
    assert np.abs(result.fields["szz"]).max() > 0


def test_images_of_a_box_are_what_its_other_file_has(result: Result) -> None:
    assert_same(result.records["box.vtkhdf"], result.records["box.nc"])


def test_staggered_fields_have_places_of_their_own(result: Result) -> None:
    fields = result.fields
    x, z = (fields["szz"][fields["szz"].dims[n]] for n in (3, 1))
    assert x.values == pytest.approx(300 * np.arange(8) + 50)
    assert z.values == pytest.approx(300 * np.arange(8) + 50)
    assert fields["vx"][fields["vx"].dims[3]].values == pytest.approx(300 * np.arange(8))
    assert fields["vz"][fields["vz"].dims[1]].values == pytest.approx(300 * np.arange(8))
    assert z.attrs == {"units": "m", "axis": "Z", "positive": "down"}
    assert fields["time"].attrs["units"] == "s" and fields.attrs["title"] == "tiny"


def test_values_are_read_when_they_are_used(result: Result) -> None:
    result = Result(result.folder)  # whose files nobody has read
    for name in ("volumes.vtkhdf", "all.nc", "plane.h5"):
        for array in result.records[name].data_vars.values():
            assert not array.variable._in_memory, name
    vz = result.fields["vz"]
    whole = vz.values
    assert np.array_equal(vz[1:, 6:1:-2, 3], whole[1:, 6:1:-2, 3])
    assert np.array_equal(vz[-1, ..., [5, 0, 2]], whole[-1][..., [5, 0, 2]])


def test_a_folder_may_be_text(result: Result) -> None:
    opened = Result(str(result.folder))  # type: ignore[arg-type]
    assert opened == result
    assert opened.fields.equals(result.fields)


def test_the_only_record_is_the_fields(recorded: Callable[..., Result]) -> None:
    final = {"fields": ["vx"], "where": {"kind": "all"}, "what": "final", "file": "end.nc"}
    result = recorded(record=[final])
    assert list(result.records) == ["end.nc"]
    assert result.fields["vx_final"].shape == (24, 24, 24)
    assert result.fields["vx_final"].attrs["units"] == "m s-1"


def test_without_records_the_error_names_the_keys(recorded: Callable[..., Result]) -> None:
    result = recorded()
    told = r"no recorded fields; run the case with output.volumes .* or output.record"
    for name in ("fields", "records"):
        with pytest.raises(InputError, match=told):
            getattr(result, name)


def test_several_records_need_a_choice(recorded: Callable[..., Result]) -> None:
    result = recorded(record=[{**PLANE, "file": name} for name in ("a.nc", "b.nc")])
    with pytest.raises(InputError, match=r"a.nc, b.nc; .*result.records\['a.nc'\]"):
        _ = result.fields
    assert result.records["b.nc"]["vy"].dims == ("time", "z", "x")


def test_a_damaged_file_is_refused(recorded: Callable[..., Result], tmp_path: Path) -> None:
    result = recorded(volumes={"interval": "0.1 s"})
    (result.folder / "volumes.vtkhdf").write_bytes(b"not HDF5")
    with pytest.raises(InputError, match=r"volumes\.vtkhdf cannot be read as VTKHDF images"):
        _ = result.fields
