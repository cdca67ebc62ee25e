"""
What a fault radiates
=====================

Peak P and S waves around a strike-slip fault in a uniform block, against the radiation pattern of
a double couple: its four lobes of P waves lie between those of S waves (:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

DISTANCE = 2500.0  # m, from the source to the stations
vs = np.full((36, 36, 36), 2000.0)  # m/s
model = gs.earthquake.Model(vp=1.8 * vs, vs=vs, rho=2400.0, spacing=200.0)
centre = 3600.0
source = {
    "kind": "double-couple",
    "x": centre, "y": centre, "depth": centre, "magnitude": 4.0,
    "strike": 0, "dip": 90, "rake": 0,
    "time_function": {"kind": "gaussian", "sigma": "0.12 s"},
}
azimuth = np.radians(np.arange(0, 360, 7.5))
east, north = np.sin(azimuth), np.cos(azimuth)
ring = [
    {"name": f"A{n}", "x": centre + DISTANCE * e, "y": centre + DISTANCE * o, "depth": centre}
    for n, (e, o) in enumerate(zip(east, north, strict=True))
]
motion = gs.earthquake.simulate(
    model, [source], ring, duration="2.4 s", boundary={"top": "absorbing"}
).seismograms
e, n = motion.sel(component="E"), motion.sel(component="N")
radial = abs(e * east[:, None] + n * north[:, None]).max("time")
transverse = abs(e * north[:, None] - n * east[:, None]).max("time")

figure, panels = plt.subplots(
    1, 2, figsize=(10, 4.8), subplot_kw={"projection": "polar"}, layout="constrained"
)
fine = np.linspace(0, 2 * np.pi, 361)
theory = np.abs(np.sin(2 * fine)), np.abs(np.cos(2 * fine))  # Aki & Richards, eq. 4.33
waves = {"P waves, radial": radial, "S waves, transverse": transverse}
for axes, (name, peak), shape in zip(panels, waves.items(), theory, strict=True):
    axes.plot(fine, shape, color="black", linewidth=0.8, label="theory")
    axes.plot(azimuth, peak / peak.max(), "o", markersize=4, label="simulated peak")
    axes.set(theta_zero_location="N", theta_direction=-1, rticks=[0.5, 1.0], title=name)
panels[0].legend(loc="lower left", bbox_to_anchor=(-0.2, -0.15))
plt.show()
