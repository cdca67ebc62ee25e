"""Settings sampled from distributions, reproducibly for a given seed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from groundswell.arrays import Floats
from groundswell.case.common import Section, TaggedUnion
from groundswell.case.problems import Violation, reject
from groundswell.case.section import NotEmpty
from groundswell.case.units import Count, Number, Positive
from groundswell.ensembles.rows import MOST_RUNS, Settings

Quantity = float | int | str  # a number, or text with a unit

_QUANTITY = re.compile(
    r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*([^\s0-9.+-].*?)?\s*"
)


def _split(value: object, key: str) -> tuple[float, str]:
    """The number and the unit of a quantity."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value), ""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        reject([((key,), 'must be a number, or text with a unit such as "5 km"')])
    assert match is not None
    return float(match[1]), match[2] or ""


class _Numbers(Section):
    """A distribution of numbers; its values and parameters have the same unit."""

    def _unit(self) -> str:
        return next(iter(self._parameters().values()), (0.0, ""))[1]

    def _parameters(self) -> dict[str, tuple[float, str]]:
        keys = [key for key in ("low", "high", "mean", "median", "deviation") if hasattr(self, key)]
        return {key: _split(getattr(self, key), key) for key in keys}

    def _number(self, key: str) -> float:
        return self._parameters()[key][0]

    def violations(self) -> Iterator[Violation]:
        """Parameters in different units."""
        units = {key: unit for key, (_, unit) in self._parameters().items()}
        first, *others = units
        for other in others:
            if units[other] != units[first]:
                yield (other,), f"must be in the unit of {first}, {units[first] or 'none'!r}"

    def with_unit(self, numbers: Floats) -> list[object]:
        """Numbers as values of a case."""
        unit = self._unit()
        return [f"{float(x)!r} {unit}" if unit else float(x) for x in numbers]


class Uniform(_Numbers):
    """Every value from `low` to `high` is equally likely."""

    kind: Literal["uniform"] = "uniform"
    low: Quantity
    high: Quantity

    def violations(self) -> Iterator[Violation]:
        """An empty interval."""
        yield from super().violations()
        if not self._number("low") < self._number("high"):
            yield ("high",), "must be greater than low"

    def values(self, probabilities: Floats) -> list[object]:
        """The quantiles at `probabilities`, (n,)."""
        low, high = self._number("low"), self._number("high")
        return self.with_unit(low + probabilities * (high - low))


class Normal(_Numbers):
    """The normal distribution with a `mean` and a standard `deviation`."""

    kind: Literal["normal"] = "normal"
    mean: Quantity
    deviation: Quantity

    def violations(self) -> Iterator[Violation]:
        """A deviation that is not positive."""
        yield from super().violations()
        if not self._number("deviation") > 0:
            yield ("deviation",), "must be greater than 0"

    def values(self, probabilities: Floats) -> list[object]:
        """The quantiles at `probabilities`, (n,)."""
        from scipy.special import ndtri

        mean, deviation = self._number("mean"), self._number("deviation")
        return self.with_unit(mean + deviation * ndtri(probabilities))


class LogNormal(_Numbers):
    """Values whose natural logarithm is normal, with a standard deviation of `sigma`."""

    kind: Literal["lognormal"] = "lognormal"
    median: Quantity
    sigma: Annotated[Number, Positive]

    def violations(self) -> Iterator[Violation]:
        """A median that is not positive."""
        if not self._number("median") > 0:
            yield ("median",), "must be greater than 0"

    def values(self, probabilities: Floats) -> list[object]:
        """The quantiles at `probabilities`, (n,)."""
        from scipy.special import ndtri

        return self.with_unit(self._number("median") * np.exp(self.sigma * ndtri(probabilities)))


class Choice(Section):
    """One of several values, by default equally likely."""

    kind: Literal["choice"] = "choice"
    of: Annotated[tuple[object, ...], NotEmpty]
    weights: tuple[Annotated[Number, Positive], ...] | None = None

    def violations(self) -> Iterator[Violation]:
        """The numbers of weights and values differ."""
        if self.weights is not None and len(self.weights) != len(self.of):
            yield ("weights",), f"must have {len(self.of)} entries, one for each value"

    def values(self, probabilities: Floats) -> list[object]:
        """The quantiles at `probabilities`, (n,), in the order of the values."""
        weights = np.array(self.weights or [1.0] * len(self.of))
        bounds = np.cumsum(weights)[:-1] / weights.sum()
        return [self.of[n] for n in np.searchsorted(bounds, probabilities, side="right")]


Distribution = Annotated[Uniform | Normal | LogNormal | Choice, TaggedUnion()]


class SampleSection(Section):
    """`[sample]`: `count` samples from distributions of keys, reproducible through the seed.

    With the method "latin-hypercube", each distribution is divided into `count` equally likely
    intervals, and each interval contains one sample (McKay et al. 1979).
    """

    count: Annotated[Count, Field(le=MOST_RUNS)]
    seed: Annotated[int, Field(strict=True, ge=0)]
    method: Literal["random", "latin-hypercube"] = "random"
    values: Mapping[str, Distribution]

    def violations(self) -> Iterator[Violation]:
        """No distribution."""
        if not self.values:
            yield ("values",), "must have a distribution of at least one key"

    def draw(self) -> list[Settings]:
        """The settings of all samples."""
        columns = self._probabilities().T
        drawn = {
            key: distribution.values(column)
            for (key, distribution), column in zip(self.values.items(), columns, strict=True)
        }
        return [{key: values[n] for key, values in drawn.items()} for n in range(self.count)]

    def _probabilities(self) -> Floats:
        """Probabilities of the values, (count, keys), never 0 or 1: quantiles may be infinite."""
        random, size = np.random.default_rng(self.seed), len(self.values)
        if self.method == "random":
            found = random.random((self.count, size))
        else:
            from scipy.stats.qmc import LatinHypercube

            found = LatinHypercube(size, seed=random).random(self.count)
        return np.clip(found, 2.0**-53, 1 - 2.0**-53)
