"""
Summer and winter in the ground
===============================

The temperature at the surface swings with the seasons. The wave of heat fades with depth and comes
late: 4 m below, the ground is warmest in winter (:doc:`/poisson`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

YEAR = 3.156e7  # s
line = {
    "fields": ["u"],
    "where": {"kind": "line", "start": [0.5, 0.5, -10.0], "end": [0.5, 0.5, 0.0], "points": 101},
    "file": "profile.nc",
}
case = gs.poisson.PoissonCase.from_dict(
    {
        "mesh": {"kind": "box", "counts": [1, 1, 6], "low": [0, 0, -15], "high": [1, 1, 0]},
        "time": {"step": YEAR / 96, "duration": 3 * YEAR},
        "equation": {"conductivity": 1.2, "capacity": 2.4e6, "initial": 10.0},  # W/m/K, J/m^3/K
        "boundaries": {
            "top": {"kind": "fixed", "value": f"10 + 12 * sin(2 * pi * t / {YEAR})"},
        },
        "method": {"degree": 6},
        "output": {"record": [line]},
    }
)
result = gs.run(case, folder="results_gallery_soil", overwrite=True, quiet=True)
u = result.records["profile.nc"]["u"]

figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.4), width_ratios=[1.6, 1], layout="constrained"
)
years, depth = u["time"] / YEAR, np.linspace(10, 0, 101)
drawn = left.contourf(years, depth, u.T, levels=np.arange(-2, 23, 2), cmap="RdBu_r")
left.invert_yaxis()
left.set(xlabel="time (years)", ylabel="depth (m)")
figure.colorbar(drawn, ax=left, label="temperature (°C)")
fade = np.sqrt(1.2 / 2.4e6 * YEAR / np.pi)  # depth at which the wave has 1/e of its amplitude
third = u.where(u["time"] > 2 * YEAR, drop=True)
right.plot((third.max("time") - third.min("time")) / 2, depth, "o", markersize=3, label="simulated")
right.plot(12 * np.exp(-depth / fade), depth, color="black", linewidth=0.8, label="theory")
right.invert_yaxis()
right.set(xlabel="amplitude in the third year (K)", ylabel="depth (m)")
right.legend()
plt.show()
