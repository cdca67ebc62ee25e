"""
Rock that yields
================

Weak ground limits how strongly it can shake: peak ground velocity along a line above an earthquake,
in rock that stays elastic and in rock that yields (:doc:`/earthquake`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

case = {
    "grid": {"size": ["8 km", "4 km", "4 km"], "spacing": "200 m"},
    "time": {"duration": "5 s"},
    "medium": {
        "kind": "layered",
        "layers": [
            {"top": 0, "vp": 2200, "vs": 1200, "rho": 2100},
            {"top": 1000, "vp": 4500, "vs": 2600, "rho": 2500},
        ],
    },
    "source": [
        {
            "kind": "double-couple", "x": "3 km", "y": "2 km", "depth": "2.5 km",
            "strike": 0, "dip": 60, "rake": 90, "magnitude": 5.2,
            "time_function": {"kind": "cosine", "rise": "1 s"},
        }
    ],
}
weak = {
    "model": "drucker-prager",
    "friction_angle": "25 deg", "relaxation_time": "0.05 s", "stress": {"ratio": 1.0},
}
figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
strengths = {"elastic": None, "cohesion 1 MPa": "1 MPa", "cohesion 0.1 MPa": "0.1 MPa"}
for name, cohesion in strengths.items():
    plasticity = {"plasticity": {**weak, "cohesion": cohesion}} if cohesion else {}
    given = gs.earthquake.EarthquakeCase.from_dict({**case, **plasticity})
    result = gs.run(given, folder="results_gallery_yielding", overwrite=True, quiet=True)
    pgv = result.shaking_map["pgv"].sel(y=2000, method="nearest").load()
    axes.plot(pgv["x"] / 1e3, pgv, label=name)
axes.axvline(3, color="black", linestyle=":", label="epicentre")
axes.set(xlabel="x (km)", ylabel="peak ground velocity (m/s)", xlim=(0, 8), ylim=(0, None))
axes.legend()
plt.show()
