"""Laws of friction and points of faults at random, the header at them, and a bisection for both."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends import Backend, Items, Source
from groundswell.seismology.friction import FastWeakening, FrictionLaw, RateAndState, SlipWeakening

NUMBERS = (1, 2, 3, 4)
EPSILON = float(np.finfo(float).eps)
LEAST = 1e-300  # m/s: slower rates lose digits, as they are denormal numbers


@dataclass(frozen=True)
class Points:
    """Arguments of a law, each (points,); the step is the time."""

    rate: Floats
    tau: Floats
    sigma: Floats
    eta: Floats
    state: Floats
    time: Floats

    def evaluate(self, law: FrictionLaw) -> list[Any]:
        """Strength, slip rate, rate of the state and advanced state."""
        return [
            law.strength(self.rate, self.sigma, self.state, self.time),
            law.slip_rate(self.tau, self.sigma, self.eta, self.state, self.time),
            law.state_rate(self.rate, self.state),
            law.advance_state(self.rate, self.state, self.time),
        ]


def source(number: int) -> Source:
    return Source(Path(__file__).with_suffix(".h"), {"FRICTION": number})


def evaluate(backend: Backend, law: FrictionLaw, points: Points) -> HostArray:
    """The same by the header."""
    count = points.rate.size
    out = backend.to_device(np.full((4, count), np.nan))
    parameters, given = law.table(count), np.array(astuple(points))
    backend.compile(source(law.number)).launch(
        "evaluate_friction",
        Items(count),
        out=out,
        parameters=backend.to_device(np.ascontiguousarray(parameters)),
        given=backend.to_device(given),
        points=count,
    )()
    return backend.to_host(out)


def random_law(number: int, rng: np.random.Generator, count: int) -> FrictionLaw:
    """Parameters of rocks; the cohesion of half of the points is 0."""
    cohesion = rng.integers(0, 2, count) * powers(rng, 4, 6, count)
    if number == 1:
        mu = rng.uniform(0.1, 0.9, (2, count))
        times = rng.integers(0, 2, (2, count)) * rng.uniform(0, 1, (2, count))
        distance = powers(rng, -3, 0, count)
        return SlipWeakening(
            static=mu.max(0), dynamic=mu.min(0), distance=distance, cohesion=cohesion,
            forced_onset=times[0], forced_duration=times[1],
            healing_speed=rng.integers(0, 2, count) * powers(rng, -9, 1, count),
        )  # fmt: skip
    common = {
        "direct": rng.uniform(0.005, 0.03, count),
        "evolution": rng.uniform(0.005, 0.03, count),
        "length": powers(rng, -3, 0, count),
        "reference_friction": rng.uniform(0.5, 0.7, count),
        "reference_speed": powers(rng, -9, -5, count),
        "cohesion": cohesion,
    }
    if number < 4:
        return RateAndState(**common, law="ageing" if number == 2 else "slip")
    weakened, speed = rng.uniform(0.1, 0.3, count), powers(rng, -2, 0, count)
    return FastWeakening(**common, weakened_friction=weakened, weakening_speed=speed)


def random_points(number: int, rng: np.random.Generator, count: int) -> Points:
    """From locked to faster than any rock, under up to 1 GPa; some are open or without traction."""
    signs = rng.choice([1.0, 1.0, 1.0, 0.0, -1.0], (2, count))
    state = powers(rng, -4, 1, count) if number == 1 else rng.uniform(-0.5, 1.5, count)
    return Points(
        rate=powers(rng, -30, 4, count),
        tau=powers(rng, 0, 9, count) * signs[0].clip(0),
        sigma=powers(rng, 0, 9, count) * signs[1],
        eta=powers(rng, 5, 7.5, count),
        state=state,
        time=powers(rng, -6, 1, count) * rng.integers(0, 2, count),
    )


def powers(rng: np.random.Generator, low: float, high: float, count: int) -> Floats:
    return 10.0 ** rng.uniform(low, high, count)


def bisect_log_rate(law: Any, points: Points) -> HostArray:
    """ln V of rate and state, to the 64 bits of long double; -inf where the cohesion holds."""
    a, speed, cohesion, tau, sigma, eta, psi = (
        np.asarray(values, np.longdouble)
        for values in (law.direct, law.reference_speed, law.cohesion, points.tau, points.sigma,
                       points.eta, points.state)
    )  # fmt: skip
    slips = tau > cohesion
    low = np.full(tau.shape, -1e4, np.longdouble)
    high = np.log(np.where(slips, tau - cohesion, 1) / eta)
    for _ in range(90):
        y = (low + high) / 2
        share = np.arcsinh(np.exp(y + psi / a) / (2 * speed))
        above = cohesion + np.maximum(sigma, 0) * a * share + eta * np.exp(y) > tau
        low, high = np.where(above, low, y), np.where(above, y, high)
    return np.where(slips, high, -np.inf)


def rounding(law: Any, rate: HostArray, points: Points) -> HostArray:
    """Of the terms of tau - S - eta V, Pa, as the state and ln V are summed in S."""
    x = np.abs(points.state / law.direct) + np.abs(np.log(np.maximum(rate, LEAST)))
    terms = x + np.abs(np.log(2 * law.reference_speed))
    return EPSILON * (points.tau + np.maximum(points.sigma, 0) * law.direct * terms)


def residual(law: FrictionLaw, rate: HostArray, points: Points) -> HostArray:
    """tau - S - eta V, Pa."""
    strength = law.strength(rate, points.sigma, points.state, points.time)
    return points.tau - strength - points.eta * rate
