"""Simulated intensities: each layout of a dataset gives the same samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.hazard.intensities import Intensities
from groundswell.seismology.hazard.measures import GRAVITY, Measure
from groundswell.seismology.hazard.ruptures import Rupture, Ruptures

R, V, S = 3, 4, 5
NAMES, SITES = ["A", "B", "C"], [f"S{n}" for n in range(S)]
RUPTURES = Ruptures([Rupture(name, 6.0, 0.1) for name in NAMES])
PGA, PSA = Measure("pga"), Measure("psa", 1.0)


@pytest.fixture
def pga() -> Floats:
    return np.random.default_rng(3).lognormal(size=(R, V, S))


def dataset(data: dict[str, Any], **coordinates: Any) -> xr.Dataset:
    places = {"x": ("site", np.arange(S) * 1e3), "y": ("site", np.zeros(S))}
    return xr.Dataset(data, {"rupture": NAMES, "site": SITES, **places, **coordinates})


def plain(pga: Floats) -> xr.Dataset:
    return dataset({"pga": (("rupture", "variation", "site"), pga)})


def samples(data: xr.Dataset, measure: Measure = PGA, component: str | None = None) -> Floats:
    found = Intensities(data, "data.nc", component)
    return found.samples(measure, RUPTURES, found.sites(760.0)).values


def test_ruptures_variations_and_sites(pga: Floats) -> None:
    assert np.array_equal(samples(plain(pga)), pga)
    turned = dataset({"PGA": (("site", "rupture", "variation"), pga.transpose(2, 0, 1))})
    assert np.array_equal(samples(turned), pga)


def test_without_variations(pga: Floats) -> None:
    data = dataset({"pga": (("rupture", "site"), pga[:, 0])})
    assert np.array_equal(samples(data), pga[:, :1])


def test_a_list_of_simulations(pga: Floats) -> None:
    """As an ensemble writes them: in any order, and more of some ruptures than of others."""
    which = np.array([2, 0, 1, 0, 2, 0])
    number = np.array([0, 2, 1, 0, 3, 1])
    data = xr.Dataset(
        {"pga": (("run", "station"), pga[which, number])},
        {"rupture": ("run", [NAMES[n] for n in which]), "code": ("station", SITES)}
        | {"longitude": ("station", np.linspace(-122, -121, S))}
        | {"latitude": ("station", np.full(S, 38.0))},
    )
    found = samples(data)
    renamed = Intensities(data.rename(rupture="title"), "data.nc", rupture="title")
    again = renamed.samples(PGA, RUPTURES, renamed.sites(760.0)).values
    assert np.array_equal(again, found, equal_nan=True)
    assert np.array_equal(found[0], pga[0, [2, 0, 1]])
    assert np.array_equal(found[1, :1], pga[1, [1]]) and np.isnan(found[1, 1:]).all()
    assert np.array_equal(found[2, :2], pga[2, [0, 3]])


def test_a_map(pga: Floats) -> None:
    cells = np.random.default_rng(1).lognormal(size=(R, V, 2, 3))
    axes = {"rupture": NAMES, "x": [0.0, 1e3, 2e3], "y": [0.0, 1e3]}
    data = xr.Dataset({"pga": (("rupture", "variation", "y", "x"), cells)}, axes)
    found = Intensities(data, "data.nc")
    sites = found.sites(760.0)
    assert sites.grid == (2, 3)
    assert sites.horizontal[4].tolist() == [1e3, 1e3]
    values = found.samples(PGA, RUPTURES, sites).values
    assert np.array_equal(values, cells.reshape(R, V, 6))


def test_periods(pga: Floats) -> None:
    both = np.stack([pga, 2 * pga], axis=2)
    data = dataset({"psa": (("rupture", "variation", "period", "site"), both)}, period=[0.5, 1.0])
    assert np.array_equal(samples(data, PSA), 2 * pga)
    with pytest.raises(InputError, match=r"has no period 3 s; it has 0.5 or 1"):
        samples(data, Measure("psa", 3.0))
    with pytest.raises(InputError, match=r'needs a period, as in "psa\(1\)"'):
        samples(data, Measure("psa"))
    with pytest.raises(InputError, match='needs no period: "pga"'):
        samples(plain(pga), Measure("pga", 1.0))


@pytest.mark.parametrize(
    ("component", "wanted"),
    [
        ("N", lambda e, n: n),
        ("geometric-mean", lambda e, n: np.sqrt(e * n)),
        ("larger", np.maximum),
    ],
)
def test_components(pga: Floats, component: str, wanted: Any) -> None:
    north = np.random.default_rng(5).lognormal(size=pga.shape)
    values = np.stack([pga, north, pga / 2], axis=1)
    dims = ("rupture", "component", "variation", "site")
    data = dataset({"pga": (dims, values, {"units": "m s-2"})}, component=["E", "N", "Z"])
    assert np.allclose(samples(data, component=component), wanted(pga, north))
    with pytest.raises(InputError, match="give component = E, N, Z, geometric-mean or larger"):
        samples(data)


def test_units(pga: Floats) -> None:
    data = plain(pga)
    data["pga"].attrs["units"] = "g"
    assert np.allclose(samples(data), GRAVITY * pga)
    data["pga"].attrs["units"] = "furlong"
    with pytest.raises(InputError, match="has the unit 'furlong'"):
        samples(data)
    data["pga"].attrs["units"] = "m/s"
    with pytest.raises(InputError, match=r"has the unit 'm/s'; it must be m s-2, .* or cm s-2"):
        samples(data)


def test_components_that_are_not_there(pga: Floats) -> None:
    with pytest.raises(InputError, match="has no components; leave out component = 'E'"):
        samples(plain(pga), component="E")


def test_sites_are_where_they_were_simulated(pga: Floats) -> None:
    found = Intensities(plain(pga), "data.nc")
    sites = found.sites(760.0)
    near = replace(sites, horizontal=sites.horizontal + 500.0)
    assert np.array_equal(found.samples(PGA, RUPTURES, near).values, pga)
    far = replace(sites, horizontal=sites.horizontal + np.eye(S)[:, [0, S - 1]] * [0.0, 5e3])
    with pytest.raises(InputError, match=r"site 'S4' is 5 km from its position in .sites."):
        found.samples(PGA, RUPTURES, far)


def test_what_is_missing(pga: Floats) -> None:
    data = plain(pga)
    with pytest.raises(InputError, match=r"has no pgv .*it has pga"):
        samples(data, Measure("pgv"))
    found = Intensities(data, "data.nc")
    more = Ruptures([*RUPTURES, Rupture("D", 6.0, 0.1)])
    with pytest.raises(InputError, match=r"has no rupture 'D'.*whose rate would be lost"):
        found.samples(PGA, more, found.sites(760.0))
    sites = Intensities(data.isel(site=slice(3)), "few.nc")
    with pytest.raises(InputError, match=r'few.nc: sites lack "S3" or "S4"'):
        sites.samples(PGA, RUPTURES, found.sites(760.0))
    with pytest.raises(InputError, match="have no positions"):
        Intensities(data.drop_vars(["x", "y"]), "data.nc").sites(760.0)
    with pytest.raises(InputError, match=r"needs the coordinate rupture .*it has site, x or y"):
        Intensities(data.drop_vars("rupture"), "data.nc")
    with pytest.raises(InputError, match="needs sites; it has the dimensions rupture"):
        Intensities(data[["rupture"]], "data.nc")


@pytest.mark.parametrize(
    ("value", "reason"),
    [(-1.0, "negative or infinite"), (np.inf, "negative or infinite"), (np.nan, "has no values")],
)
def test_values_that_cannot_be(pga: Floats, value: float, reason: str) -> None:
    pga[1, :, 2] = value
    with pytest.raises(InputError, match=reason):
        samples(plain(pga))


def test_lost_values_are_an_error(pga: Floats) -> None:
    """Else a run that has failed would lower the hazard in silence."""
    pga[1, 2, 3] = pga[2, 0] = np.nan
    for data in (
        plain(pga),
        dataset({"pga": (("rupture", "site", "variation"), pga.swapaxes(1, 2))}),
    ):
        with pytest.raises(InputError, match=rf"\(NaN\) in {S + 1} values of rupture .* at site"):
            samples(data)
    single = dataset({"pga": (("rupture", "site"), np.where(np.arange(S) == 1, np.nan, pga[:, 1]))})
    with pytest.raises(InputError, match="has no values"):
        samples(single)


def test_ruptures_may_have_fewer_variations(pga: Floats) -> None:
    """Then the last ones are NaN at all sites."""
    pga[1, 2:] = np.nan
    assert np.array_equal(samples(plain(pga)), pga, equal_nan=True)
    listed = dataset({"pga": (("rupture", "site"), pga[:, 2])})
    with pytest.raises(InputError, match="has no values"):
        samples(listed)


def test_zero_has_no_logarithm(pga: Floats) -> None:
    pga[0, 0, 0] = 0.0
    found = Intensities(plain(pga), "data.nc")
    assert found.samples(PGA, RUPTURES, found.sites(760.0)).values[0, 0, 0] == 0
    with pytest.raises(InputError, match="has values of 0, which have no logarithm"):
        found.lognormal(PGA, RUPTURES, found.sites(760.0))


def test_files(pga: Floats, tmp_path: Path) -> None:
    plain(pga).to_netcdf(tmp_path / "data.nc", engine="h5netcdf")
    found = Intensities.open(tmp_path / "data.nc")
    assert np.array_equal(found.samples(PGA, RUPTURES, found.sites(760.0)).values, pga)
    (tmp_path / "bad.nc").write_bytes((tmp_path / "data.nc").read_bytes()[:500])
    with pytest.raises(InputError, match=r"bad\.nc"):
        Intensities.open(tmp_path / "bad.nc")


def test_zarr_stores(pga: Floats, tmp_path: Path) -> None:
    try:
        plain(pga).to_zarr(tmp_path / "data.zarr")
    except Exception as error:  # also where zarr is installed, but its libraries do not agree
        pytest.skip(f"zarr cannot be used: {error}")
    found = Intensities.open(tmp_path / "data.zarr")
    assert np.array_equal(found.samples(PGA, RUPTURES, found.sites(760.0)).values, pga)


def test_folders_that_are_no_store(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read as Zarr|zarr cannot be imported"):
        Intensities.open(tmp_path)


@pytest.mark.parametrize("text", ["PGA", " pga ", "Psa(1.0)", "psa( 1 s)", "rotd50(0.3)"])
def test_measures(text: str) -> None:
    measure = Measure.parse(text)
    assert Measure.parse(str(measure)) == measure


@pytest.mark.parametrize(
    "text", ["", "1pga", "psa(", "psa(x)", "psa(-1)", "psa(0)", "a b", "p" * 99]
)
def test_no_measures(text: str) -> None:
    with pytest.raises(InputError, match="is not an intensity measure"):
        Measure.parse(text)


def test_names_of_measures() -> None:
    assert Measure("rotd50", 1.0).openquake == "SA(1.0)" and PGA.openquake == "PGA"
    assert Measure("pga_rotd50").unit == (GRAVITY, "g") and Measure("pgv").unit == (0.01, "cm/s")
