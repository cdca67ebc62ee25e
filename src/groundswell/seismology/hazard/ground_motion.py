"""Ground-motion models of pyGMM: medians and scatter from magnitude, distance and site."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from types import ModuleType
from typing import Any

import numpy as np

from groundswell.arrays import Floats
from groundswell.backends.threads import default_threads
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
# Parameters that follow from the rupture and the site.
OWN = (
    *("mag", "mechanism", "dip", "width", "depth_tor", "on_hanging_wall", "v_s30"),
    *("dist_rup", "dist_jb", "dist_x", "dist_y0"),
)
_SPECTRAL = ("psa", "sa", "rotd50")  # these models predict RotD50 or the geometric mean
_CM = 0.01  # m
_KM = 1e3  # m
_MANY = 5000  # predictions that several processes share
_FAULTING = "mag is beyond the recommended limits for the style of faulting"
_WRONG_OPTION = "is not one of the options"
Values = tuple[Floats, Floats]  # mean logarithms and deviations, (measures,)


@dataclass(frozen=True, eq=False)
class _Prediction:
    """Mean logarithms and deviations (measures, sites) of one rupture, and remarks."""

    mean: Floats
    deviation: Floats
    remarks: set[str] = field(default_factory=set)


@dataclass
class GroundMotionModel:
    """A ground-motion model with its options.

    Args:
        name: one of MODELS.
        parameters: further parameters of pyGMM, such as `{"region": "japan"}`.
        truncation: largest number of standard deviations from the mean.
        maximum_distance: distance from the site beyond which ruptures do not contribute, m.

    Attributes:
        remarks: warnings of the model, such as distances outside its range.

    Raises:
        InputError: there is no such model or parameter, or pyGMM is not installed.
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
        if own := [key for key in self.parameters if key in OWN]:
            raise InputError(
                f"model {self.name}: {some(own)} follows from the rupture and the site; leave it "
                "out"
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
        rows = list(self._rows(measures, ruptures, sites))
        self.remarks.update(*(row.remarks for row in rows))
        return {
            measure: Lognormal(
                np.array([row.mean[m] for row in rows]),
                np.array([row.deviation[m] for row in rows]),
                self.truncation,
            )
            for m, measure in enumerate(measures)
        }

    def _rows(
        self, measures: list[Measure], ruptures: Ruptures, sites: Sites
    ) -> Iterator[_Prediction]:
        """Yield the predictions of each rupture; several processes share them if there are many.

        pyGMM computes one site at a time, in about a millisecond.
        """
        predict, count = partial(self._predict_rupture, measures, sites), default_threads()
        if count == 1 or len(ruptures) * len(sites) < _MANY:
            yield from map(predict, ruptures)
            return
        with ProcessPoolExecutor(count, get_context("forkserver")) as pool:
            yield from pool.map(predict, ruptures, chunksize=max(len(ruptures) // (8 * count), 1))

    def _predict_rupture(
        self, measures: list[Measure], sites: Sites, rupture: Rupture
    ) -> _Prediction:
        assert rupture.surface is not None
        found = _Prediction(
            np.full((len(measures), len(sites)), -np.inf), np.ones((len(measures), len(sites)))
        )
        distances = rupture.surface.distances(sites.positions)
        for site in np.flatnonzero(distances.rupture <= self.maximum_distance):
            scenario = _scenario(rupture, rupture.surface, distances, sites, int(site))
            values = self._predict(scenario, measures, found.remarks)
            found.mean[:, site], found.deviation[:, site] = values
        return found

    def _predict(
        self, scenario: dict[str, Any], measures: list[Measure], remarks: set[str]
    ) -> Values:
        library = _pygmm()
        with _logged() as logged, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = getattr(library, MODELS[self.name])(
                    library.Scenario(**{**self.parameters, **scenario})
                )
                found = [self._of(model, measure) for measure in measures]
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                raise InputError(f"model {self.name}: {reason_of(error)}") from None
        for each in (one for one in caught if issubclass(one.category, UserWarning)):
            text = f"{self.name}: {_short(' '.join(str(each.message).split()))}"
            if _WRONG_OPTION in text:  # pyGMM would use the default instead
                raise InputError(f"model {text}")
            remarks.add(text)
        if logged:
            remarks.add(f"{self.name}: {_FAULTING}")
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
            raise InputError(f"model {self.name} has no {measure}: the period is out of range")
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


class _Collector(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.records.append(record)


@contextmanager
def _logged() -> Iterator[list[logging.LogRecord]]:
    """The warnings that pyGMM logs, which else are printed for each prediction.

    They are about magnitudes, whose limits depend on the style of faulting.
    """
    handler, root = _Collector(), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler.records
    finally:
        root.removeHandler(handler)


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
