"""
Response spectra on rock and in a basin
=======================================

RotD50 and RotD100, the median and the largest peak of an oscillator over all horizontal directions,
at two stations at the same distance (:doc:`/intensity`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((20, 50, 40), 2500.0)  # depth, y, x; m/s
y, x = np.ogrid[:50, :40]
vs[:4, (x - 20) ** 2 + (y - 38) ** 2 < 9**2] = 1000.0
model = gs.earthquake.Model(vp=1.8 * vs, vs=vs, rho=2400.0, spacing=200.0)
quake = {
    "kind": "double-couple",
    "x": "4 km", "y": "5 km", "depth": "2.6 km", "magnitude": 5.0,
    "strike": 90, "dip": 70, "rake": 150,
    "time_function": {"kind": "cosine", "rise": "0.8 s"},
}
stations = [{"name": "BASIN", "x": 4e3, "y": 7.8e3}, {"name": "ROCK", "x": 4e3, "y": 2.2e3}]
periods = np.geomspace(0.8, 8.0, 25)  # s; shorter ones need smaller cells
result = gs.earthquake.simulate(
    model,
    [quake],
    stations,
    duration="12 s",
    output={
        "intensity": {"periods": periods.tolist(), "measures": ["rotd50", "rotd100"]},
        "seismograms": {"interval": 0.04},
    },
)

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for colour, name in zip(("C3", "C0"), ("BASIN", "ROCK"), strict=True):
    found = result.intensity.sel(station=name) / 9.80665  # g
    axes.loglog(periods, found["rotd50"], color=colour, label=f"{name.lower()}: RotD50")
    axes.fill_between(periods, found["rotd50"], found["rotd100"], color=colour, alpha=0.2)
axes.fill_between([], [], [], color="0.8", label="up to RotD100")
axes.set(xlabel="period (s)", ylabel="spectral acceleration (g)", xticks=[1, 2, 4, 8])
axes.set_xticklabels(["1", "2", "4", "8"])
axes.minorticks_off()
axes.legend()
plt.show()
