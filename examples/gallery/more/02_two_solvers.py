"""
One earthquake, two solvers
===========================

Finite differences on a grid and polynomials on elements have nothing in common but the physics. A
case runs in both, and ``compare`` measures by how much they differ (:doc:`/seismograms`).
"""

import matplotlib.pyplot as plt

import groundswell as gs

case = {
    "medium": {
        "kind": "layered",
        "layers": [
            {"top": 0, "vp": 2600, "vs": 1500, "rho": 2200},
            {"top": 800, "vp": 4200, "vs": 2400, "rho": 2500},
        ],
    },
    "time": {"duration": "4.5 s"},
    "source": [
        {
            "kind": "double-couple", "x": 1600, "y": 1600, "depth": 1600, "moment": 1e15,
            "strike": 30, "dip": 70, "rake": 20,
            "time_function": {"kind": "gaussian", "sigma": "0.25 s"},
        }
    ],
    "receiver": [{"name": "A", "x": 3600, "y": 2800}],
}
size = [4800, 4000, 3200]
earthquake = gs.earthquake.EarthquakeCase.from_dict(
    {**case, "grid": {"size": size, "spacing": 100}, "output": {"shaking_map": False}}
)
dgwave = gs.dgwave.DgWaveCase.from_dict(
    {
        **case,
        "grid": {"size": size, "spacing": 800}, "method": {"degree": 4},
        "boundary": {"width": 1}, "output": {"shaking_map": False},
    }
)
results = {
    name: gs.run(each, folder=f"results_gallery_{name}", overwrite=True, quiet=True)
    for name, each in {"earthquake": earthquake, "dgwave": dgwave}.items()
}
found = results["dgwave"].compare(results["earthquake"].folder, band=(0.4, 1.2))

figure, panels = plt.subplots(3, 1, figsize=(8, 6), sharex=True, sharey=True, layout="constrained")
for component, axes in zip("ENZ", panels, strict=True):
    for style, (name, result) in zip(("-", "k:"), results.items(), strict=True):
        trace = result.seismograms.sel(station="A", component=component)
        axes.plot(trace["time"], 100 * trace, style, label=name)
    axes.set_ylabel(f"{component} (cm/s)")
panels[0].set_title(f"median misfit {100 * found.medians['misfit']:.1f} %")
panels[0].legend(loc="upper left")
panels[-1].set_xlabel("time (s)")
plt.show()
