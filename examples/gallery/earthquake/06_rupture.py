"""
A fault that breaks by itself
=============================

Slip on a vertical fault, with the time at which the rupture passes. Nobody
prescribes them: friction and stress decide (:doc:`/rupture`).
"""

import matplotlib.pyplot as plt
import numpy as np

import groundswell as gs

fault = {
    "plane": {"y": "3.125 km", "x": ["2 km", "12 km"], "depth": ["0 km", "5 km"]},
    "hypocenter": ["5 km", "3.125 km", "2.5 km"],
    "law": "slip-weakening",
    "friction": {"static": 0.68, "dynamic": 0.52, "distance": 0.3},
    "stress": {"normal": "120 MPa", "shear": "72 MPa", "rake": 180},
    "patch": [
        {
            "shape": "circle", "center": ["5 km", "3.125 km", "2.5 km"], "radius": "1.5 km",
            "stress": {"shear": "83 MPa"},
        }
    ],
}
case = gs.earthquake.EarthquakeCase.from_dict(
    {
        "grid": {"size": ["14 km", "6.25 km", "6 km"], "spacing": "250 m"},
        "time": {"duration": "4.5 s"},
        "medium": {"kind": "homogeneous", "vp": 6000, "vs": 3464, "rho": 2670},
        "fault": [fault],
    }
)
points = gs.run(case, folder="results_gallery_rupture", overwrite=True, quiet=True).fault

slip = np.hypot(points["slip_strike"], points["slip_updip"])
along, down = points["along_strike"] / 1e3, points["down_dip"] / 1e3
figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
drawn = axes.tripcolor(along, down, slip, cmap="viridis", shading="gouraud")
when = axes.tricontour(along, down, points["rupture_time"], np.arange(0.5, 5, 0.5), colors="white")
axes.clabel(when, fmt="%g s")
axes.plot(0, 2.5, "*", color="white", markersize=14)
axes.set(aspect="equal", xlabel="along strike (km)", ylabel="down dip (km)")
axes.invert_yaxis()
axes.set_title("Slip, and the time of the rupture every 0.5 s")
figure.colorbar(drawn, label="slip (m)", shrink=0.8)
plt.show()
