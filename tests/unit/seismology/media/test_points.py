"""Models with one line for each point: SPECFEM, UCVM and other columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import count_refused

from groundswell.errors import InputError
from groundswell.grids.geography import Geography, from_lonlat
from groundswell.seismology.case.model_files import ColumnsSection, SpecfemSection
from groundswell.seismology.media.build import build_medium
from groundswell.seismology.media.models import open_model

CELLS, SPACING = (4, 3, 5), (100.0, 100.0, 20.0)
X, Y, DEPTH = np.array([-50.0, 70, 450]), np.array([0.0, 140, 300, 301]), np.arange(0, 150.0, 30)
PROPERTIES = ("vp", "vs", "rho", "qp", "qs")
UTM = "EPSG:32611"


def grid() -> Any:
    """Coordinates of the points, with x fastest, and random properties, (5, points)."""
    z, y, x = np.meshgrid(DEPTH, Y, X, indexing="ij")
    rng = np.random.default_rng(3)
    limits = [(3000, 6000), (500, 1700), (2000, 3000), (100, 200), (50, 100)]
    values = [rng.uniform(*of, x.size).round(2) for of in limits]
    return np.stack([x.ravel(), y.ravel(), z.ravel()]), np.stack(values)


POINTS, VALUES = grid()


def lines(*columns: Any) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def specfem(folder: Path, count: int = 5, header: str = "") -> Path:
    """A model as SPECFEM3D reads it: z upwards, from the bottom."""
    x, y, z = POINTS[:, ::-1]
    path = folder / "tomography_model.xyz"
    ends = f"{X[0]} {Y[0]} {-DEPTH[-1]} {X[-1]} {Y[-1]} {-DEPTH[0]}\n"
    counts = header or f"{len(X)} {len(Y)} {len(DEPTH)}\n"
    limits = " ".join(f"{of.min()} {of.max()}" for of in VALUES[:3])
    points = lines(x, y, -z, *VALUES[:count, ::-1])
    path.write_text(f"# a model\n{ends}120. 150. 30.\n\n{counts}{limits}\n{points}")
    return path


def columns(folder: Path, text: str, **keys: Any) -> ColumnsSection:
    path = folder / "model.txt"
    path.write_text(text)
    return ColumnsSection(kind="columns", file=path, **keys)


def assert_model(section: Any, count: int = 3, geography: Any = None, tolerance: float = 0) -> None:
    """The values at all nodes, whose positions are those of the region."""
    found = open_model(section)
    z, y, x = found.grid.nodes
    depth, across = POINTS[2], found.grid.locate(POINTS[0], POINTS[1], geography)
    k, j, i = (
        np.abs(n[:, None] - at).argmin(0) for n, at in ((z, depth), (y, across[1]), (x, across[0]))
    )
    assert (len(z), len(y), len(x)) == (len(DEPTH), len(Y), len(X))
    assert np.abs(x[i] - across[0]).max() <= tolerance and np.abs(z[k] - depth).max() == 0
    every = (slice(None),) * 3
    values = found.read(found.roles, *every)
    assert list(values) == list(PROPERTIES[:count])
    for name, expected in zip(PROPERTIES, VALUES, strict=False):
        if name in values:
            assert np.allclose(values[name][k, j, i], expected, rtol=1e-12)


@pytest.mark.parametrize("count", [3, 5])
def test_models_of_specfem(tmp_path: Path, count: int) -> None:
    section = SpecfemSection(kind="specfem", file=specfem(tmp_path, count))
    assert_model(section, count)
    medium = build_medium(section, CELLS, SPACING)
    assert medium.plane(4).vp.shape == (3, 4)


def test_coordinates_of_a_projection(tmp_path: Path) -> None:
    """The region is turned, and so are its cells in the model."""
    size = (400.0, 300.0)
    frame = Geography.from_origin((-118.0, 34.0), size, 0.0, UTM)
    east, north = from_lonlat(UTM, *frame.to_lonlat(0.0, 0.0))
    x, y, z = POINTS
    text = "x y elevation vp vs rho\n" + lines(x + east, y + north, -z, *VALUES[:3])
    section = columns(tmp_path, text, projection=UTM)
    assert_model(section, 3, frame, 1e-3)
    with pytest.raises(InputError, match=r"on a map projection; add \[grid.geography\]"):
        build_medium(section, CELLS, SPACING)
    without = columns(tmp_path, text)
    with pytest.raises(InputError, match=r"covers y .* \(m\); .*; for coordinates of a map, give"):
        build_medium(without, CELLS, SPACING)


def test_the_corner_of_the_region_in_a_model(tmp_path: Path) -> None:
    x, y, z = POINTS
    text = "# x(km), y(km), depth(km), vp(km/s), vs, density(g/cm^3)\n"
    rows = lines((x - 7000) / 1e3, (y + 300) / 1e3, z / 1e3, *VALUES[:3] / 1e3).replace(" ", ",")
    section = columns(tmp_path, text + rows, corner=["-7 km", "300 m"])
    assert_model(section, 3, tolerance=1e-9)


def ucvm(values: Any = VALUES) -> str:
    """The output of `ucvm_query`: seventeen columns, of which the last three are the model."""
    lon, lat = -118 + 1e-4 * POINTS[0], 34 + 1e-4 * POINTS[1]
    middle = "  280.896  390.000  cvmsi  1.0 2.0 3.0  none 0.000 0.000 0.000  crust "
    rows = zip(lon, lat, POINTS[2], values[0], values[1], values[2], strict=True)
    return "".join(
        f" {a:.4f} {b:.4f} {z:.3f} {middle} {p:.3f} {s:.3f} {r:.3f}\n" for a, b, z, p, s, r in rows
    )


class Plain:
    """A stand-in for geography, with a degree of 10 km."""

    def to_lonlat(self, x: Any, y: Any) -> Any:
        return -118 + 1e-4 * x, 34 + 1e-4 * y


def test_the_output_of_ucvm(tmp_path: Path) -> None:
    """Its coordinates have four digits: 1e-4 degrees, here 1 m."""
    x, y, z = POINTS
    assert_model(columns(tmp_path, ucvm()), 3, Plain(), 1e-4)
    text = lines(-118 + x / 1e4, 34 + y / 1e4, z, *VALUES[:3])
    names = ["lon", "lat", "depth", "vp", "vs", "rho"]
    assert_model(columns(tmp_path, text, columns=names), 3, Plain(), 1e-9)
    assert_model(columns(tmp_path, "longitude latitude depth vp vs rho\n" + text), 3, Plain(), 1e-9)
    skipped = lines(z, *VALUES[:3], ["rock"] * len(x), y, x)
    names = ["depth", "vp", "vs", "rho", "-", "y", "x"]
    assert_model(columns(tmp_path, skipped, columns=names))


HEAD = "x y depth vp vs rho\n"
TEXT = HEAD + lines(*POINTS, *VALUES[:3])


@pytest.mark.parametrize(
    ("text", "keys", "message"),
    [
        ("", {}, "has no points"),
        (lines(*POINTS, *VALUES[:3]), {}, "line 1: 6 values for 0 names .* medium.columns, such"),
        (
            HEAD + lines(*POINTS[:, 1:], *VALUES[:3, 1:]),
            {},
            r"59 points do not form a full grid: .*3 of x",
        ),
        (TEXT + "0 0 0 1 1 1\n", {}, "61 points do not form a full"),
        (TEXT + "0 0 0 1\n", {}, "cannot be read as columns of num"),
        (TEXT.replace("450.0", "a", 1), {}, "cannot be read.*'a'"),
        (TEXT.replace("450.0", "nan", 1), {}, "point 3 has x = nan"),
        (HEAD.replace("depth", "z") + lines(*POINTS, *VALUES[:3]), {}, "column 'z' is unknown"),
        (HEAD.replace("y", "lon") + lines(*POINTS, *VALUES[:3]), {}, "it needs lon and lat, or x"),
        (HEAD.replace("rho", "-") + lines(*POINTS, *VALUES[:3]), {}, "no variable rho"),
        (ucvm(), {"projection": UTM}, "leave medium.projection out"),
        (ucvm(), {"corner": [0, 0]}, "leave medium.corner out"),
        (TEXT, {"projection": "EPSG:4326"}, "not a map projection"),
    ],
)
def test_refusals(tmp_path: Path, text: str, keys: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        open_model(columns(tmp_path, text, **keys))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("3 4 6\n", "the header names 3 x 4 x 6 points .* have 3 x 4 x 5"),
        ("3 4\n", "line 5: 2 numbers in line"),
        ("3 4 5 6\n", "line 5: 4 numbers"),
        ("3 4 x\n", "cannot be read as a SPECFEM model"),
    ],
)
def test_refused_headers_of_specfem(tmp_path: Path, header: str, message: str) -> None:
    section = SpecfemSection(kind="specfem", file=specfem(tmp_path, 3, header))
    with pytest.raises(InputError, match=message):
        build_medium(section, CELLS, SPACING)


@pytest.mark.parametrize("kind", ["specfem", "columns", "ucvm"])
def test_mutants(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"{kind}.txt"
    content = {"ucvm": ucvm().encode(), "columns": TEXT.encode()}
    sound = content[kind] if kind in content else specfem(tmp_path).read_bytes()
    section = SpecfemSection if kind == "specfem" else ColumnsSection

    def read(mutant: Path) -> None:
        name = "specfem" if kind == "specfem" else "columns"
        model = open_model(section(kind=name, file=mutant))
        model.read(model.roles, *(slice(0, len(nodes)) for nodes in model.grid.nodes))

    for words in (0.0, 1.0):
        assert count_refused(read, path, sound, range(50), words=words) > 10
