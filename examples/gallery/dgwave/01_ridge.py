"""
Waves on a ridge
================

Elements follow the surface: an earthquake below a ridge, in a vertical section
(:doc:`/dgwave`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

vs = np.full((4, 4, 8), 1500.0)  # depth, y, x; m/s
model = gs.dgwave.Model(vp=1.8 * vs, vs=vs, rho=2300.0, spacing=300.0)
fault = {
    "kind": "double-couple",
    **{"x": 1200, "y": 600, "depth": 900, "moment": 1e13},
    **{"strike": 0, "dip": 0, "rake": 90},
    "time_function": {"kind": "ricker", "frequency": "3 Hz"},
}
section = {
    "fields": ["vx"],
    "where": {"kind": "plane", "normal": "y", "at": 600, "points": [161, 81]},
    "interval": "0.05 s",
    "file": "section.nc",
}
result = gs.dgwave.simulate(
    model,
    [fault],
    [],
    duration="1.1 s",
    method={"degree": 4},
    boundary={"width": 1},
    topography={"kind": "formula", "elevation": "150 * exp(-((x - 1200) / 300)**2)"},
    output={"record": [section]},
)
vx = result.records["section.nc"]["vx"].sel(time=[0.6, 0.8, 1.0], method="nearest")
vx.squeeze().plot(x="x", y="z", col="time", yincrease=False, robust=True, figsize=(12, 3.2))
plt.show()
