"""A hazard analysis: from its description to curves, maps and disaggregations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError
from groundswell.seismology.hazard.branches import Branch, open_branches, open_sites
from groundswell.seismology.hazard.case import DisaggregationSection, HazardCase
from groundswell.seismology.hazard.curves import (
    exceedance_rates,
    fractile,
    level_at,
    probability,
    weighted_mean,
)
from groundswell.seismology.hazard.disaggregation import (
    Contribution,
    Disaggregation,
    disaggregate,
)
from groundswell.seismology.hazard.measures import Measure
from groundswell.seismology.hazard.sites import Sites
from groundswell.seismology.map_lines.lines import Bounds
from groundswell.seismology.map_lines.run import far_lines

if TYPE_CHECKING:
    import xarray

_DECADES = 1e4  # largest ratio of levels that follow from the motion


@dataclass(frozen=True, eq=False)
class Hazard:
    """The results of an analysis.

    Args:
        case: its description.
        sites: the sites at which hazard is computed.
        branches: the combinations of ruptures and ground motion, whose weights add up to 1.
        curves: see `compute`.
        disaggregations: by site and measure.
        warnings: reasons to expect poor results.
    """

    case: HazardCase
    sites: Sites
    branches: list[Branch]
    curves: xarray.Dataset
    disaggregations: dict[tuple[str, Measure], Disaggregation]
    warnings: list[str] = field(default_factory=list)


def compute(case: HazardCase) -> Hazard:
    """Compute hazard curves, maps and disaggregations.

    Returns:
        The results, with a dataset of curves. It has `level` (measure, level) in SI units, the
        annual `rate` of exceedance (measure, site, level), its `rate_fractile` (fractile, ...) and
        `branch_rate` (branch, ...), the `probability` of exceedance within the exposure, and
        `map`, the level (return_period, measure, site) that is exceeded once per return period on
        average, with `map_fractile` (fractile, ...).

    Raises:
        InputError: files are missing or do not belong together.
    """
    sites = open_sites(case)
    _require_possible(case, sites)
    branches = open_branches(case, sites)
    levels = np.array([_levels(case, measure, branches) for measure in case.measures])
    curves = _curves(case, sites, branches, levels)
    parts = case.disaggregation
    found = dict(_disaggregations(case, sites, branches, curves, parts)) if parts else {}
    warnings = [
        *(*_remarks(branches), *_unshaken(curves, sites), *_out_of_range(curves, sites)),
        *_left_out(parts, case.measures, found),
        *_far_lines(case, sites),
    ]
    return Hazard(case, sites, branches, curves, found, warnings)


def _require_possible(case: HazardCase, sites: Sites) -> None:
    """Raise `InputError` before the work if the outputs are impossible."""
    for name in (*case.output.sites, *(case.disaggregation.sites if case.disaggregation else ())):
        sites.index(name)
    if case.output.openquake and not sites.is_geographic:
        raise InputError("output.openquake needs sites with longitude and latitude")


def _levels(case: HazardCase, measure: Measure, branches: Sequence[Branch]) -> Floats:
    """Levels (count,), evenly spaced in their logarithms."""
    low, high = case.levels.given(measure) or _span(measure, branches)
    return np.geomspace(low, high, case.levels.count)


def _span(measure: Measure, branches: Sequence[Branch]) -> tuple[float, float]:
    """The range of levels of the ground motion of all branches, at most some decades."""
    spans = [branch.motion[measure].span for branch in branches]
    high = max(span[1] for span in spans)
    low = max(min(span[0] for span in spans), high / _DECADES)
    return (low / 1.05, high * 1.05)


def _curves(
    case: HazardCase, sites: Sites, branches: Sequence[Branch], levels: Floats
) -> xarray.Dataset:
    import xarray

    weights = np.array([branch.weight for branch in branches])
    each = np.array([_rates(branch, case.measures, levels, len(sites)) for branch in branches])
    mean = weighted_mean(each, weights)
    spread = np.array([fractile(each, weights, share) for share in case.fractiles])
    spread = spread.reshape(len(case.fractiles), *mean.shape)
    along = ("measure", "site", "level")
    annual = {"units": "year-1"}
    data = {
        "level": (("measure", "level"), levels, {"long_name": "level of motion, SI units"}),
        "rate": (along, mean, annual | {"long_name": "mean annual rate of exceedance"}),
        "rate_fractile": (("fractile", *along), spread, annual),
        "branch_rate": (("branch", *along), each, annual),
        "probability": (
            along,
            probability(mean, case.exposure),
            {"long_name": f"probability of exceedance in {case.exposure:g} years"},
        ),
        "map": (
            ("return_period", "measure", "site"),
            _maps(case, levels, mean),
            {"long_name": "level exceeded once per return period, SI units"},
        ),
        "map_fractile": (
            ("fractile", "return_period", "measure", "site"),
            np.array([_maps(case, levels, rates) for rates in spread]).reshape(
                len(case.fractiles), len(case.return_periods), len(case.measures), len(sites)
            ),
        ),
        "weight": (("branch",), weights, {"long_name": "weight of the branch"}),
    }
    attrs = {"title": case.title, "exposure": case.exposure}
    return xarray.Dataset(data, _coordinates(case, sites, branches), attrs)


def _coordinates(
    case: HazardCase, sites: Sites, branches: Sequence[Branch]
) -> dict[str, tuple[str, object] | tuple[str, object, dict[str, str]]]:
    places = ("longitude", "latitude") if sites.is_geographic else ("x", "y")
    units = {"longitude": "degrees_east", "latitude": "degrees_north", "x": "m", "y": "m"}
    return {
        "measure": ("measure", [str(measure) for measure in case.measures]),
        "site": ("site", list(sites.names)),
        **{
            name: ("site", values, {"units": units[name]})
            for name, values in zip(places, sites.horizontal.T, strict=True)
        },
        "fractile": ("fractile", list(case.fractiles)),
        "branch": ("branch", [branch.name for branch in branches]),
        "return_period": ("return_period", list(case.return_periods), {"units": "year"}),
    }


def _rates(branch: Branch, measures: Sequence[Measure], levels: Floats, sites: int) -> Floats:
    """Annual rates (measures, sites, levels) of a branch."""
    rates = branch.ruptures.rates
    return np.array(
        [
            exceedance_rates(branch.motion[measure], rates, row, sites)
            for measure, row in zip(measures, levels, strict=True)
        ]
    )


def _maps(case: HazardCase, levels: Floats, rates: Floats) -> Floats:
    """Levels (return periods, measures, sites) at the return periods."""
    return np.array(
        [
            [level_at(row, curve, 1 / years) for row, curve in zip(levels, rates, strict=True)]
            for years in case.return_periods
        ]
    )


# --- disaggregation -------------------------------------------------------------------------------

Disaggregations = Iterator[tuple[tuple[str, Measure], Disaggregation]]


def _disaggregations(
    case: HazardCase,
    sites: Sites,
    branches: Sequence[Branch],
    curves: xarray.Dataset,
    section: DisaggregationSection,
) -> Disaggregations:
    """Yield the disaggregations at the chosen sites whose level lies within the curves."""
    for name in section.sites:
        site = sites.index(name)
        for m, measure in enumerate(case.measures):
            levels, rates = curves["level"].values[m], curves["rate"].values[m, site]
            level = float(level_at(levels, rates, 1 / section.return_period))
            if np.isfinite(level):
                parts = [_contribution(branch, measure, sites, site) for branch in branches]
                bins = (section.magnitude_bin, section.distance_bin)
                yield (name, measure), disaggregate(parts, site, level, bins)


def _contribution(branch: Branch, measure: Measure, sites: Sites, site: int) -> Contribution:
    distances = branch.ruptures.rupture_distances(sites.positions[[site]])[:, 0]
    return Contribution(branch.weight, branch.ruptures, branch.motion[measure], distances)


# --- warnings -------------------------------------------------------------------------------------


def _remarks(branches: Sequence[Branch]) -> list[str]:
    return sorted({remark for branch in branches for remark in branch.remarks})


def _unshaken(curves: xarray.Dataset, sites: Sites) -> Iterator[str]:
    """Yield a warning if no rupture moves some sites as much as the lowest level."""
    if count := int((curves["rate"].values == 0).all(axis=(0, 2)).sum()):
        yield (
            f"no rupture reaches the levels at {count} of {len(sites)} sites; check their "
            "positions, [levels] and maximum_distance"
        )


def _left_out(
    section: DisaggregationSection | None,
    measures: Sequence[Measure],
    found: Mapping[tuple[str, Measure], Disaggregation],
) -> Iterator[str]:
    """Yield a warning for each measure that is not disaggregated at some sites."""
    for measure in measures if section else ():
        assert section
        if names := [name for name in section.sites if (name, measure) not in found]:
            yield (
                f"no disaggregation of {measure} at {', '.join(names)}: the curve does not "
                f"reach a return period of {section.return_period:g} years; choose another"
            )


def _far_lines(case: HazardCase, sites: Sites) -> Iterator[str]:
    """Yield a note for each file of lines that maps do not show."""
    if sites.is_geographic and case.output.pictures:
        yield from far_lines(case.output.map_lines, Bounds.of(*sites.horizontal.T))


def _out_of_range(curves: xarray.Dataset, sites: Sites) -> Iterator[str]:
    """Yield a warning for each map in which some sites have levels outside the curves."""
    for measure in curves["measure"].values:
        for years in curves["return_period"].values:
            values = curves["map"].sel(measure=measure, return_period=years).values
            if missing := int(np.isnan(values).sum()):
                yield (
                    f"{measure} at {years:g} years is outside the range of levels at {missing} of "
                    f"{len(sites)} sites; set [levels], or choose another return period"
                )
