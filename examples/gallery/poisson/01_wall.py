"""
A thermal bridge
================

Steady temperature in a brick wall with insulation outside, through which a steel beam leads heat
(:doc:`/poisson`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

BRICK, INSULATION, STEEL = 0.8, 0.035, 50.0  # W/m/K


def conductivity(x, y, z):
    outside = np.where(z < 0.25, STEEL, INSULATION)
    return np.where(x < 0.24, BRICK, outside)


wall = gs.poisson.Box((4, 1, 8), high=(0.32, 1.0, 1.0))  # elements end where materials do
sides = {
    "west": {"kind": "robin", "h": 8.0, "ambient": 20.0},  # the room, W/m^2/K and degrees Celsius
    "east": {"kind": "robin", "h": 25.0, "ambient": -5.0},
}
with gs.poisson.Problem(wall, 5, sides, conductivity=conductivity) as problem:
    u = problem.solve()
    loss = problem.flows(u)["west"]

x, z = np.linspace(0, 0.32, 129), np.linspace(0, 1, 201)
u.at(x, 0.5, z).plot.contourf(
    x="x", y="z", levels=26, cmap="RdBu_r", cbar_kwargs={"label": "temperature (°C)"}
)
plt.axvline(0.24, color="black", linewidth=0.8)
plt.gca().set(xlabel="x (m)", ylabel="z (m)", title=f"The wall loses {loss:.0f} W")
plt.show()
