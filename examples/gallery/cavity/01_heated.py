"""
Convection between two walls
============================

Air rises along the warm wall in the west and sinks along the cold one in the east
(:doc:`/cavity`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

air = {"kind": "rayleigh", "rayleigh": 1e5, "prandtl": 0.71}
sides = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}  # two dimensions
result = gs.cavity.simulate((47, 1, 47), air, sides)

plane = result.fields.isel(y=0)
figure, axes = plt.subplots(figsize=(6, 5))
plane["T"].plot.contourf(ax=axes, levels=21, cmap="RdBu_r", cbar_kwargs={"label": "temperature"})
velocity = plane["u"].values, plane["w"].values
axes.streamplot(
    plane["x"].values, plane["z"].values, *velocity, color="black", linewidth=0.7, density=1.5
)
title = f"Ra = 100,000: Nusselt number {result.heat['nusselt']:.2f}"
axes.set(aspect="equal", xlabel="x", ylabel="z", title=title)
plt.show()
