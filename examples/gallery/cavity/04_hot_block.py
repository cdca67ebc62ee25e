"""
A component that heats air
==========================

A block of plastic on the floor of a closed box, 5 cm wide, releases heat. Air carries it to the
cold lid (:doc:`/cavity`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

air = {
    "kind": "properties",
    "viscosity": "1.6e-5 m^2/s", "diffusivity": "2.2535e-5 m^2/s",
    "expansion": "3.4e-3 1/K", "conductivity": "0.0257 W/m/K",
}
walls = {
    **{name: {"kind": "adiabatic"} for name in ("west", "east", "bottom")},
    **{name: {"kind": "symmetry"} for name in ("south", "north")},
    "top": {"kind": "fixed", "temperature": "293 K"},
}
block = {
    "low": ["1.25 cm", "0 cm", "0 cm"], "high": ["3.75 cm", "5 cm", "1.25 cm"],
    "conductivity": "1 W/m/K", "power": "20 mW",
}
result = gs.cavity.simulate(
    (31, 1, 31), air, walls, size=(0.05, 0.05, 0.05), solid=[block], time={"tolerance": 1e-5}
)

plane = result.fields.isel(y=0)
x, z = 100 * plane["x"], 100 * plane["z"]  # cm
figure, axes = plt.subplots(figsize=(6.5, 5.2), layout="constrained")
drawn = axes.contourf(x, z, plane["T"] - 273.15, levels=20, cmap="magma")
speed = np.hypot(plane["u"], plane["w"])
axes.streamplot(
    *(x.values, z.values, plane["u"].values, plane["w"].values),
    color="white", linewidth=1.5 * speed.values / float(speed.max()), density=1.3,
)
axes.add_patch(plt.Rectangle((1.25, 0), 2.5, 1.25, fill=False, color="cyan", linewidth=1.5))
axes.set(aspect="equal", xlabel="x (cm)", ylabel="z (cm)", xlim=(0, 5), ylim=(0, 5))
figure.colorbar(drawn, label="temperature (°C)")
plt.show()
