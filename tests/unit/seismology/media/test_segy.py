"""SEG-Y models: values against segyio, positions of traces, rules, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused
from segy_files import read_segy, write_segy

from groundswell.errors import InputError
from groundswell.grids.geography import Geography, from_lonlat
from groundswell.seismology.case.model_files import SegySection
from groundswell.seismology.media.build import build_medium, build_sampled
from groundswell.seismology.media.material import Material
from groundswell.seismology.media.rules import brocher_density, brocher_shear_speed
from groundswell.seismology.media.segy import open_segy_model

CELLS, SPACING = (4, 3, 5), (100.0, 100.0, 20.0)
INLINES, CROSSLINES = range(10, 15), range(100, 116, 3)
RULES = {"vs_rule": "poisson", "rho_rule": "brocher"}
SCALAR, X, Y, UNITS, DELAY = 71, 181, 185, 89, 109
MEASURE, INTERVAL = 3255, 3217


def section(path: Path, **keys: Any) -> SegySection:
    return SegySection(**{"kind": "segy", "file": path, **RULES, **keys})


def planes(medium: Any, cells: Any = CELLS) -> Material:
    found = [medium.plane(k).given() for k in range(cells[2])]
    return Material(
        **{n: np.stack([np.broadcast_to(p[n], cells[1::-1]) for p in found]) for n in found[0]}
    )


def centres() -> Any:
    x, y, z = ((np.arange(n) + 0.5) * h for n, h in zip(CELLS, SPACING, strict=True))
    return np.meshgrid(z, y, x, indexing="ij")


def linear(x: Any, y: Any, z: Any) -> Any:
    """Speeds that interpolation reproduces."""
    return 2000 + 1.5 * np.asarray(x) + 0.7 * np.asarray(y) + 3.0 * np.asarray(z)


def random_speeds(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).uniform(1600, 6000, shape)


@pytest.mark.parametrize("endian", ["big", "little"])
@pytest.mark.parametrize("code", [1, 2, 3, 5, 8])
def test_samples_of_each_format_equal_those_of_segyio(
    tmp_path: Path, code: int, endian: str
) -> None:
    values = random_speeds(code, 5, 6, 17) - 2500
    values = values / 40 if code == 8 else values
    path = write_segy(tmp_path / "a.sgy", values, INLINES, CROSSLINES, code=code, endian=endian)
    every = slice(None)
    found = open_segy_model(section(path, spacing="10 m")).read("vp", every, every, every)
    expected = read_segy(path, endian)
    assert np.array_equal(found, expected.T.reshape(17, 5, 6))
    assert np.abs(expected.reshape(5, 6, 17) - values).max() < 1


def save_volume(folder: Path, to_coordinates: Any, **options: Any) -> Path:
    """A volume of spacings 120, 120 and 25 m that covers the region."""
    x, y = 40.0 * (np.array(CROSSLINES) - 100), 120.0 * (np.array(INLINES) - 10) - 50
    values = linear(x[None, :, None], y[:, None, None], 25.0 * np.arange(12))

    def header(inline: int, crossline: int) -> dict[int, int]:
        east, north = to_coordinates(40.0 * (crossline - 100), 120.0 * (inline - 10) - 50)
        return {SCALAR: -100, X: round(100 * float(east)), Y: round(100 * float(north))}

    return write_segy(
        folder / "volume.sgy", values, INLINES, CROSSLINES, header, {INTERVAL: 25}, **options
    )


def test_a_volume_in_the_coordinates_of_the_region(tmp_path: Path) -> None:
    medium = build_medium(section(save_volume(tmp_path, lambda x, y: (x, y))), CELLS, SPACING)
    z, y, x = centres()
    found, vp = planes(medium), linear(x, y, z)
    assert np.allclose(found.vp, vp, rtol=1e-6)
    assert np.allclose(found.vs, vp / np.sqrt(3), rtol=1e-6)
    assert np.allclose(found.rho, brocher_density(vp), rtol=1e-6)
    assert found.qs is None


@pytest.mark.parametrize(("scalar", "factor"), [(0, 1), (1, 1), (10, 0.1), (-10, 10), (-1000, 1e3)])
def test_scalars_of_coordinates(tmp_path: Path, scalar: int, factor: float) -> None:
    """They multiply if positive, and divide if negative (SEG Y rev 1, bytes 71-72)."""
    values = random_speeds(8, 5, 6, 12)

    def header(inline: int, crossline: int) -> dict[int, int]:
        x, y = 100 * (crossline - 100), 150 * (inline - 10)
        return {SCALAR: scalar, X: round(factor * x), Y: round(factor * y)}

    path = write_segy(tmp_path / "a.sgy", values, INLINES, CROSSLINES, header)
    point = np.array([[600.0, 450.0, 40.0]])
    assert np.allclose(build_sampled(section(path), point).sample(point).vp, values[3, 2, 4])


def test_a_volume_in_a_projection_is_turned(tmp_path: Path) -> None:
    """Coordinates are rounded to 1 cm, so speeds to 0.02 m/s."""
    frame = Geography.from_origin((10.0, 46.0), (400.0, 300.0), 25.0)
    utm = Geography.from_origin((10.0, 46.0), (400.0, 300.0), 0.0, "EPSG:32632")
    origin = np.array(utm.corner)

    def to_utm(x: float, y: float) -> Any:
        return origin + np.array(utm.to_grid(*frame.to_lonlat(x, y)))

    given = section(save_volume(tmp_path, to_utm), projection="EPSG:32632")
    z, y, x = centres()
    found = planes(build_medium(given, CELLS, SPACING, frame))
    assert np.allclose(found.vp, linear(x, y, z), atol=0.1)
    with pytest.raises(InputError, match=r"on a map projection; add \[grid.geography\]"):
        build_medium(given, CELLS, SPACING)


def test_a_volume_with_the_spacing_of_traces(tmp_path: Path) -> None:
    values = random_speeds(4, 5, 6, 12)
    path = write_segy(tmp_path / "a.sgy", values, INLINES, CROSSLINES)
    medium = build_sampled(section(path, spacing=["90 m", "120 m"]), np.zeros((1, 3)))
    points = np.array([[90.0 * 2, 120.0 * 3, 40.0], [450, 480, 110]])
    assert np.allclose(medium.sample(points).vp, [values[3, 2, 4], values[4, 5, 11]])


@pytest.mark.parametrize("in_feet", [False, True])
def test_a_line_is_the_same_across_it(tmp_path: Path, in_feet: bool) -> None:
    """A line from (400, 0) to (0, 300): a point at its middle and one beside it."""
    at = np.linspace(0, 1, 7)
    unit = 0.3048 if in_feet else 1.0

    def header(_: int, crossline: int) -> dict[int, int]:
        share = at[crossline - 1]
        return {
            SCALAR: -1000,
            X: round(1000 / unit * 400 * (1 - share)),
            Y: round(3e5 / unit * share),
        }

    values = 2000 + 3000 * at[None, :, None] + 10.0 * unit * np.arange(30)
    path = write_segy(
        tmp_path / "a.sgy", values, (1,), range(1, 8), header, {MEASURE: 2 if in_feet else 1}
    )
    medium = build_sampled(section(path), np.array([[200.0, 150.0, 20.0]]))
    middle, beside = np.array([200.0, 150.0, 20.0]), np.array([3.0, 4.0, 0]) * 20
    found = medium.sample(np.stack([middle, middle + beside, middle - beside])).vp
    assert np.allclose(found, 2000 + 1500 + 20, atol=0.01)


def test_a_line_in_a_projection(tmp_path: Path) -> None:
    """Along the diagonal of the region, which is turned."""
    frame = Geography.from_origin((10.0, 46.0), (400.0, 300.0), 25.0)
    at = np.linspace(-0.1, 1.1, 7)
    places = np.stack(from_lonlat("EPSG:32632", *frame.to_lonlat(400 * at, 300 * at)), axis=1)

    def header(_: int, crossline: int) -> dict[int, int]:
        x, y = (round(100 * float(of)) for of in places[crossline - 1])
        return {SCALAR: -100, X: x, Y: y}

    values = np.broadcast_to(2000 + 3000 * at[None, :, None], (1, 7, 12))
    path = write_segy(tmp_path / "a.sgy", values, (1,), range(1, 8), header, {INTERVAL: 25})
    medium = build_medium(section(path, projection="EPSG:32632"), (4, 3, 5), SPACING, frame)
    along = (400 * np.array([50, 150, 250, 350]) + 300 * np.array([[50], [150], [250]])) / 250e3
    assert np.allclose(medium.plane(2).vp, 2000 + 3000 * along, atol=1)


def test_a_line_with_the_spacing_of_traces_lies_along_x(tmp_path: Path) -> None:
    values = random_speeds(5, 1, 9, 12)
    path = write_segy(tmp_path / "a.sgy", values, (1,), range(9), lambda i, c: {189: 0, 193: 0})
    found = planes(build_medium(section(path, spacing="50 m"), CELLS, SPACING)).vp
    assert (found == found[:, :1]).all()
    at = np.array([[150.0, 7.0, 30.0], [400.0, -8.0, 110.0]])
    medium = build_sampled(section(path, spacing="50 m"), at)
    assert np.allclose(medium.sample(at).vp, values[0, [3, 8], [3, 11]])


def test_other_files_and_units(tmp_path: Path) -> None:
    vp = random_speeds(6, 5, 6, 12)
    fields = {"vp": vp, "vs": vp / 2, "rho": vp / 3, "qp": vp / 10, "qs": vp / 20}
    scales = {"vp": 1e-3, "vs": 1e-3, "rho": 1e-3}
    paths = {
        n: write_segy(tmp_path / f"{n}.sgy", v * scales.get(n, 1), INLINES, CROSSLINES)
        for n, v in fields.items()
    }
    units = {"vp": "km/s", "vs": "km/s", "rho": "g/cm^3"}
    others = {n: path for n, path in paths.items() if n != "vp"}
    given = SegySection(kind="segy", file=paths["vp"], files=others, units=units, spacing="100 m")
    found = build_sampled(given, np.zeros((1, 3))).sample(np.array([[100.0, 300.0, 50.0]]))
    for name, values in found.given().items():
        assert np.allclose(values, fields[name][3, 1, 5], rtol=1e-6)


def test_water_and_rules(tmp_path: Path) -> None:
    values = np.full((5, 6, 12), 1490.0)
    values[..., 5:] = 3000.0
    path = write_segy(tmp_path / "a.sgy", values, INLINES, CROSSLINES)
    keys = {"vs_rule": "brocher", "rho_rule": "brocher", "q_rule": "awp", "spacing": "100 m"}
    water = {"vp": "1500 m/s", "rho": "1025 kg/m^3"}
    medium = build_sampled(section(path, **keys, water=water), np.zeros((1, 3)))
    found = medium.sample(np.array([[100.0, 100.0, 44.0], [100, 100, 46]]))
    rock = np.array([3000.0])
    assert np.allclose(found.vp, [1490, 3000])
    assert np.allclose(found.vs, [0, brocher_shear_speed(rock)[0]])
    assert np.allclose(found.rho, [1025, brocher_density(rock)[0]])
    assert found.qp is not None and np.allclose(found.qp, [10_000, found.vs[1] / 10])
    fluid = build_sampled(
        section(path, vs_rule="fluid", rho_rule=None, files={"rho": path}, spacing="100 m"),
        np.zeros((1, 3)),
    )
    assert (fluid.sample(np.array([[1.0, 1.0, 90.0]])).vs == 0).all()
    with pytest.raises(InputError, match=r"vp = 1490 m/s; give vs in the model, or, .* water"):
        build_medium(section(path, **keys), CELLS, SPACING).plane(0)


def test_brocher_speeds() -> None:
    """Table of Brocher (2005): 6 km/s goes with 3.55 km/s."""
    assert brocher_shear_speed(np.array([6000.0]))[0] == pytest.approx(3549, abs=1)


def coordinates(x: int, y: int) -> Any:
    return lambda inline, crossline: {X: x * crossline, Y: y * inline}


@pytest.mark.parametrize(
    ("options", "keys", "message"),
    [
        ({"binary": {INTERVAL: 4000}}, {"spacing": 100}, "4000 in the header, which looks like"),
        ({"binary": {INTERVAL: 0}}, {"spacing": 100}, "0 in the header"),
        ({}, {}, "do not fit their inline and crossline numbers; .* medium.spacing"),
        ({"header": lambda i, c: {X: 7 * c * c, Y: 99 * i}}, {}, "do not fit"),
        ({"header": lambda i, c: {X: c, Y: i, UNITS: 2}}, {}, "are angles"),
        ({"header": lambda i, c: {DELAY: 40}}, {"spacing": 100}, "medium.top"),
        ({"header": lambda i, c: {189: min(i, 13)}}, {"spacing": 100}, "30 traces do not form a"),
        ({}, {"spacing": 10}, r"covers y from 0 to 40 and .* \(m\); shrink"),
        ({}, {"spacing": 100, "units": {"vp": "furlong"}}, "unit 'furlong'"),
        ({}, {"spacing": 100, "units": {"vp": "km/s"}}, "is the model in cm/s"),
        ({}, {"spacing": 100, "vs_rule": None}, r"no variable vs .*medium.files, or use a rule"),
        ({"header": lambda i, c: {X: 400000 + c, Y: i}}, {}, r"\(line numbers\);.*projection"),
        ({"header": lambda i, c: {189: 0, 193: 0, X: c, Y: i}}, {}, "a straight line.*volume"),
        ({"header": lambda i, c: {189: 0, 193: 0, X: c, Y: i}}, {"spacing": 9}, "which turn back"),
        ({"header": lambda i, c: {189: 0, 193: 0}}, {"spacing": [9, 9]}, "all 30 traces are one"),
        ({}, {"projection": "EPSG:4326"}, "is not a map projection"),
        ({}, {"spacing": 100, "interval": "1 m"}, "covers depth from 0 to 11"),
    ],
)
def test_refusals(tmp_path: Path, options: Any, keys: Any, message: str) -> None:
    path = write_segy(
        tmp_path / "a.sgy", random_speeds(7, 5, 6, 12), INLINES, CROSSLINES, **options
    )
    with pytest.raises(InputError, match=message):
        planes(build_medium(section(path, **keys), CELLS, SPACING))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"spacing": 5, "projection": "EPSG:32632"}, "projection.*spacing replaces"),
        ({"vs_rule": None, "rho_rule": None, "water": {"vp": 1500}}, "water.*completes rules"),
        ({"spacing": [1, 2, 3]}, "spacing.*one distance, or two"),
        ({"bytes": {"x": 239}}, "bytes.x.*at most 237"),
    ],
)
def test_refused_keys(tmp_path: Path, keys: Any, message: str) -> None:
    path = write_segy(tmp_path / "a.sgy", random_speeds(7, 5, 6, 12), INLINES, CROSSLINES)
    with pytest.raises(InputError, match=message):
        section(path, **keys)
    with pytest.raises(InputError, match=r"files.rho.*by the rule 'brocher'"):
        section(path, files={"rho": path})


@pytest.mark.parametrize("text", [False, True])
def test_mutants(tmp_path: Path, text: bool) -> None:
    path = save_volume(tmp_path, lambda x, y: (x, y), code=1)
    content = path.read_bytes()
    headers = bytearray(content)
    if text:  # defects in headers only: most bytes are samples
        content = bytes(headers[3200 : 3600 + 240])

    def read(mutant: Path) -> None:
        if text:
            mutant.write_bytes(bytes(3200) + mutant.read_bytes() + bytes(headers[3840:]))
        build_medium(section(mutant), CELLS, SPACING).plane(2)

    assert count_refused(read, path, content, range(100)) > 20
