"""
A lid that drags a fluid
========================

The lid of a square moves to the east; a vortex fills the square, and small ones its corners
(:doc:`/cavity`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

fluid = {"kind": "reynolds", "reynolds": 400.0}
still = {"kind": "adiabatic"}
sides = {
    "west": still, "east": still, "bottom": still,
    "south": {"kind": "symmetry"}, "north": {"kind": "symmetry"},
    "top": {"kind": "adiabatic", "velocity": [1.0, 0.0, 0.0]},
}
plane = gs.cavity.simulate((47, 1, 47), fluid, sides).fields.isel(y=0)

speed = np.hypot(plane["u"], plane["w"])
figure, axes = plt.subplots(figsize=(6, 5))
speed.plot(ax=axes, cmap="magma", cbar_kwargs={"label": "speed, in that of the lid"})
velocity = plane["u"].values, plane["w"].values
axes.streamplot(
    plane["x"].values, plane["z"].values, *velocity, color="white", linewidth=0.6, density=1.5
)
axes.set(aspect="equal", xlabel="x", ylabel="z", title="Re = 400")
plt.show()
