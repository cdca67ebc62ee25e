"""Values of elements of NRML: numbers, lists of positions, and distributions of magnitudes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundswell.arrays import Floats
from groundswell.errors import InputError, listed, quoted
from groundswell.formats.xml import Element
from groundswell.seismology.hazard.magnitudes import (
    MagnitudeRates,
    equal_bins,
    truncated_gutenberg_richter,
)
from groundswell.seismology.hazard.scaling import SCALINGS, Scaling

KM = 1e3  # m
_MAX_MAGNITUDE = 10.5
_MAX_BINS = 10_000


class NrmlError(Exception):
    """An invalid value of a source; the reader adds the file and the name of the source."""

    def __init__(self, text: str, element: Element | None = None) -> None:
        super().__init__(text)
        self.line = element.line if element else None


def child(element: Element, *path: str) -> Element:
    """The descendant by the names of children."""
    for name in path:
        found = element.find(name)
        if found is None:
            raise NrmlError(f"{element.name} has no {name}", element)
        element = found
    return element


def number(element: Element) -> float:
    """The number in the text of an element."""
    return _finite(element.text, element.name, element)


def attribute(element: Element, name: str) -> float:
    """The number in an attribute of an element."""
    if name not in element.attributes:
        raise NrmlError(f"{element.name} has no {name}", element)
    return _finite(element.attributes[name], f"{name} of {element.name}", element)


def positive(element: Element) -> float:
    """The positive number in the text of an element."""
    value = number(element)
    if not value > 0:
        raise NrmlError(f"{element.name} is {value:g}; it must be positive", element)
    return value


def angle(element: Element, largest: float, *, positive: bool = False) -> float:
    """The angle in the text of an element, degrees."""
    value = number(element)
    if abs(value) > largest or (positive and not value > 0):
        above = "above 0 and " if positive else ""
        raise NrmlError(
            f"{element.name} is {value:g}; it must be {above}at most {largest:g}", element
        )
    return value


def positions(element: Element, columns: int) -> Floats:
    """The positions (n, columns) in the text of an element."""
    values = _numbers(element)
    if not len(values) or len(values) % columns:
        raise NrmlError(f"{element.name} must have pairs of longitude and latitude", element)
    return values.reshape(-1, columns)


def scaling(source: Element) -> Scaling:
    """The relation of magnitude and area of a source."""
    element = child(source, "magScaleRel")
    name = element.text.strip()
    if name not in SCALINGS:
        raise NrmlError(f"magScaleRel is {quoted(name)}; it must be {listed(SCALINGS)}", element)
    return SCALINGS[name]


def distribution(source: Element, bin_width: float) -> MagnitudeRates:
    """Magnitudes and annual rates of a source."""
    found = next((each for each in source.children if each.name.endswith("MFD")), None)
    if found is None or found.name not in _DISTRIBUTIONS:
        kind = "none" if found is None else quoted(found.name)
        raise NrmlError(
            f"its distribution of magnitudes is {kind}; it must be {listed(_DISTRIBUTIONS)}", found
        )
    try:
        rates = _DISTRIBUTIONS[found.name](found, bin_width)
    except InputError as error:
        raise NrmlError(str(error), found) from None
    if len(rates.rates) > _MAX_BINS or not _is_plausible(rates):
        raise NrmlError(
            f"{found.name} needs 1 to {_MAX_BINS:,} magnitudes from -6 to {_MAX_MAGNITUDE} with "
            "rates that are not negative",
            found,
        )
    return rates


def _is_plausible(found: MagnitudeRates) -> bool:
    m, rates = found.magnitudes, found.rates
    finite = bool(np.isfinite(m).all() and np.isfinite(rates).all())
    return bool(
        len(m) and finite and m.min() >= -6 and m.max() <= _MAX_MAGNITUDE and min(rates) >= 0
    )


def _truncated(element: Element, bin_width: float) -> MagnitudeRates:
    a, b, lowest, highest = (
        attribute(element, name) for name in ("aValue", "bValue", "minMag", "maxMag")
    )
    if max(abs(a), abs(b)) > 100 or not -6 <= lowest <= highest <= _MAX_MAGNITUDE:
        raise NrmlError(
            f"{element.name} needs values a and b up to 100, and magnitudes from -6 to "
            f"{_MAX_MAGNITUDE}",
            element,
        )
    return truncated_gutenberg_richter(a, b, lowest, highest, bin_width)


def _incremental(element: Element, bin_width: float) -> MagnitudeRates:
    rates = _numbers(child(element, "occurRates"))
    width = attribute(element, "binWidth")
    if not width > 0:
        raise NrmlError(f"binWidth is {width:g}; it must be positive", element)
    return equal_bins(attribute(element, "minMag"), width, rates)


def _arbitrary(element: Element, bin_width: float) -> MagnitudeRates:
    rates, magnitudes = (_numbers(child(element, name)) for name in ("occurRates", "magnitudes"))
    if len(rates) != len(magnitudes):
        raise NrmlError(f"{len(magnitudes)} magnitudes have {len(rates)} occurRates", element)
    return MagnitudeRates(magnitudes, rates)


_DISTRIBUTIONS: dict[str, Callable[[Element, float], MagnitudeRates]] = {
    "truncGutenbergRichterMFD": _truncated,
    "incrementalMFD": _incremental,
    "arbitraryMFD": _arbitrary,
}


def _numbers(element: Element) -> Floats:
    return np.array([_finite(word, element.name, element) for word in element.text.split()])


def _finite(text: str, name: str, element: Element) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or "_" in text:
        raise NrmlError(f"{name} is {quoted(text.strip())}; it must be a number", element)
    return value
