"""The results of a run that are a few numbers, for the terminal, the report and `summary.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groundswell.case.quantities import Quantity

GROUP = "Heat and flow"
STILL = 1e-9  # of the largest speed or temperature: smaller values are rounding errors
ROUNDING = 1e-14  # an imbalance below is an effect of rounding


def findings_of(summary: Mapping[str, Any], unit: str) -> Iterator[Quantity]:
    """Yield Nusselt numbers, temperatures of walls and solids, the energy balance and peak speeds.

    Args:
        summary: the content of `heat.json`.
        unit: unit of speeds, "" if the flow is dimensionless.
    """
    for key, label in (
        ("nusselt", "Nusselt number"),
        ("nusselt_cold", "on the cold wall"),
        ("nusselt_mid_plane", "in the middle plane"),
    ):
        if key in summary:
            yield Quantity(key, summary[key], label, text=f"{summary[key]:.5g}", group=GROUP)
    for name, found in summary.get("wall_temperatures", {}).items():
        text = f"{found['mean']:.6g} {'K' if unit else ''}".strip()
        key, label = f"mean_temperature_{name}", f"mean temperature, {name}"
        yield Quantity(key, found["mean"], label, "K" if unit else "", text, GROUP)
    for n, (name, found) in enumerate(summary.get("solids", {}).items()):
        yield from _temperatures((n, name), found, "K" if unit else "")
    if "heat_imbalance" in summary:
        yield _imbalance(summary)
    fastest = max((peak["value"] for peak in summary["peaks"].values()), default=0.0)
    for name, peak in summary["peaks"].items():
        if peak["value"] > STILL * fastest:
            yield _peak(name, peak, unit)


def _temperatures(
    solid: tuple[int, str], found: Mapping[str, float], unit: str
) -> Iterator[Quantity]:
    """Mean and highest temperature of a solid, with its number and name."""
    number, name = solid
    least = STILL * max(abs(found["lowest"]), abs(found["highest"]))
    for which in ("mean", "highest"):
        value = found[which] if abs(found[which]) > least else 0.0
        text = f"{value:.6g} {unit}".strip()
        key, label = f"{which}_temperature_solid_{number}", f"{which} temperature, {name}"
        yield Quantity(key, found[which], label, unit, text, GROUP)


def _imbalance(summary: Mapping[str, Any]) -> Quantity:
    """What enters but does not leave: heat that the fluid stores, or an error of the grid."""
    missing, is_steady = summary["heat_imbalance"], summary.get("steady", False)
    label = "heat in less heat out" if is_steady else "stored heat (in less out)"
    text = f"{100 * missing:.3g} %" if abs(missing) > ROUNDING else "0 %"
    return Quantity("heat_imbalance", missing, label, "", text, GROUP)


def _peak(name: str, peak: Mapping[str, Any], unit: str) -> Quantity:
    ((axis, position),) = ((a, s) for a, s in peak.items() if a in ("x", "y", "z"))
    place = f"{axis} = {position:.4g}{' m' if unit else ''}"
    text = f"{peak['value']:.5g} {unit}".strip() + f" at {place}"
    value, label = peak["value"], f"largest {name}, along {peak['direction']}"
    return Quantity(f"peak_{name}", value, label, unit, text, GROUP)
