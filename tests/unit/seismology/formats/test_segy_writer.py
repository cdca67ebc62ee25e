"""SEG-Y files as segyio and ObsPy read them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from result_files import Site

from groundswell.errors import InputError
from groundswell.seismology.formats import segy_writer as segy_format
from groundswell.seismology.formats.segy_writer import write_segy
from groundswell.seismology.formats.seismograms import (
    PRESSURE,
    VELOCITY,
    ReceiverQuantity,
    SeismogramWriter,
    read_seismograms,
)
from groundswell.seismology.motion import radial_transverse

rng = np.random.default_rng(91)
ATTRS = {
    "title": "Line 7 <æ>",
    "event_x": 1234.567,
    "event_y": 100.0,
    "event_depth": 6.25,
    "reference_time": "2026-02-03T04:05:06.500000Z",
}
SITES = [
    Site("", f"H{n}", (x, 100.0, depth))
    for n, (x, depth) in enumerate(((1300.25, 12.0), (1200.0, 12.5), (2234.567, 300.0)))
]


def gather(
    folder: Path, quantity: ReceiverQuantity = PRESSURE, sites: Any = SITES, **options: Any
) -> xarray.DataArray:
    block = rng.normal(size=(50, len(SITES), len(quantity.components))).astype("f4")
    options = {"interval": 0.004, "attrs": ATTRS, "start": -0.012, **options}
    with SeismogramWriter(folder / "file.h5", sites, quantity=quantity, **options) as writer:
        writer.append(block)
    return read_seismograms(folder / "file.h5", quantity)


def test_segyio_reads_headers_and_samples(tmp_path: Path) -> None:
    segyio = pytest.importorskip("segyio", reason="needs segyio")
    array = gather(tmp_path)
    path = write_segy(array, tmp_path / "pressure.segy", shot=17)
    with segyio.open(path, ignore_geometry=True) as file:
        assert np.array_equal(file.trace.raw[:], array.values[:, 0])
        assert file.samples == pytest.approx(array["time"].values * 1e3)
        fields, binary = segyio.TraceField, segyio.BinField
        assert file.bin[binary.Format] == 5 and file.bin[binary.SEGYRevision] == 1
        assert file.bin[binary.Interval] == 4000 and file.bin[binary.Samples] == 50
        assert file.bin[binary.Traces] == 3 and file.bin[binary.MeasurementSystem] == 1
        assert file.bin[binary.TraceFlag] == 1 and file.bin[binary.ImpulseSignalPolarity] == 2
        expected = {
            fields.FieldRecord: [17] * 3,
            fields.EnergySourcePoint: [17] * 3,
            fields.TraceNumber: [1, 2, 3],
            fields.TRACE_SEQUENCE_FILE: [1, 2, 3],
            fields.TraceIdentificationCode: [11] * 3,
            fields.offset: [66, -35, 1000],
            fields.SourceX: [1234567] * 3,
            fields.GroupX: [1300250, 1200000, 2234567],
            fields.GroupY: [100000] * 3,
            fields.SourceGroupScalar: [-1000] * 3,
            fields.SourceDepth: [6250] * 3,
            fields.ReceiverGroupElevation: [-12000, -12500, -300000],
            fields.ElevationScalar: [-1000] * 3,
            fields.CoordinateUnits: [1] * 3,
            fields.DelayRecordingTime: [-12000] * 3,
            fields.ScalarTraceHeader: [-1000] * 3,
            fields.TRACE_SAMPLE_COUNT: [50] * 3,
            fields.TRACE_SAMPLE_INTERVAL: [4000] * 3,
            fields.YearDataRecorded: [2026] * 3,
            fields.DayOfYear: [34] * 3,
            fields.SecondOfMinute: [6] * 3,
            fields.TimeBaseCode: [4] * 3,
            fields.TraceValueMeasurementUnit: [1] * 3,
        }
        for field, values in expected.items():
            assert file.attributes(field)[:].tolist() == values, field
        text = bytes(file.text[0]).decode("ascii", errors="replace")
    cards = [text[n : n + 80] for n in range(0, 3200, 80)]
    assert cards[0].startswith("C 1 SYNTHETIC SEISMOGRAMS BY GROUNDSWELL: Line 7")
    assert cards[1].startswith("C 2 PRESSURE IN Pa, COMPONENTS H")
    for quantity in (PRESSURE, VELOCITY):
        lines = [*segy_format._sentences(gather(tmp_path, quantity), 17, 4000)]
        assert max(map(len, lines)) <= 76
    assert cards[38].startswith("C39 SEG Y REV1") and cards[39].startswith("C40 END TEXTUAL")


def test_a_geographic_survey_has_longitudes_latitudes_and_depths_of_water(tmp_path: Path) -> None:
    """Seconds of arc, of which a thousandth is 3 cm, as segyio reads them."""
    segyio = pytest.importorskip("segyio", reason="needs segyio")
    fields = segyio.TraceField
    longitudes, latitudes = [-118.123456, -118.2, 179.9999999], [34.0, -34.654321, 0.0]
    depths = [12.5, 0.0, 4321.1]
    sites = [
        replace(site, longitude=longitude, latitude=latitude, water_depth=depth)
        for site, longitude, latitude, depth in zip(
            SITES, longitudes, latitudes, depths, strict=True
        )
    ]
    source = {"event_longitude": -118.5, "event_latitude": 33.75, "event_water_depth": 80.04}
    array = gather(tmp_path, sites=sites, attrs={**ATTRS, **source})
    path = write_segy(array, tmp_path / "pressure.segy")
    with segyio.open(path, ignore_geometry=True) as file:
        found = {field: file.attributes(field)[:].astype(float) for field in (
            fields.CoordinateUnits, fields.SourceGroupScalar, fields.ElevationScalar,
            fields.SourceX, fields.SourceY, fields.GroupX, fields.GroupY, fields.offset,
            fields.SourceWaterDepth, fields.GroupWaterDepth, fields.SourceDepth,
        )}  # fmt: skip
        text = bytes(file.text[0]).decode("ascii", errors="replace")
    assert set(found[fields.CoordinateUnits]) == {2} and "SECONDS OF ARC" in text
    assert set(found[fields.SourceGroupScalar]) == set(found[fields.ElevationScalar]) == {-1000}
    degrees = {fields.SourceX: -118.5, fields.SourceY: 33.75}
    degrees |= {fields.GroupX: longitudes, fields.GroupY: latitudes}
    for field, values in degrees.items():
        assert np.allclose(found[field] / 3.6e6, values, rtol=0, atol=0.5 / 3.6e6)
    assert np.allclose(found[fields.SourceWaterDepth] / 1000, 80.04)
    assert np.allclose(found[fields.GroupWaterDepth] / 1000, depths)
    assert np.allclose(found[fields.SourceDepth] / 1000, 6.25)
    assert found[fields.offset].tolist() == [66, -35, 1000]


@pytest.mark.parametrize("frame", ["ZNE", "ZRT"])
def test_obspy_reads_components(tmp_path: Path, frame: str) -> None:
    segy = pytest.importorskip("obspy.io.segy.segy")
    array = gather(tmp_path, VELOCITY, start=0.0)
    array = radial_transverse(array) if frame == "ZRT" else array
    write_segy(array, tmp_path / "velocity.segy")
    file = segy._read_segy(str(tmp_path / "velocity.segy"))
    headers = [trace.header for trace in file.traces]
    kinds = [each.trace_identification_code for each in headers]
    assert kinds == ([14, 13, 12] if frame == "ZNE" else [17, 16, 12]) * 3
    assert [each.trace_value_measurement_unit for each in headers] == [6] * 9
    assert [each.trace_number_within_the_original_field_record for each in headers] == [
        *range(1, 10)
    ]
    for trace, values in zip(file.traces, array.values.reshape(9, -1), strict=True):
        assert np.array_equal(trace.data, values.astype("f4"))


def test_long_lines_and_times_have_coarser_scalars(tmp_path: Path) -> None:
    segy = pytest.importorskip("obspy.io.segy.segy")
    attrs = {**ATTRS, "event_x": 5.4e6}
    write_segy(gather(tmp_path, attrs=attrs, start=1.5), tmp_path / "far.segy")
    header = segy._read_segy(str(tmp_path / "far.segy")).traces[0].header
    assert header.scalar_to_be_applied_to_all_coordinates == -100
    assert header.source_coordinate_x == 540_000_000 and header.delay_recording_time == 15000
    assert header.scalar_to_be_applied_to_times == -10


@pytest.mark.parametrize(
    ("interval", "samples", "message"),
    [
        (0.0041387001, 50, "whole number of microseconds, and that of the seismograms is 0.00413"),
        (0.04, 50, "at most 0.032767 s"),
        (0.001, 40_000, "at most 32767 samples per trace, and the seismograms have 40000"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(
    tmp_path: Path, interval: float, samples: int, message: str
) -> None:
    array = gather(tmp_path, interval=interval)
    long = array.isel(time=np.zeros(samples, int)).assign_coords(time=interval * np.arange(samples))
    with pytest.raises(InputError, match=message):
        write_segy(long, tmp_path / "none.segy")
    assert not (tmp_path / "none.segy").exists()
