"""Source models in NRML: ruptures and rates, and files that are invalid, hostile or damaged."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from source_models import (
    AREA,
    CHARACTERISTIC,
    FRAME,
    POINT,
    SIMPLE,
    source_model,
    write_source_model,
)

from groundswell.errors import InputError
from groundswell.grids.geography import Geography
from groundswell.seismology.hazard.areas import cells_across, is_within
from groundswell.seismology.hazard.magnitudes import truncated_gutenberg_richter
from groundswell.seismology.hazard.nrml import Discretisation, read_nrml
from groundswell.seismology.hazard.ruptures import Ruptures
from groundswell.seismology.hazard.scaling import wells_coppersmith

STEPS = Discretisation(spacing=3000.0, bin_width=0.2)
KM = 1e3
CORNER = "-121.51 38.5  -121.51 37.51  -122.5 37.51"  # makes a narrow L of the area


@pytest.fixture(scope="module")
def frame() -> Geography:
    return Geography.from_point(FRAME, (0.0, 0.0))


def read(folder: Path, frame: Geography, *sources: str) -> Ruptures:
    return Ruptures(read_nrml(write_source_model(folder, *sources), frame, STEPS))


def test_a_simple_fault_keeps_rate_and_moment(tmp_path: Path, frame: Geography) -> None:
    found = read(tmp_path, frame, SIMPLE)
    wanted = truncated_gutenberg_richter(3.4, 0.9, 5.5, 6.5, 0.2)
    assert found.rates.sum() == pytest.approx(10 ** (3.4 - 0.9 * 5.5) - 10 ** (3.4 - 0.9 * 6.5))
    assert found.moment_rate == pytest.approx(wanted.moment_rate)
    for magnitude, rate in zip(wanted.magnitudes, wanted.rates, strict=True):
        same = [r for r in found if r.magnitude == pytest.approx(magnitude)]
        assert sum(r.rate for r in same) == pytest.approx(rate)
        for each in same:
            assert each.surface is not None and each.rake == 90
            assert each.surface.area == pytest.approx(wells_coppersmith(each.magnitude, 90))
            assert each.surface.dip == pytest.approx(60, abs=0.01)


def test_ruptures_stay_on_the_fault(tmp_path: Path, frame: Geography) -> None:
    """The trace runs along the meridian of the frame; the fault dips to the east."""
    found = read(tmp_path, frame, SIMPLE)
    corners = np.concatenate([r.surface.panels.reshape(-1, 3) for r in found if r.surface])
    x, y, z = corners.T
    south, north = frame.to_grid([-122.0, -122.0], [37.8, 38.1])[1]
    assert south - 1 <= y.min() <= south + 1 and north - 1 <= y.max() <= north + 1
    assert z.min() == pytest.approx(1 * KM) and z.max() == pytest.approx(13 * KM)
    assert x == pytest.approx(z / np.tan(np.radians(60)), abs=1.0)


def test_characteristic_ruptures_break_the_whole_surface(tmp_path: Path, frame: Geography) -> None:
    found = read(tmp_path, frame, CHARACTERISTIC)
    assert found.magnitudes == pytest.approx([6.9, 7.0, 7.1])
    assert found.rates.tolist() == [0.001, 0.002, 0.001]
    first = found[0].surface
    assert first.width == pytest.approx(12 * KM) and first.dip == pytest.approx(90)
    assert first.length == pytest.approx(0.2 * 111 * KM, rel=0.01)
    simple = re.search("<simpleFaultGeometry>.*</simpleFaultGeometry>", SIMPLE, re.DOTALL)
    assert simple
    planar = re.sub("<planarSurface.*</planarSurface>", simple[0], CHARACTERISTIC, flags=re.DOTALL)
    surface = read(tmp_path, frame, planar)[0].surface
    assert surface.width == pytest.approx(12 * KM / np.sin(np.radians(60)))


def test_points_share_rates_among_planes_and_depths(tmp_path: Path, frame: Geography) -> None:
    found = read(tmp_path, frame, POINT)
    assert len(found) == 2 * 2 * 2 and all(r.is_on_map for r in found)
    assert found.rates.sum() == pytest.approx(0.013)
    upright = [r for r in found if r.rake == 0]
    assert sum(r.rate for r in upright) == pytest.approx(0.25 * 0.013)
    small = [r.surface.area for r in found if r.magnitude == 5.5 and r.surface]
    assert small == pytest.approx([10**1.5 * KM**2] * 4)
    for rupture in found:
        assert rupture.surface is not None
        z = rupture.surface.panels[..., 2]
        assert z.min() >= 0 and z.max() <= 15 * KM + 1e-6


def test_areas_are_points_with_equal_rates(tmp_path: Path, frame: Geography) -> None:
    """The triangle has half the cells of its bounds; its centre is that of the points."""
    found = read_nrml(write_source_model(tmp_path, AREA), frame, replace(STEPS, area_spacing=5e3))
    assert sum(r.rate for r in found) == pytest.approx(0.013)
    assert len({(r.rate, r.magnitude, r.rake) for r in found}) == 4
    middles = np.array([r.surface.panels.mean(axis=(0, 1))[:2] for r in found if r.rake == 0])
    corners = np.stack(frame.to_grid([-122.5, -121.5, -121.5], [37.5, 37.5, 38.5]), axis=1)
    assert is_within(middles, corners).all()
    assert middles.mean(axis=0) == pytest.approx(corners.mean(axis=0), abs=1500.0)
    assert not any(r.is_on_map for r in found)
    across, along = cells_across(corners, 5e3)
    assert len(found) / 8 == pytest.approx(across * along / 2, rel=0.05)


@pytest.mark.parametrize(
    ("old", "new", "spacing", "reason"),
    [
        ("-121.5 37.5  -121.5 38.5", "", 1e4, "three or more corners that differ"),
        ("-121.5 38.5", f"-121.5 38.5 {CORNER}", 3e5, "no point of its grid lies in the polygon"),
        ("-121.5 38.5", "-121.5 38.5", 1.0, "too many points; enlarge area_spacing"),
        ("-121.5 38.5", "-121.5 38.5", 200.0, "more than 200,000 ruptures; enlarge area_spacing"),
        ("</gml:exterior>", "</gml:exterior><gml:interior/>", 1e4, "has holes"),
    ],
)
def test_areas_that_cannot_be(
    tmp_path: Path, frame: Geography, old: str, new: str, spacing: float, reason: str
) -> None:
    model = write_source_model(tmp_path, AREA.replace(old, new))
    steps = replace(STEPS, area_spacing=spacing)
    with pytest.raises(InputError, match=reason):
        read_nrml(model, frame, steps)


def test_both_versions_of_the_format(tmp_path: Path, frame: Geography) -> None:
    """Version 0.4 has no groups."""
    old = re.sub("</?sourceGroup[^>]*>", "", source_model()).replace("nrml/0.5", "nrml/0.4")
    (tmp_path / "old.xml").write_text(old)
    before = read_nrml(tmp_path / "old.xml", frame, STEPS)
    now = read(tmp_path, frame)
    assert [r.name for r in before] == now.names and len({*now.names}) == len(now)


# --- invalid files ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("simpleFaultSource", "complexFaultSource", '"complexFaultSource" are not supported; rem'),
        ("truncGutenbergRichterMFD", "YoungsCoppersmithMFD", 'is "YoungsCoppersmithMFD"; it must'),
        (">WC1994<", ">Leonard2014_SCR<", 'magScaleRel is "Leonard2014_SCR"; it must be WC1994'),
        ('aValue="3.4"', "", "truncGutenbergRichterMFD has no aValue"),
        ('maxMag="6.5"', 'maxMag="5.0"', "needs values a and b"),
        ('maxMag="6.5"', 'maxMag="1e9"', "needs values a and b"),
        ('minMag="5.5"', 'minMag="five"', 'minMag of truncGutenbergRichterMFD is "five"'),
        ("<dip>60.0</dip>", "<dip>0</dip>", "dip is 0; it must be above 0 and at most 90"),
        ("<dip>60.0</dip>", "", "simpleFaultGeometry has no dip"),
        (">13.0<", ">0.5<", "lowerSeismoDepth must be below"),
        ("-122.0 37.8  -122.0 38.1", "-122.0 37.8", "two or more points that differ"),
        ("-122.0 37.8  -122.0 38.1", "-122.0 37.8 -122.0", "pairs of longitude and latitude"),
        ("-122.0 37.8  -122.0 38.1", "", "pairs of longitude and latitude"),
        ("<ruptAspectRatio>1.5", "<ruptAspectRatio>-1", "ruptAspectRatio is -1"),
        ('probability="0.75"', 'probability="0.5"', "nodalPlane add up to 0.75, not to 1"),
        ("0.01 0.003", "0.01", "2 magnitudes have 1 occurRates"),
        ("0.001 0.002", "-0.001 0.002", "rates that are not negative"),
        ('binWidth="0.1"', 'binWidth="0"', "binWidth is 0"),
        ("<planarSurface", "<griddedSurface", "its surface must be|is not XML"),
        ("<nrml", "<nrmx", "is not XML"),
    ],
)
def test_invalid_models_are_named(
    tmp_path: Path, frame: Geography, old: str, new: str, reason: str
) -> None:
    text = source_model()
    assert old in text
    path = tmp_path / "model.xml"
    path.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=reason) as caught:
        read_nrml(path, frame, STEPS)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_message_names_source_and_line(tmp_path: Path, frame: Geography) -> None:
    text = source_model().replace("<dip>60.0</dip>", "<dip>95</dip>")
    path = tmp_path / "model.xml"
    path.write_text(text)
    line = 1 + text[: text.index("<dip>")].count("\n")
    with pytest.raises(InputError, match=f'model.xml, line {line}: source "hills": dip is 95'):
        read_nrml(path, frame, STEPS)


def test_sites_by_x_and_y_have_no_place_for_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="but the sites x and y; give both the same way"):
        read_nrml(write_source_model(tmp_path), None, STEPS)


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE nrml [<!ENTITY secret SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE nrml SYSTEM "http://localhost/evil.dtd">',
        '<!DOCTYPE nrml [<!ENTITY % remote SYSTEM "http://localhost/x"> %remote;]>',
    ],
)
def test_document_types_are_refused(tmp_path: Path, frame: Geography, prolog: str) -> None:
    """Entities that grow exponentially, or read other files."""
    path = tmp_path / "model.xml"
    path.write_text(source_model().replace("?>\n", f"?>\n{prolog}\n", 1))
    with pytest.raises(InputError, match="has a document type"):
        read_nrml(path, frame, STEPS)


def test_deep_and_many(tmp_path: Path, frame: Geography) -> None:
    path = tmp_path / "model.xml"
    path.write_text("<nrml>" * 100_000)
    with pytest.raises(InputError, match="nested more than 50 deep"):
        read_nrml(path, frame, STEPS)
    path.write_text(source_model(SIMPLE))
    with pytest.raises(InputError, match="enlarge spacing"):
        read_nrml(path, frame, Discretisation(spacing=1.0))
    for data in (b"", b"\xff\xfe\x00", b"<a/>", b'<?xml version="1.0" encoding="martian"?><nrml/>'):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"is not XML|has no sources"):
            read_nrml(path, frame, STEPS)
    with pytest.raises(InputError, match="cannot be read"):
        read_nrml(tmp_path / "none.xml", frame, STEPS)


NUMBERS = ["nan", "-1", "0", "1e400", "1e12", "", "x", "1_0", "9" * 400, "0x10", "91", "-inf"]


def mutated(text: str, rng: np.random.Generator) -> str:
    """A model with a few defects: numbers, names, lost or repeated parts, lost characters."""
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(5)
        if kind == 0:
            spots = list(re.finditer(r"-?[0-9.]+", text))
            spot = spots[rng.integers(len(spots))]
            text = text[: spot.start()] + str(rng.choice(NUMBERS)) + text[spot.end() :]
        elif kind == 1:
            names = sorted(set(re.findall(r"[A-Za-z]{4,}", text)))
            old, new = (str(name) for name in rng.choice(names, 2))
            text = text.replace(old, new)
        elif kind == 2:
            parts = list(re.finditer(r"<(\w+)[^<>]*/>|<(\w+)[^<>]*>[^<>]*</\2>", text))
            if parts:
                part = parts[rng.integers(len(parts))]
                twice = part[0] * int(rng.choice([0, 2]))
                text = text[: part.start()] + twice + text[part.end() :]
        elif kind == 3:
            at = int(rng.integers(len(text)))
            text = text[:at] + text[at + int(rng.integers(1, 40)) :]
        else:
            at = int(rng.integers(len(text)))
            text = text[:at] + str(rng.choice(list("<>&\"'/=\0 é9"))) + text[at:]
    return text


def test_damaged_models_are_read_or_refused_in_one_line(tmp_path: Path, frame: Geography) -> None:
    rng, refused, path = np.random.default_rng(11), 0, tmp_path / "model.xml"
    steps = Discretisation(spacing=10e3, bin_width=0.5)
    for _ in range(400):
        path.write_text(mutated(source_model(), rng))
        try:
            for rupture in read_nrml(path, frame, steps):
                assert rupture.rate > 0 and -6 <= rupture.magnitude <= 10.5
                assert rupture.surface is not None
                assert np.isfinite(rupture.surface.panels).all() and rupture.surface.area > 0
        except InputError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 600
    assert 150 < refused < 400
