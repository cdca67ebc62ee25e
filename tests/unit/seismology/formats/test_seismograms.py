"""Seismograms: what is stored, and where files may break."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from seismogram_files import EVENT, SITES, Site, noise, write

from groundswell.errors import InputError
from groundswell.seismology.case.outputs import SeismogramOutput
from groundswell.seismology.formats.export import export_seismograms
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    SeismogramWriter,
    east_north_up,
    read_seismograms,
)

SECTION = SeismogramOutput(formats=("sac", "mseed"))

# --- the file ------------------------------------------------------------------------------------


def test_xarray_opens_it_with_names_and_coordinates(tmp_path: Path) -> None:
    block = noise()
    path = write(tmp_path / "seismograms.h5", block)
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        velocity = dataset["velocity"].load()
    assert velocity.dims == ("station", "component", "time")
    assert velocity.attrs["units"] == "m s-1"
    assert velocity["station"].values.tolist() == ["CI.OLI", "CI.WLT", "Q1"]
    assert velocity["code"].values.tolist() == ["OLI", "WLT", "Q1"]
    assert velocity["component"].values.tolist() == ["E", "N", "Z"]
    assert np.allclose(velocity["time"], 0.02 * np.arange(60), rtol=0, atol=1e-12)
    for axis, name in enumerate(("x", "y", "depth")):
        assert velocity[name].values.tolist() == [s.position[axis] for s in SITES]
    assert velocity["longitude"].values.tolist() == [s.longitude for s in SITES]
    assert velocity["latitude"].attrs["units"] == "degrees_north"
    assert np.array_equal(velocity.sel(station="CI.WLT", component="N"), block[:, 1, 1])
    assert np.array_equal(velocity.sel(station="Q1", component="Z"), -block[:, 2, 2])
    assert velocity.dtype == np.float32


@pytest.mark.parametrize("azimuth", [0.0, 90.0, 30.0, -123.4])
def test_components_are_true_east_and_north_on_a_turned_grid(
    tmp_path: Path, azimuth: float
) -> None:
    block = noise().astype("f8")
    attrs = {**EVENT, "azimuth": azimuth}
    array = read_seismograms(write(tmp_path / "s.h5", block, attrs=attrs, dtype="f8"))
    # The grid turned clockwise by the azimuth: as a complex number x + iy, times exp(-i azimuth).
    turned = (block[..., 0] + 1j * block[..., 1]) * np.exp(-1j * np.radians(azimuth))
    found = array.transpose("time", "station", "component").values
    assert np.allclose(found[..., 0], turned.real, rtol=0, atol=1e-14)
    assert np.allclose(found[..., 1], turned.imag, rtol=0, atol=1e-14)
    assert np.array_equal(found[..., 2], -block[..., 2])
    assert array.attrs["azimuth"] == azimuth


def test_the_y_axis_points_to_the_azimuth() -> None:
    along_y = np.array([0.0, 1.0, 0.0])
    assert np.allclose(east_north_up(along_y, 90.0, axis=0), [1, 0, 0])  # east
    assert np.allclose(east_north_up(along_y, 180.0, axis=0), [0, -1, 0])  # south


def test_without_a_turn_values_are_kept_bit_for_bit() -> None:
    block = np.array([1.5, np.nan, -0.0], np.float32)
    found = east_north_up(block, 0.0, axis=0)
    assert found.dtype == np.float32
    assert found.tobytes() == np.array([1.5, np.nan, 0.0], np.float32).tobytes()


def test_without_geography_there_is_no_longitude(tmp_path: Path) -> None:
    sites = [Site("A", "B", (1.0, 2.0, 3.0))]
    array = read_seismograms(write(tmp_path / "s.h5", noise(stations=1), stations=sites))
    assert "longitude" not in array.coords
    assert array["y"].item() == 2.0


def test_many_stations_in_many_blocks(tmp_path: Path) -> None:
    sites = [Site("N", f"S{i}", (float(i), 0.0, 0.0)) for i in range(101)]
    block = noise(1300, 101)
    path = tmp_path / "s.h5"
    with SeismogramWriter(path, sites, interval=0.1) as writer:
        for piece in np.split(block, [1, 2, 500, 513, 1100]):
            writer.append(piece)
    found = read_seismograms(path)
    assert np.array_equal(found.values[:, :2], block.transpose(1, 2, 0)[:, :2])
    assert path.stat().st_size < 2.0 * block.nbytes


def test_a_restart_continues_where_the_checkpoint_was(tmp_path: Path) -> None:
    block = noise(100)
    path = tmp_path / "s.h5"
    writer = SeismogramWriter(path, SITES, interval=0.02, attrs=EVENT)
    writer.append(block[:70])
    writer.sync()
    writer.close()  # the run ends here
    with SeismogramWriter(path, SITES, interval=0.02, attrs=EVENT, resume=40) as writer:
        writer.append(block[40:])
    whole_run = read_seismograms(write(tmp_path / "whole.h5", block))
    assert whole_run.identical(read_seismograms(path))


def test_a_restart_with_other_stations_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.h5", noise())
    with pytest.raises(InputError, match=r"has other stations \(CI.OLI, CI.WLT, Q1\)"):
        SeismogramWriter(path, SITES[::-1], interval=0.02, resume=10)


# --- pressure -------------------------------------------------------------------------------------


@pytest.fixture
def pressure(tmp_path: Path) -> xarray.DataArray:
    attrs = {**EVENT, "azimuth": 30.0}
    path = write(tmp_path / "p.h5", noise()[..., :1], attrs=attrs, quantity=PRESSURE)
    return read_seismograms(path, PRESSURE)


def test_pressure_has_one_component_in_pascals(tmp_path: Path) -> None:
    block = noise()[..., :1]
    path = write(tmp_path / "p.h5", block, attrs={**EVENT, "azimuth": 30.0}, quantity=PRESSURE)
    found = read_seismograms(path, PRESSURE)
    assert found.name == "pressure" and found.attrs["units"] == "Pa"
    assert found["component"].values.tolist() == ["H"]
    assert found["kind"].values.tolist() == ["hydrophone"] * 3
    assert np.array_equal(found.transpose("time", "station", "component"), block)
    with pytest.raises(InputError, match="lacks velocity"):
        read_seismograms(path)


def test_channels_of_pressure_are_those_of_a_hydrophone(
    pressure: xarray.DataArray, tmp_path: Path
) -> None:
    import obspy
    from obspy.io.sac import SACTrace

    velocity = read_seismograms(write(tmp_path / "v.h5", noise()))
    files = export_seismograms([velocity, pressure], SECTION, tmp_path)
    assert len(files) == 3 * 4 + 1
    stream = obspy.read(str(tmp_path / "seismograms.mseed"))
    assert sorted({trace.stats.channel for trace in stream}) == ["BDH", "BHE", "BHN", "BHZ"]
    (trace,) = stream.select(station="WLT", channel="BDH")
    assert np.array_equal(trace.data, pressure.sel(station="CI.WLT", component="H"))
    sac = SACTrace.read(str(tmp_path / "sac" / "CI.WLT..BDH.sac"))
    assert np.array_equal(sac.data, trace.data)
    assert (sac.idep, sac.kuser0, sac.cmpaz, sac.stdp) == ("iunkn", "Pa", None, 12)


# --- reading -------------------------------------------------------------------------------------


def test_a_missing_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_seismograms(tmp_path / "none.h5")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_truncated_file_is_bad_input(tmp_path: Path, share: float) -> None:
    path = tmp_path / "s.h5"
    if not path.exists():
        write(path, noise())
    content = path.read_bytes()
    cut = tmp_path / "cut.h5"
    cut.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match="cannot be read as NetCDF: "):
        read_seismograms(cut)


def test_another_kind_of_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "text.h5").write_text("time velocity\n0 0\n")
    with pytest.raises(InputError, match="cannot be read as NetCDF: "):
        read_seismograms(tmp_path / "text.h5")
    xarray.Dataset({"other": ("x", [1.0])}).to_netcdf(tmp_path / "o.h5", engine="h5netcdf")
    with pytest.raises(InputError, match="lacks velocity, station"):
        read_seismograms(tmp_path / "o.h5")


# --- the formats of seismology -------------------------------------------------------------------


@pytest.fixture
def array(tmp_path: Path) -> xarray.DataArray:
    pytest.importorskip("obspy")
    return read_seismograms(write(tmp_path / "s.h5", noise(110)))[:, :, 50:]
