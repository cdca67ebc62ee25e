"""Moments and magnitudes of sources, as check, the summary and the report show them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from awp_files import write_awp_source
from pydantic import TypeAdapter
from ruptures import make_rupture

from groundswell.case.quantities import Quantity
from groundswell.seismology.case.events import EventSection
from groundswell.seismology.case.sources import Source
from groundswell.seismology.formats.awp import AwpSource
from groundswell.seismology.formats.srf import write_srf
from groundswell.seismology.sources import moment
from groundswell.seismology.sources.build import build_sources
from groundswell.seismology.sources.entries import SourceEntry
from groundswell.seismology.sources.point_sources import SourceContext
from groundswell.seismology.sources.quantities import event_quantities, source_quantities
from groundswell.seismology.sources.summary import SourceSummary

MU = 3e10
PLACE = {"x": 1000.0, "y": 2000.0, "depth": 5000.0}
PULSE = {"kind": "cosine", "rise": 0.5}
COUPLE = {**PLACE, "kind": "double-couple", "strike": 233, "dip": 77, "rake": 49}
COUPLE |= {"moment": 5e16, "time_function": PULSE}
FORCE = {**PLACE, "kind": "force", "force": (3e9, 0, -4e9), "time_function": PULSE}
EXPLOSION = {**PLACE, "kind": "explosion", "moment": 2e15, "time_function": PULSE}
SECTION: TypeAdapter[Any] = TypeAdapter(Source)


def build(*sources: dict[str, Any], duration: float = 6.0) -> list[SourceEntry]:
    def everywhere(x: Any, y: Any, z: Any) -> Any:
        return np.full(np.shape(x), MU)

    context = SourceContext(None, 0.01, duration, (100.0,) * 3, *[everywhere] * 3)
    return build_sources([SECTION.validate_python(source) for source in sources], context)


def quantities(*sources: dict[str, Any]) -> dict[str, Quantity]:
    entries = build(*sources)
    found = source_quantities(entries, SourceSummary.from_entries(entries), "Sources")
    return {quantity.key: quantity for quantity in found}


def rupture(path: Path, **more: Any) -> dict[str, Any]:
    """Four subfaults, of which the first slips along two directions and the third not at all."""
    counts = np.array([[6, 5, 0], [7, 0, 0], [0, 0, 0], [4, 0, 0]])
    write_srf(path, make_rupture(np.random.default_rng(2), 4, counts, **more))
    return {"kind": "srf", "file": path, "x": 1e4, "y": 1e4}


def mw(m0: float) -> float:
    return float((np.log10(m0) - 9.1) / 1.5)


def test_airguns_have_no_magnitude() -> None:
    section = {**PLACE, "kind": "airgun", "time_function": PULSE}

    def still(x: Any, y: Any, z: Any) -> Any:
        return np.zeros(np.shape(x))

    def found(**size: Any) -> dict[str, Quantity]:
        fluid = SourceContext(None, 0.01, 6.0, (100.0,) * 3, still, lambda *_: 2e9, lambda *_: 1e3)
        entries = build_sources([SECTION.validate_python({**section, **size})], fluid)
        assert entries[0].released_by(6.0) == 1
        all_of = source_quantities(entries, SourceSummary.from_entries(entries), "Sources")
        return {quantity.key: quantity for quantity in all_of}

    loud, large = found(strength="20 bar m"), found(volume="4 L")
    assert loud["sources"].text == "1 airgun of 20 bar m"
    assert large["sources"].text == "1 airgun of 0.004 m3"
    assert large["sources"].value == [{"kind": "airgun", "volume": 0.004, "strength": None}]
    assert large["magnitude"].value is None and large["moment"].value == 0


def test_a_single_source_shows_its_moment_and_magnitude() -> None:
    found = quantities(COUPLE)
    assert found["sources"].text == f"1 double couple\nM0 5e+16 N m, Mw {mw(5e16):.2f}"
    (values,) = found["sources"].value  # type: ignore[misc]
    assert values["moment"] == pytest.approx(5e16) == values["summed_moment"]
    assert values["magnitude"] == round(mw(5e16), 2) == found["magnitude"].value
    assert found["moment"].value == pytest.approx(5e16)
    assert not found["moment"].label  # it is the same
    assert found["point_sources"].value == 1


def test_a_rupture_counts_subfaults_and_not_directions_of_slip(tmp_path: Path) -> None:
    angles = {name: np.full(4, a) for name, a in (("strike", 30.0), ("dip", 90.0), ("rake", 180.0))}
    section = rupture(tmp_path / "r.srf", **angles)
    (entry,) = build(section)
    found = quantities(section)
    assert found["point_sources"].value == 4 == len(entry.points)  # 2 + 1 + 0 + 1
    (values,) = found["sources"].value  # type: ignore[misc]
    assert (values["subfaults"], values["slipping"], values["own_rigidity"]) == (4, 3, 0)
    srf = make_rupture(np.random.default_rng(2), 4, [[6, 5, 0], [7, 0, 0], [0] * 3, [4, 0, 0]])
    slip = np.linalg.norm(srf.integrated_slip, axis=1)
    assert values["area"] == pytest.approx(srf.area[[0, 1, 3]].sum())
    assert values["largest_slip"] == pytest.approx(slip.max())
    assert values["summed_moment"] == pytest.approx((MU * srf.area * slip).sum())
    starts, ends = srf.slip_times.T
    assert values["start"] == pytest.approx(np.nanmin(starts))
    assert values["end"] == pytest.approx(np.nanmax(ends))
    lines = found["sources"].text.split("\n")
    assert lines[0] == "1 rupture of 4 subfaults (r.srf)"
    assert f"slip of at most {slip.max():.3g} m on" in lines[2] and "in 3 subfaults" in lines[2]
    assert lines[3] == "mu of the medium"


def test_net_and_summed_moments_are_told_apart(tmp_path: Path) -> None:
    """Subfaults of random mechanisms: the magnitude is that of the sum of their tensors."""
    section = rupture(tmp_path / "r.srf")
    (entry,) = build(section)
    tensors = np.zeros((5, 6))
    for point in entry.points:
        tensors[point.number] += point.moment * point.step * point.samples.sum()
    net = float(moment.scalar_moment(tensors.sum(axis=0)))
    summed = float(moment.scalar_moment(tensors).sum())
    assert summed > 1.1 * net
    text = quantities(section)["sources"].text.split("\n")[1]
    assert text == (
        f"M0 {net:.3g} N m, Mw {mw(net):.2f} (net moment tensor; scalar moments add up to "
        f"M0 {summed:.3g} N m, Mw {mw(summed):.2f})"
    )


def test_several_sources_show_each_and_their_net_moment(tmp_path: Path) -> None:
    opposite = COUPLE | {"rake": 49 - 180, "moment": 2e16}
    write_awp_source(
        tmp_path / "s.bin", AwpSource(np.array([[9, 9, 9]]), np.full((1, 4, 6), 1e16, np.float32))
    )
    awp = {"kind": "awp", "file": tmp_path / "s.bin", "points": 1, "steps": 4, "step": 0.1}
    found = quantities(COUPLE, opposite, FORCE, EXPLOSION, awp)
    first, *lines = found["sources"].text.split("\n")
    assert first == "2 double couples, 1 force, 1 explosion, 1 AWP source"
    assert lines[1] == f"source[1]: double couple, M0 2e+16 N m, Mw {mw(2e16):.2f}"
    assert lines[2] == "source[2]: force of 5e+09 N: (3e+09, 0, -4e+09) N"
    assert lines[3].startswith(f"source[3]: explosion, M0 {np.sqrt(1.5) * 2e15:.3g} N m")
    assert lines[4].startswith("source[4]: AWP source of 1 point (s.bin), M0 ")
    kinds = [values["kind"] for values in found["sources"].value]  # type: ignore[union-attr,index]
    assert kinds == ["double-couple"] * 2 + ["force", "explosion", "awp"]
    both = quantities(COUPLE, opposite)
    assert both["moment"].label == "all sources"
    assert both["moment"].value == pytest.approx(3e16)  # opposite tensors
    assert both["summed_moment"].value == pytest.approx(7e16)
    assert "Mw 4.92 (net moment tensor; scalar moments add up to M0 7e+16" in both["moment"].text


def test_sources_that_cancel_have_a_sum_but_no_net_moment() -> None:
    found = quantities(COUPLE, COUPLE | {"rake": 49 - 180})
    assert found["magnitude"].value is None and found["moment"].value == 0
    assert found["moment"].text.startswith("no net moment; scalar moments add up to M0 1e+17 N m")


def test_many_sources_are_counted_and_the_first_are_shown() -> None:
    found = quantities(*[COUPLE] * 30)
    lines = found["sources"].text.split("\n")
    assert lines[0] == "30 double couples" and lines[-1] == "and 22 more" and len(lines) == 10
    assert len(found["sources"].value) == 30  # type: ignore[arg-type]


def test_moment_that_is_taken_back_and_forces_have_no_magnitude() -> None:
    ricker = COUPLE | {"time_function": {"kind": "ricker", "frequency": 2.0}}
    found = quantities(ricker)
    assert found["sources"].text == "1 double couple\nno final moment; M0 up to 5e+16 N m"
    assert found["moment"].value == 0 and found["magnitude"].value is None
    found = quantities(FORCE)
    assert found["sources"].text == "1 force of 5e+09 N: (3e+09, 0, -4e+09) N"
    assert found["sources"].value == [{"kind": "force", "force": [3e9, 0, -4e9]}]


@pytest.mark.parametrize("onset", [0.0, 2.0, 5.8])
def test_the_moment_released_within_a_run(tmp_path: Path, onset: float) -> None:
    brune = COUPLE | {"time_function": {"kind": "brune", "rise": 0.5, "onset": onset}}
    left = (6 - onset) / 0.5
    (entry,) = build(brune)
    assert entry.released_by(6.0) == pytest.approx(1 - (1 + left) * np.exp(-left), abs=3e-3)
    section = rupture(tmp_path / "r.srf", onset=np.full(4, onset), step=np.full(4, 0.07))
    (entry,) = build(section)
    parts = []
    for point in entry.points:
        times = point.start + point.step * np.arange(point.samples.size)
        weight = moment.scalar_moment(point.moment) * point.samples
        parts.append([weight[times > 6.0].sum() * point.step, weight.sum() * point.step])
    late, total = np.sum(parts, axis=0)
    assert entry.released_by(6.0) == pytest.approx(1 - late / total)
    assert bool(late > 0) is (onset > 5)
    (entry,) = build(FORCE)
    assert entry.released_by(6.0) == 1


def test_a_case_without_sources_has_a_date_but_no_centroid() -> None:
    """A case with a fault only."""
    event = EventSection(origin_time="2014-03-29T04:09:42Z")
    shown = {q.key: q for q in event_quantities(event, 0.0, "Sources", has_sources=False)}
    assert shown["reference_time"].value == "2014-03-29T04:09:42Z"
    assert "centroid_time" not in shown
