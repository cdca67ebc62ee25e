"""Point sources from every kind of source that a case can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awp_files import write_awp_source
from pydantic import TypeAdapter
from ruptures import make_rupture

from groundswell.errors import InputError
from groundswell.seismology.case.sources import Source
from groundswell.seismology.formats.awp import AwpSource
from groundswell.seismology.formats.srf import Srf, write_srf
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.point_sources import PointSource, SourceContext, final_moments
from groundswell.seismology.sources.time_functions import Brune

rng = np.random.default_rng(5)
STEP, DURATION = 0.01, 6.0
MU, LAM, RHO = 3.1e10, 2.7e10, 1020.0
SPACING = (100.0, 100.0, 50.0)
PLACE = {"x": 1000.0, "y": 2000.0, "depth": 5000.0}
BRUNE = {"kind": "brune", "rise": 0.2}
SECTION: TypeAdapter[Any] = TypeAdapter(Source)
COUPLE = {"kind": "double-couple", "strike": 233, "dip": 77, "rake": 49, "time_function": BRUNE}


class Map:
    """A map with a degree of 100 km, 36.9 degrees turned."""

    true_azimuth = 36.9

    def to_grid(self, longitude: Any, latitude: Any) -> tuple[np.ndarray, np.ndarray]:
        return 1e5 * np.asarray(longitude, float), 1e5 * np.asarray(latitude, float)


def build(
    *sources: dict[str, Any],
    geography: Any = None,
    step: float = STEP,
    folder: Path | str = "",
    **more: Any,
) -> list[PointSource]:
    moduli: dict[str, Any] = {
        "rigidity": lambda x, y, z: np.full(np.shape(x), MU),
        "lame": lambda x, y, z: np.full(np.shape(x), LAM),
        "density": lambda x, y, z: np.full(np.shape(x), RHO),
    }
    context = SourceContext(geography, step, DURATION, SPACING, **moduli | more)
    sections = [SECTION.validate_python(s, context={"folder": Path(folder)}) for s in sources]
    return [point for entry in build_sources(sections, context) for point in entry.points]


def at(source: PointSource, t: Any) -> np.ndarray:
    """The history at times t, as the definition of a point source says."""
    times = source.start + source.step * np.arange(source.samples.size)
    return np.interp(t, times, source.samples, left=0.0, right=0.0)


def net_moment(sources: list[PointSource]) -> np.ndarray:
    return final_moments(sources).sum(axis=0)


# --- sources at one point ------------------------------------------------------------------------


def test_a_double_couple_from_a_magnitude() -> None:
    (source,) = build({**PLACE, **COUPLE, "magnitude": 5.1})
    assert source.position == (1000.0, 2000.0, 5000.0)
    assert source.force is None
    expected = moment.double_couple(233, 77, 49, 10 ** (1.5 * 5.1 + 9.1))
    np.testing.assert_allclose(source.moment, expected)
    np.testing.assert_allclose(net_moment([source]), expected, rtol=1e-3)


def test_moment_rates_are_exact_at_the_velocities_times() -> None:
    (source,) = build({**PLACE, **COUPLE, "moment": 1e16})
    n = np.arange(int(DURATION / STEP))
    np.testing.assert_allclose(at(source, n * STEP), Brune(rise=0.2)(n * STEP), atol=1e-12)
    assert (source.start, source.step) == (0.0, STEP)


def test_a_late_source_begins_at_its_onset_and_is_cut_at_the_end_of_the_run() -> None:
    late = BRUNE | {"onset": 5.5}
    (source,) = build({**PLACE, **COUPLE, "moment": 1e16, "time_function": late})
    assert source.start == pytest.approx(5.5, abs=STEP)
    assert source.start + source.step * (source.samples.size - 1) < DURATION
    np.testing.assert_allclose(at(source, 5.7), Brune(rise=0.2)(0.2))


def test_longitude_and_latitude_and_the_turned_grid() -> None:
    place = {"longitude": 0.02, "latitude": 0.05, "depth": 300.0}
    (source,) = build({**place, **COUPLE, "moment": 1e16}, geography=Map())
    assert source.position == pytest.approx((2000.0, 5000.0, 300.0))
    np.testing.assert_allclose(source.moment, moment.double_couple(233 - 36.9, 77, 49, 1e16))


def test_tensors_in_both_frames_and_optional_entries() -> None:
    history = {"time_function": {"kind": "gaussian", "sigma": 0.1, "delay": None}}
    rtp = dict(zip(("rr", "tt", "pp", "rt", "rp", "tp"), rng.normal(size=6), strict=True))
    ned = dict(zip(("nn", "ee", "dd", "ne", "nd", "ed"), rng.normal(size=6), strict=True))
    table = {**PLACE, **history, "kind": "moment-tensor"}
    first, second = build({**table, "components": rtp}, {**table, "components": ned})
    np.testing.assert_allclose(first.moment, moment.from_rtp(rtp.values()))
    np.testing.assert_allclose(second.moment, moment.from_ned(ned.values()))


def test_an_explosion() -> None:
    (source,) = build({**PLACE, "kind": "explosion", "moment": 2e15, "time_function": BRUNE})
    np.testing.assert_allclose(source.moment, [2e15, 2e15, 2e15, 0, 0, 0])


def test_a_force_follows_the_amplitude() -> None:
    ricker = {"kind": "ricker", "frequency": 2.0}
    force = (0.0, 1e5, 1e10)
    (source,) = build({**PLACE, "kind": "force", "force": force, "time_function": ricker})
    assert source.moment is None
    np.testing.assert_array_equal(source.force, force)
    a = (np.pi * 2.0 * 0.005) ** 2  # 5 ms after the peak, which comes 1.5 / f after the onset
    assert at(source, 0.755) == pytest.approx((1 - 2 * a) * np.exp(-a), rel=1e-12)
    assert not net_moment([source]).any()


# --- airguns --------------------------------------------------------------------------------------

WATER: dict[str, Any] = {"rigidity": lambda x, y, z: np.zeros(np.shape(x))}
AIRGUN = {"kind": "airgun", **PLACE}


def test_a_volume_is_an_isotropic_moment() -> None:
    [source] = build({**AIRGUN, "volume": "3 L", "time_function": BRUNE}, **WATER)
    assert source.moment is not None
    assert source.moment == pytest.approx(3e-3 * LAM * np.array([1, 1, 1, 0, 0, 0]))
    t = np.linspace(0, 3, 50)
    assert at(source, t) == pytest.approx(Brune(rise=0.2)(t), abs=0.01)


def test_a_strength_is_the_rate_of_the_volume_rate() -> None:
    """rho / (4 pi) times the second derivative of the volume, whose rate stays at the end."""
    section = {**AIRGUN, "strength": "2 bar m", "time_function": {**BRUNE, "onset": 0.505}}
    [source] = build(section, **WATER)
    assert source.moment is not None
    t = np.linspace(0.52, 5.98, 3000)
    rate = at(source, t) * source.moment[0] / LAM
    peak = RHO / (4 * np.pi) * np.gradient(rate, t).max()
    assert peak == pytest.approx(2e5, rel=0.01)
    total = 4 * np.pi * 2e5 / RHO * np.e * 0.2  # Brune's pulse of the peak 1 has the area e T
    assert rate[-1] == pytest.approx(total, rel=2e-4)
    assert at(source, 0.5) == 0


def test_the_signature_of_a_file_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "gun.txt").write_text("0 0\n0.1 20\n0.2 0\n")  # s, bar m
    table = {"kind": "table", "file": "gun.txt"}
    section = {**AIRGUN, "strength": "1 bar m", "time_function": table}
    [source] = build(section, folder=tmp_path, **WATER)
    assert source.moment is not None
    assert at(source, 1.0) * source.moment[0] / LAM == pytest.approx(4 * np.pi * 2e5 / RHO)


def test_airguns_in_solids_are_refused() -> None:
    told = r"source\[0\]: an airgun must be in water, but the medium is solid at x = 1000 m, y = 20"
    with pytest.raises(InputError, match=told):
        build({**AIRGUN, "volume": 1e-3, "time_function": BRUNE})
    with pytest.raises(InputError, match="starts at 7 s, but the run ends at 6 s"):
        build({**AIRGUN, "strength": 1e5, "time_function": {**BRUNE, "onset": 7}}, **WATER)


def test_files_are_found_from_the_case_folder(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("0 0\n1 2\n2 0\n")
    table = {"kind": "table", "file": Path("t.txt")}
    source = {**PLACE, **COUPLE, "moment": 1.0, "time_function": table}
    (found,) = build(source, folder=tmp_path)
    assert at(found, 0.505) == pytest.approx(1.01)


def test_requests_that_cannot_be_honoured() -> None:
    with pytest.raises(InputError, match=r"^source\[1\]: .*too short for time steps of 0\.05 s"):
        build(
            {**PLACE, **COUPLE, "moment": 1.0},
            {**PLACE, **COUPLE, "moment": 1.0, "time_function": {"kind": "brune", "rise": 0.01}},
            step=0.05,
        )
    instant = {"kind": "gaussian", "sigma": 1e-9, "delay": STEP}  # its peak is at a sample
    with pytest.raises(InputError, match=r"its moment would be wrong by a factor of 4e\+06;"):
        build({**PLACE, **COUPLE, "moment": 1.0, "time_function": instant})
    late = {"kind": "brune", "rise": 0.2, "onset": 6.0}
    with pytest.raises(InputError, match=r"source\[0\]: starts at 6 s, but the run ends at 6 s"):
        build({**PLACE, **COUPLE, "moment": 1.0, "time_function": late})


@pytest.mark.parametrize(
    ("step", "told"), [(0.0145, r"by 45 %;"), (0.0295, r"by a factor of 2\.9;"), (0.05, r"of 5;")]
)
def test_wrong_moments_are_told_in_per_cent_or_as_a_factor(step: float, told: str) -> None:
    """A cosine of 0.02 s, integral 0.01 s, of which only the peak is sampled."""
    pulse = {"kind": "cosine", "rise": 0.02, "onset": step - 0.01}
    with pytest.raises(InputError, match=f"its moment would be wrong .*{told}"):
        build({**PLACE, **COUPLE, "moment": 1.0, "time_function": pulse}, step=step)


def test_a_source_may_outlast_the_run_by_far() -> None:
    slow = {"kind": "brune", "rise": 2.0**31}
    (found,) = build({**PLACE, **COUPLE, "moment": 1.0, "time_function": slow})
    assert 0 < len(found.samples) * 0.01 < 6.1 and np.isfinite(found.samples).all()


# --- SRF -----------------------------------------------------------------------------------------


def rupture(points: int, counts: Any, **more: Any) -> Srf:
    return make_rupture(rng, points, counts, **more)


def build_srf(tmp_path: Path, srf: Srf, **more: Any) -> list[PointSource]:
    write_srf(tmp_path / "r.srf", srf)
    table = {"kind": "srf", "file": Path("r.srf")}
    return build(table, geography=Map(), folder=tmp_path, **more)


def slips(srf: Srf, component: int) -> np.ndarray:
    """Slip of each point: every sample counts one step."""
    return np.array([srf.step[n] * srf.rate(n, component).sum() for n in range(len(srf))])


def test_slip_becomes_moment(tmp_path: Path) -> None:
    """M = mu A D (s n^T + n s^T), summed over points and over both directions of slip."""
    srf = rupture(20, [7, 3, 0])
    sources = build_srf(tmp_path, srf)
    assert len(sources) == 40
    strike = srf.strike - Map.true_azimuth
    normal = moment.fault_normal(strike, srf.dip)
    slip = slips(srf, 0)[:, None] * moment.slip_direction(strike, srf.dip, srf.rake)
    slip += slips(srf, 1)[:, None] * moment.slip_direction(strike, srf.dip, srf.rake + 90)
    couples = np.einsum("n,ni,nj->ij", MU * srf.area, slip, normal)
    yxz = couples + couples.T
    total = net_moment(sources)
    expected = [yxz[1, 1], yxz[0, 0], yxz[2, 2], yxz[0, 1], yxz[1, 2], yxz[0, 2]]
    np.testing.assert_allclose(total, expected, rtol=1e-6, atol=1e-6 * np.abs(total).max())


def test_samples_stand_at_their_times_and_places(tmp_path: Path) -> None:
    srf = rupture(5, [6, 0, 0])
    for n, source in enumerate(build_srf(tmp_path, srf)):
        t = srf.onset[n] + srf.step[n] * np.arange(6)
        per_metre = moment.scalar_moment(source.moment) * at(source, t)
        np.testing.assert_allclose(per_metre, MU * srf.area[n] * srf.rate(n, 0), rtol=1e-6)
        assert at(source, [t[0] - 1.001 * srf.step[n], t[-1] + 1.001 * srf.step[n]]).max() == 0
        place = (1e5 * srf.longitude[n], 1e5 * srf.latitude[n], srf.depth[n])
        assert source.position == pytest.approx(place)


def test_slip_that_turns_back_keeps_its_sign(tmp_path: Path) -> None:
    srf = rupture(1, [3, 0, 0], rates=np.array([1.0, -3.0, 1.0]))
    (source,) = build_srf(tmp_path, srf)
    per_metre = moment.double_couple(srf.strike - 36.9, srf.dip, srf.rake, MU * srf.area)[0]
    np.testing.assert_allclose(net_moment([source]), -srf.step[0] * per_metre, rtol=1e-6)


def test_version_2_brings_its_own_rigidity(tmp_path: Path) -> None:
    vs, density = np.array([3000.0, np.nan, 2000.0]), np.array([2700.0, 2500.0, np.nan])
    srf = rupture(3, [4, 0, 0], vs=vs, density=density, version="2.0")
    found = [moment.scalar_moment(net_moment([source])) for source in build_srf(tmp_path, srf)]
    mu = np.array([2700 * 3000**2, MU, MU])
    np.testing.assert_allclose(found, mu * srf.area * slips(srf, 0), rtol=1e-6)


def test_the_medium_is_asked_where_the_points_are(tmp_path: Path) -> None:
    srf = rupture(8, [4, 0, 0])
    sources = build_srf(tmp_path, srf, rigidity=lambda x, y, z: 1e6 * z + x - 2 * y)
    found = [moment.scalar_moment(net_moment([source])) for source in sources]
    mu = 1e6 * srf.depth + 1e5 * srf.longitude - 2e5 * srf.latitude
    np.testing.assert_allclose(found, mu * srf.area * slips(srf, 0), rtol=1e-6)


def test_a_fault_that_opens_needs_lambda(tmp_path: Path) -> None:
    srf = rupture(2, [0, 0, 3])
    total = net_moment(build_srf(tmp_path, srf))
    trace = (srf.area * slips(srf, 2) * (3 * LAM + 2 * MU)).sum()
    np.testing.assert_allclose(total[:3].sum(), trace, rtol=1e-6)


def test_points_without_slip_are_left_out(tmp_path: Path) -> None:
    counts = np.array([[3, 0, 0], [0, 0, 0], [2, 0, 0]])
    srf = rupture(3, counts, rates=np.array([0.0, 1.0, 0.0, 0.0, 0.0]))
    assert len(build_srf(tmp_path, srf)) == 1


# --- AWP -----------------------------------------------------------------------------------------


def build_awp(tmp_path: Path, source: AwpSource, step: float, **more: Any) -> list[PointSource]:
    write_awp_source(tmp_path / "s.bin", source)
    points, steps, _ = source.rates.shape
    table = {"kind": "awp", "file": "s.bin", "points": points, "steps": steps, "step": step}
    return build({**table, "format": "binary"}, folder=tmp_path, **more)


def test_awp_rates_act_step_by_step(tmp_path: Path) -> None:
    """With the file's own step, stress update n gets sample n, as in AWP."""
    rates = (1e15 * rng.normal(size=(3, 9, 6))).astype(np.float32)
    rates[1, :, 3:] = 0
    awp = AwpSource(rng.integers(1, 50, (3, 3)), rates)
    sources = build_awp(tmp_path, awp, STEP)
    assert len(sources) == 6 + 3 + 6
    t = (np.arange(9) + 1.0) * STEP
    acted = np.zeros((3, 9, 6))
    places = [((i - 0.5) * 100, (j - 0.5) * 100, (k - 0.5) * 50) for i, j, k in awp.points]
    for source in sources:
        acted[places.index(source.position)] += at(source, t)[:, None] * source.moment
    xx, yy, zz, xz, yz, xy = np.moveaxis(rates, -1, 0)
    expected = np.stack([xx, yy, zz, xy, -xz, -yz], axis=-1)
    np.testing.assert_allclose(acted, expected, rtol=1e-5, atol=1e9)
    np.testing.assert_allclose(
        net_moment(sources), STEP * expected.sum(axis=(0, 1)), rtol=1e-4, atol=1e9
    )
