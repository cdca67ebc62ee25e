"""Ground-motion models of pyGMM: medians and scatter from magnitude, distance and site."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, did_you_mean, install, listed, reason_of
from groundswell.seismology.hazard.exceedance import Lognormal
from groundswell.seismology.hazard.measures import GRAVITY, Measure
from groundswell.seismology.hazard.ruptures import Rupture, Ruptures, some
from groundswell.seismology.hazard.sites import Sites
from groundswell.seismology.hazard.surfaces import Distances, Surface

# Models of shallow crustal earthquakes, whose parameters all follow from a rupture and a site.
MODELS = {
    "ASB14": "AkkarSandikkayaBommer2014",
    "ASK14": "AbrahamsonSilvaKamai2014",
    "BSSA14": "BooreStewartSeyhanAtkinson2014",
    "CB14": "CampbellBozorgnia2014",
    "CY14": "ChiouYoungs2014",
    "I14": "Idriss2014",
}
_SPECTRAL = ("psa", "sa", "rotd50")  # these models predict RotD50 or the geometric mean
_CM = 0.01  # m
_KM = 1e3  # m
Values = tuple[Floats, Floats]  # mean logarithms and deviations, (measures,)


@dataclass
class GroundMotionModel:
    """A model, and how it is used.

    Args:
        name: one of MODELS.
        parameters: further parameters of pyGMM, such as `{"region": "japan"}`.
        truncation: largest number of standard deviations from the mean.
        maximum_distance: sites farther from a rupture, m, do not feel it.

    Attributes:
        remarks: what the model has warned of, such as distances beyond its range.

    Raises:
        InputError: there is no such model, or pyGMM is not installed.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    truncation: float | None = None
    maximum_distance: float = 300e3
    remarks: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.name not in MODELS:
            raise InputError(
                f"model {self.name!r}: must be {listed(MODELS)}{did_you_mean(self.name, MODELS)}"
            )
        known = _pygmm().Scenario.KNOWN_KEYS
        if unknown := [key for key in self.parameters if key not in known]:
            raise InputError(
                f"model {self.name}: no parameter is called {some(unknown)}"
                f"{did_you_mean(unknown[0], known)}"
            )

    def lognormal(
        self, measures: list[Measure], ruptures: Ruptures, sites: Sites
    ) -> dict[Measure, Lognormal]:
        """The distribution of each measure, for each rupture and site.

        Raises:
            InputError: a rupture has no surface, or the model lacks a measure.
        """
        if without := [rupture.name for rupture in ruptures if rupture.surface is None]:
            raise InputError(
                f"model {self.name} needs the surface of each rupture, which {some(without)} lacks"
            )
        shape = (len(measures), len(ruptures), len(sites))
        mean, deviation = np.full(shape, -np.inf), np.ones(shape)
        for n, rupture in enumerate(ruptures):
            assert rupture.surface is not None
            distances = rupture.surface.distances(sites.positions)
            for site in np.flatnonzero(distances.rupture <= self.maximum_distance):
                scenario = _scenario(rupture, rupture.surface, distances, sites, int(site))
                mean[:, n, site], deviation[:, n, site] = self._predict(scenario, measures)
        return {
            measure: Lognormal(mean[m], deviation[m], self.truncation)
            for m, measure in enumerate(measures)
        }

    def _predict(self, scenario: dict[str, Any], measures: list[Measure]) -> Values:
        library = _pygmm()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = getattr(library, MODELS[self.name])(
                    library.Scenario(**{**scenario, **self.parameters})
                )
                found = [self._of(model, measure) for measure in measures]
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise InputError(f"model {self.name}: {reason_of(error)}") from None
        self.remarks |= {f"{self.name}: {_short(str(each.message))}" for each in caught}
        means, deviations = np.array(found).T
        return means, deviations

    def _of(self, model: Any, measure: Measure) -> tuple[float, float]:
        """Mean logarithm (of SI units) and standard deviation of a measure."""
        try:
            if measure.period is not None and measure.name in _SPECTRAL:
                mean = float(model.interp_ln_spec_accels([measure.period])[0])
                pair = mean + np.log(GRAVITY), float(model.interp_ln_stds([measure.period])[0])
            elif measure.name in ("pga", "pga_rotd50"):
                pair = float(np.log(model.pga * GRAVITY)), float(model.ln_std_pga)
            elif measure.name in ("pgv", "pgv_rotd50"):
                pair = float(np.log(model.pgv * _CM)), float(model.ln_std_pgv)
            else:
                raise NotImplementedError
        except NotImplementedError:
            raise InputError(f"model {self.name} does not predict {measure}") from None
        if not np.isfinite(pair).all():
            raise InputError(f"model {self.name} has no {measure}: it is beyond its periods")
        return pair


def _scenario(
    rupture: Rupture, surface: Surface, distances: Distances, sites: Sites, site: int
) -> dict[str, Any]:
    """The parameters of a model, in the units of pyGMM: km, degrees, m/s."""
    scenario = {
        "mag": rupture.magnitude,
        "mechanism": _mechanism(rupture.rake),
        "dip": surface.dip,
        "width": surface.width / _KM,
        "depth_tor": surface.top_depth / _KM,
        "dist_rup": float(distances.rupture[site]) / _KM,
        "dist_jb": float(distances.joyner_boore[site]) / _KM,
        "dist_x": float(distances.across[site]) / _KM,
        "dist_y0": float(distances.along[site]) / _KM,
        "on_hanging_wall": bool(distances.across[site] >= 0),
        "v_s30": float(sites.vs30[site]),
    }
    if np.isfinite(sites.z1[site]):
        scenario["depth_1_0"] = float(sites.z1[site]) / _KM
    return scenario


def _mechanism(rake: float | None) -> str:
    """The style of faulting of the NGA-West2 models: SS, RS, NS or U for unknown."""
    if rake is None:
        return "U"
    turned = (rake + 180.0) % 360.0 - 180.0
    if 30 < turned < 150:
        return "RS"
    return "NS" if -150 < turned < -30 else "SS"


def _short(text: str) -> str:
    """A warning of pyGMM without the value, so that it appears once."""
    name, _, rest = text.partition(" (")
    return f"{name} is {rest.partition(') is ')[2].partition(' limit')[0]} limit" if rest else text


def _pygmm() -> ModuleType:
    try:
        import pygmm  # type: ignore[import-untyped]
    except ImportError:
        raise InputError(f"ground-motion models need pyGMM; {install('hazard')}") from None
    found: ModuleType = pygmm
    return found
