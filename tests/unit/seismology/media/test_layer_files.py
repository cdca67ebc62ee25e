"""Files of layers: tables of columns, and models of the Earth of TauP against ObsPy."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from damage import count_refused
from hypothesis import given, settings
from hypothesis import strategies as st
from random_media import ROCK

from groundswell.errors import CaseError, InputError
from groundswell.seismology.case.media import LayeredSection
from groundswell.seismology.media.build import build_medium, build_sampled
from groundswell.seismology.media.layer_files import read_layers
from groundswell.seismology.media.layered import Layer
from groundswell.seismology.media.rules import Rules, brocher_density, brocher_shear_speed

# --- columns separated by commas -----------------------------------------------------------------


def test_columns_of_a_table_are_converted_from_their_units(tmp_path):
    path = tmp_path / "model.csv"
    path.write_text(
        "\ufeff# a model\n\ndepth[km], vp[km/s],vs [km/s],rho[g/cm^3],Qp,Qs\n"
        "0,5.5,3.18,2.4,300,150\n  # half-space\n5.5, 6.3 ,3.64,2.67,600,300\n"
    )
    assert read_layers(path) == [
        Layer(0.0, 5500.0, 3180.0, pytest.approx(2400.0), 300.0, 150.0),
        Layer(5500.0, 6300.0, 3640.0, pytest.approx(2670.0), 600.0, 300.0),
    ]


def test_columns_without_units_are_si(tmp_path):
    path = tmp_path / "model.csv"
    path.write_text("rho,top,vs,vp\n2700,0,3464,6000\n")
    assert read_layers(path) == [Layer(0.0, **ROCK)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no layers"),
        ("top,vp,vs,rho\n", "no layers"),
        ("top,vp,vs\n0,1,1\n", "lacks the columns rho"),
        ("top,vp,vs,rho,colour\n0,1,1,1,1\n", "column 'colour' is unknown"),
        ("top,vp,vp,rho\n0,1,1,1\n", "'vp' is unknown or repeated"),
        ("top,vp[kg],vs,rho\n0,1,1,1\n", "column vp: unit 'kg' does not convert to m/s"),
        ("top,vp,vs,rho,qp[km]\n0,1,1,1,1\n", "does not convert to a plain number"),
        ("# n\ntop,vp,vs,rho\n0,1e3,1,1e3\n1,2,3\n", "line 4: 3 values for 4 columns"),
        (
            "top,vp,vs,rho\n0,3,1,2500\n",
            r"line 2: vp = 3 m/s .*100 m/s; .*vp\[km/s\] in the header",
        ),
        ("top,vp,vs,rho\n0,3e3,0,2.5\n", r"line 2: rho = 2.5 kg/m\^3 .*write rho\[g/cm\^3\]"),
        ("top,vp,vs,rho\n0,fast,1,1\n", "line 2: vp = 'fast' is not a number"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(tmp_path, text, message):
    path = tmp_path / "model.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_layers(path)


def test_a_missing_table_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"none\.csv"):
        read_layers(tmp_path / "none.csv")


@settings(max_examples=100)
@given(st.binary(max_size=60), st.booleans())
def test_any_bytes_give_layers_or_an_input_error(tmp_path_factory, noise, headed):
    path = tmp_path_factory.getbasetemp() / "noise.csv"
    path.write_bytes((b"top,vp,vs,rho\n" if headed else b"") + noise)
    with suppress(InputError):
        assert all(isinstance(layer, Layer) for layer in read_layers(path))


# --- columns separated by blanks -----------------------------------------------------------------

LAYERS = [Layer(0.0, 5500.0, 3180.0, 2400.0), Layer(5500.0, 6300.0, 3640.0, 2670.0)]
ROWS = "0 5.5 3.18 2400\n5.5 6.3 3.64 2670\n"


@pytest.mark.parametrize(
    "text",
    [
        "depth(km) vp(km/s) vs rho\n" + ROWS,
        "# a crust\n\n# Depth [km]  Vp [km/s]  Vs [km/s]  density\n" + ROWS,
        "thickness(km) vp(km/s) vs(km/s) rho(kg/m^3)\n" + ROWS.replace("0 5.5", "5.5 5.5", 1),
        "thickness,vp[km/s],vs,rho\n5500,5.5,3.18,2400\n0,6.3,3.64,2670\n",
        "rho vs vp top\n2400 3180 5500 0\n# below\n2670 3640 6300 5.5D3\n",
    ],
)
def test_columns_with_depths_or_thicknesses(tmp_path, text):
    path = tmp_path / "model.txt"
    path.write_text(text)
    assert read_layers(path) == LAYERS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROWS, "no header line with the names of columns, such as"),
        ("depth vp(km/s) vs rho\n0 5.5 3.2\n", "line 2: 3 values for 4 columns"),
        ("depth vp(km/s vs rho\n" + ROWS, "column .*is unknown"),
        ("depth vp(km/s) vs rho(g/cm^3)\n" + ROWS, r"rho = 2.4e\+06 kg/m\^3 must be at most"),
        ("thickness(km) vp(km/s) vs rho\n" + ROWS, "line 2: a layer has the thickness 0 m"),
        ("thickness top vp(km/s) rho\n" + ROWS, r"vs, or use|lacks the columns vs"),
        ("depth thickness vp vs rho\n0 9 5500 3000 2500\n8 0 5500 3000 2500\n", "tops and thick"),
        ("depth vp vs\n0 5500 3000\n", "lacks the columns rho; .*medium.rho_rule"),
    ],
)
def test_columns_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "model.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_layers(path)


def test_rules_give_what_columns_lack(tmp_path):
    path = tmp_path / "model.txt"
    path.write_text("depth(km) vp(km/s)\n0 5\n3 6\n")
    vp = np.array([5000.0, 6000.0])
    layers = read_layers(path, Rules("brocher", "brocher", "awp"))
    assert [layer.vs for layer in layers] == brocher_shear_speed(vp).tolist()
    assert [layer.rho for layer in layers] == brocher_density(vp).tolist()
    assert [layer.qs for layer in layers] == (brocher_shear_speed(vp) / 20).tolist()
    with pytest.raises(CaseError, match=r"rho_rule.*for files that lack a column"):
        LayeredSection(kind="layered", layers=[{"top": 0, **ROCK}], rho_rule="brocher")


# --- models of the Earth -------------------------------------------------------------------------

taup = pytest.importorskip("obspy.taup.velocity_model")
DATA = Path(taup.__file__).parent / "data"
MODELS = sorted(path.name for path in DATA.iterdir() if path.suffix in (".nd", ".tvel"))


@pytest.mark.parametrize("name", MODELS)
def test_models_of_the_earth_equal_those_of_obspy(name):
    """Also on both sides of discontinuities, in kg/m^3 and m/s."""
    expected = taup.VelocityModel.read_velocity_file(DATA / name).layers
    section = LayeredSection(kind="layered", file=DATA / name)
    medium = build_sampled(section, np.zeros((1, 3)))
    thick = expected["bot_depth"] > expected["top_depth"]
    chosen = thick & (expected["bot_depth"] < 2880)  # above the core
    for end, sign in (("top", 1), ("bot", -1)):
        at = 1e3 * expected[f"{end}_depth"][chosen] + sign * 1e-4
        found = medium.sample(np.stack([0 * at, 0 * at, at], axis=1))
        for ours, theirs in (("vp", "p_velocity"), ("vs", "s_velocity"), ("rho", "density")):
            values = 1e3 * expected[f"{end}_{theirs}"][chosen]
            assert np.allclose(getattr(found, ours), values, atol=0.1)


def test_quality_factors_of_models_of_the_earth():
    """ObsPy ignores them."""
    rows = [line.split() for line in (DATA / "prem.nd").read_text().splitlines()]
    values = np.array([row for row in rows[: rows.index(["outer-core"])] if len(row) == 6], float)
    layers = read_layers(DATA / "prem.nd")
    assert [layer.qp for layer in layers] == values[:, 4].tolist()
    assert [layer.qs for layer in layers] == values[:, 5].tolist()


def test_comments_and_missing_columns_of_models_of_the_earth(tmp_path):
    path = tmp_path / "crust.nd"
    path.write_text("# crust\n0 5.5 3.2 // top\n\n20. 6 3.5\nmoho\n20 8 4.5\n")
    with pytest.raises(InputError, match="lacks the columns rho"):
        read_layers(path)
    layers = read_layers(path, Rules(rho="brocher"))
    assert [layer.top for layer in layers] == [0, 20_000, 20_000]
    with pytest.raises(InputError, match='must increase, unless interpolation is "linear"'):
        constant = LayeredSection(
            kind="layered", file=path, rho_rule="brocher", interpolation="constant"
        )
        build_medium(constant, (2, 2, 2), (100.0,) * 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 5.5\n", "line 1: 2 values; give depth, vp, vs and"),
        ("0 5.5 x 2.6\n", "line 1: could not convert"),
        ("moho\n", "no layers"),
        ("0 5.5 3.2 2.6\n9 5.5 3.2\n", "line 2 has 3 values and the first line 4"),
        ("0 5500 3200 2600\n", r"vp = 5.5e.06 m/s must be at most .*; the columns of this format"),
        ("3 5.5 3.2 2.6\n", "the first 0 m"),
    ],
)
def test_models_of_the_earth_that_cannot_be_read(tmp_path, text, message):
    path = tmp_path / "a.nd"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        build_medium(LayeredSection(kind="layered", file=path), (2, 2, 2), (100.0,) * 3)


@pytest.mark.parametrize("name", ["crust.nd", "crust.tvel", "crust.txt"])
def test_mutants(tmp_path, name):
    text = "0 5.5 3.2 2.6 300 150\n20. 6 3.5 2.7 500 200\n20 8 4.5 3.3 1000 400\n"
    title = {".nd": "# crust\n", ".tvel": "P\nS\n"}
    head = "depth(km) vp(km/s) vs(km/s) rho(g/cm^3) qp qs\n"
    content = (title.get(Path(name).suffix, head) + text).encode()

    def read(path: Path) -> None:
        section = LayeredSection(kind="layered", file=path, interpolation="linear")
        build_medium(section, (2, 2, 2), (100.0,) * 3).plane(1)

    for words in (0.0, 1.0):
        assert count_refused(read, tmp_path / name, content, range(50), words=words) > 15
