"""Examples can run as they are, and the numbers in their texts are those that programs print.

What `check` shows is compared on every run; the long variants run the examples as they are and
compare what their texts say of the results, to the last digit that they print.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from numpy.typing import NDArray
from variants import short_and_long

import groundswell as gs
from groundswell.seismology.signals import lowpass
from groundswell.simulation.preparation import check
from groundswell.simulation.result import Result
from groundswell.solvers.earthquake import EarthquakeCase

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NAMES = ("la_habra", "loh1", "loh3", "basin", "finite_fault")
checked = cache(check)


def text_of(path: str) -> str:
    """A text with single blanks."""
    return " ".join((ROOT / path).read_text(encoding="utf-8").split())


def assert_printed(printed: str, value: float) -> None:
    """A number in a text is a value, rounded to its digits."""
    decimals = len(printed.partition(".")[2])
    assert abs(float(printed) - value) <= 0.501 * 10.0**-decimals, (printed, value)


def cases(name: str) -> list[dict[str, Any]]:
    """What `check` shows for the cases of an example, in the order of the columns of its table."""
    names = ("case.toml", "case_fine.toml")
    return [checked(EXAMPLES / name / n) for n in names if (EXAMPLES / name / n).exists()]


# --- what `check` shows ---------------------------------------------------------------------------


def case_files() -> Iterator[Any]:
    for path in sorted(EXAMPLES.glob("*/case*.toml")):
        yield pytest.param(path, id=f"{path.parent.name}/{path.stem}")


@pytest.mark.parametrize("path", list(case_files()))
def test_every_case_file_can_run_as_it_is(path: Path) -> None:
    found = checked(path)
    fine = path.stem == "case_fine"
    assert found["memory"] < (24e9 if fine else 0.5e9)
    if not fine:
        assert np.prod(found["cells"]) * found["steps"] < 3e9
    # Brune's pulse of the LOH problems is too sharp for 100 m cells, and their READMEs say so.
    if path.parent.name.startswith("loh"):
        assert all("low-pass the results" in sentence for sentence in found["warnings"])
    else:
        assert found["warnings"] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "loh3"])
def test_tables_have_the_cells_and_steps_of_the_cases(name: str) -> None:
    text = text_of(f"examples/{name}/README.md")
    grids = re.findall(r"(\d+) x (\d+) x (\d+) = ([\d.]+) million", text)
    steps = re.findall(r"(\d+) of ([\d.]+) ms", text)
    assert len(grids) == len(steps) == len(cases(name))
    for (*cells, millions), (count, step), found in zip(grids, steps, cases(name), strict=True):
        assert tuple(map(int, cells)) == tuple(found["cells"])
        assert_printed(millions, np.prod(found["cells"]) / 1e6)
        assert int(count) == found["steps"]
        assert_printed(step, 1e3 * found["dt"])


def test_la_habra_has_the_speeds_of_its_table() -> None:
    text, (coarse, fine) = text_of("examples/la_habra/README.md"), cases("la_habra")
    slowest = re.search(r"of a cell \| (\d+) m/s in the top row, .* below it \| (\d+) m/s", text)
    points = re.search(r"S wavelength \| ([\d.]+) in the top .*, at 0.8 Hz \| ([\d.]+) and", text)
    assert slowest and points
    for n, (found, frequency) in enumerate([(coarse, 0.8), (fine, 3.0)], 1):
        assert float(slowest[n]) == pytest.approx(found["vs_min"], abs=5)
        assert_printed(points[n], found["vs_min"] / max(found["spacing"]) / frequency)


def test_the_list_of_examples_has_their_costs() -> None:
    text = text_of("examples/README.md")
    for name in NAMES:
        cost = re.search(rf"\[{name}\]\([^|]*\|[^|]*\| ([\d.e]+)", text)
        assert cost
        found = cases(name)[0]
        assert float(f"{np.prod(found['cells'], dtype=float) * found['steps']:.1e}") == float(
            cost[1]
        )


@pytest.mark.parametrize("number", short_and_long(range(1, 7), {4, 5}))
def test_transcranial_cases_can_run_as_they_are(number: int) -> None:
    """The long variants are cases whose layers are like those of case 6, but flat or bone alone."""
    found = checked(EXAMPLES / "transcranial" / f"bm{number}.toml")
    assert found["problems"] == [] and found["warnings"] == []
    assert found["memory"] < 1e9
    assert found["region"] == (251, 141, 141)


def test_transcranial_cases_have_the_points_and_steps_of_their_table() -> None:
    text = text_of("examples/transcranial/README.md")
    points = re.search(r"absorbing layers \| (\d+) x (\d+) x (\d+) = ([\d.]+) million", text)
    steps = re.search(r"\| steps \| " + r" \| ".join([r"(\d+) of (\d+) ns"] * 3), text)
    assert points and steps
    for n in range(3):
        found = checked(EXAMPLES / "transcranial" / f"bm{n + 1}.toml")
        assert tuple(map(int, points.groups()[:3])) == tuple(found["points"])
        assert_printed(points[4], np.prod(found["points"]) / 1e6)
        assert int(steps[2 * n + 1]) == found["steps"]
        assert_printed(steps[2 * n + 2], 1e9 * found["dt"])


# --- what the runs give ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Result]:
    """Runs of the examples as they are."""

    @cache
    def ran(name: str) -> Result:
        return gs.run(EXAMPLES / name / "case.toml", folder=tmp_path_factory.mktemp(name))

    return ran


def horizontal(result: Result, station: str) -> NDArray[Any]:
    """Horizontal speed of a station by time, cm/s."""
    velocity = result.seismograms
    trace = velocity[list(velocity["code"].values).index(station)]
    return 100 * np.hypot(trace.sel(component="E").values, trace.sel(component="N").values)


def peak(result: Result, station: str) -> float:
    return float(horizontal(result, station).max())


def largest(result: Result) -> xarray.DataArray:
    """The largest value of the shaking map, cm/s, with its position."""
    pgv = 100 * result.shaking_map["pgv"]
    return pgv[pgv.argmax(...)]


def epicentral(result: Result, place: xarray.DataArray) -> float:
    """Distance of a place from the epicentre, km."""
    attrs = result.shaking_map.attrs
    name = "epicentre" if "epicentre_x" in attrs else "event"
    away = [float(place[axis]) - float(attrs[f"{name}_{axis}"]) for axis in "xy"]
    return float(np.hypot(*away)) / 1e3


def test_the_peak_of_the_first_picture(tmp_path: Path) -> None:
    """The strongest motion comes with the first S waves, so a fifth of the run is enough."""
    few = {"time.duration": "4 s", "output.surface": {"interval": "2 s", "stride": 8}}
    found = gs.run(EXAMPLES / "la_habra" / "case.toml", folder=tmp_path, settings=few)
    said = re.search(r"four lobes around the epicentre, up to ([\d.]+) cm/s", text_of("README.md"))
    assert said
    assert_printed(said[1], float(largest(found)))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_text_on_la_habra(results: Callable[[str], Result]) -> None:
    found, text = results("la_habra"), text_of("examples/la_habra/README.md")
    said = re.search(
        r"strongest, up to ([\d.]+) cm/s at ([\d.]+) km; .* decreases from ([\d.]+) cm/s at "
        r"[\d.]+ km \(OLI\) and ([\d.]+) cm/s at 10 km \(WLT\) to ([\d.]+) cm/s at 22 km \(PSR\)",
        text,
    )
    assert said
    assert_printed(said[1], float(largest(found)))
    assert_printed(said[2], epicentral(found, largest(found)))
    for number, station in enumerate(("OLI", "WLT", "PSR"), 3):
        assert_printed(said[number], peak(found, station))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_text_on_the_basin(results: Callable[[str], Result]) -> None:
    found, text = results("basin"), text_of("examples/basin/README.md")
    said = re.search(r"largest peak, ([\d.]+) cm/s at `L05` near the middle, occurs (\d+) s", text)
    assert said
    assert_printed(said[1], peak(found, "L05"))
    inside = re.search(r"peaks are ([\d.]+) to ([\d.]+) cm/s inside, and ([\d.]+) cm/s", text)
    assert inside
    peaks = [peak(found, f"L0{n}") for n in range(3, 7)]
    assert_printed(inside[1], min(peaks))
    assert_printed(inside[2], max(peaks))
    for station in ("NORTH", "SOUTH"):
        assert_printed(inside[3], peak(found, station))
    time = found.seismograms["time"].values[horizontal(found, "L05").argmax()]
    assert_printed(said[2], float(time))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_text_on_sediments_that_yield(tmp_path: Path) -> None:
    folder = EXAMPLES / "basin"
    content = tomllib.loads((folder / "yielding.toml").read_text(encoding="utf-8"))
    case = EarthquakeCase.from_dict(content, folder)
    del content["plasticity"], content["output"]["record"]
    linear = EarthquakeCase.from_dict(content, folder)
    found, without = (
        gs.run(each, folder=tmp_path / name) for name, each in (("a", case), ("b", linear))
    )
    text = text_of("examples/basin/README.md")
    said = re.search(r"in (\d+) km³.* reaches ([\d.]+) %", text)
    assert said
    findings = found.summary["findings"]
    assert_printed(said[1], findings["yielded_volume"] / 1e9)
    assert_printed(said[2], 100 * findings["largest_plastic_strain"])
    peaks = re.search(r"at `L05` is ([\d.]+) m/s, and ([\d.]+) m/s", text)
    assert peaks
    for words, result in zip(peaks.groups(), (found, without), strict=True):
        assert_printed(words, peak(result, "L05") / 100)
    smaller = re.search(r"At `L03`, near the source, the motion is (\d+) % smaller", text)
    assert smaller
    assert_printed(smaller[1], 100 * (1 - peak(found, "L03") / peak(without, "L03")))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_text_on_the_rupture(results: Callable[[str], Result]) -> None:
    found, text = results("finite_fault"), text_of("examples/finite_fault/README.md")
    said = re.search(
        r"on the map, (\d+) cm/s, is beyond the end of the fault, (\d+) km from the epicentre .* "
        r"one pulse of (\d+) cm/s across the fault. `REAR` records (\d+) cm/s",
        text,
    )
    assert said
    assert_printed(said[1], float(largest(found)))
    assert_printed(said[2], epicentral(found, largest(found)))
    assert_printed(said[3], peak(found, "AHEAD"))
    assert_printed(said[4], peak(found, "REAR"))


@pytest.mark.full
@pytest.mark.timeout(1800)
def test_the_texts_on_loh(results: Callable[[str], Result]) -> None:
    elastic, lossy = results("loh1"), results("loh3")
    said = re.search(r"Peaks of up to (\d+) m/s", text_of("examples/loh1/README.md"))
    assert said
    assert_printed(said[1], float(largest(elastic)) / 100)
    text = text_of("examples/loh3/README.md")
    far = re.search(
        r"at `S10` are ([\d.]+) to ([\d.]+) of those in LOH.1, or ([\d.]+) to ([\d.]+) below", text
    )
    near = re.search(r"nearly above the source, they are ([\d.]+) to ([\d.]+\d)", text)
    assert far and near
    ranges = {
        (far[1], far[2]): peak_ratios(lossy, elastic, "S10"),
        (far[3], far[4]): peak_ratios(lossy, elastic, "S10", below=2.5),
        (near[1], near[2]): peak_ratios(lossy, elastic, "S01"),
    }
    for (least, most), ratios in ranges.items():
        assert_printed(least, min(ratios))
        assert_printed(most, max(ratios))


def peak_ratios(a: Result, b: Result, station: str, below: float | None = None) -> NDArray[Any]:
    """Peaks of the components of a station in `a` over those in `b`; only `below` so many Hz."""
    peaks = []
    for velocity in (a.seismograms, b.seismograms):
        trace = velocity[list(velocity["code"].values).index(station)]
        time, values = trace["time"].values, trace.values.astype(float)
        if below is not None:
            values = lowpass(values, time[1] - time[0], below)
        peaks.append(np.abs(values).max(axis=1))
    return np.asarray(peaks[0] / peaks[1])
