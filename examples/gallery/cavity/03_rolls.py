"""
Rolls
=====

Fluid between a hot floor and a cold ceiling turns over in rolls, which carry the heat
(:doc:`/cavity`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

fluid = {"kind": "rayleigh", "rayleigh": 1e4, "prandtl": 0.71}
sides = {
    **{name: {"kind": "adiabatic"} for name in ("west", "east")},
    **{name: {"kind": "symmetry"} for name in ("south", "north")},
    "bottom": {"kind": "fixed", "temperature": 0.5},
    "top": {"kind": "fixed", "temperature": -0.5},
}
result = gs.cavity.simulate((95, 1, 23), fluid, sides, size=(4.0, 1.0, 1.0))

plane = result.fields.isel(y=0)
figure, axes = plt.subplots(figsize=(10, 3), layout="constrained")
drawn = axes.contourf(plane["x"], plane["z"], plane["T"], levels=21, cmap="RdBu_r")
velocity = plane["u"].values, plane["w"].values
axes.streamplot(plane["x"].values, plane["z"].values, *velocity, color="black", linewidth=0.6)
title = f"Ra = 10,000: heat flux {result.heat['nusselt']:.2f} times that of fluid at rest"
axes.set(aspect="equal", xlabel="x", ylabel="z", xlim=(0, 4), ylim=(0, 1), title=title)
figure.colorbar(drawn, label="temperature", shrink=0.9)
plt.show()
