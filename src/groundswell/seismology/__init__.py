"""Seismology: media, sources, stations, file formats and reference solutions."""

# Methods of the results of all seismic solvers; see `SolverInfo.methods`.
METHODS = {
    "compare": "groundswell.seismology.comparison.compare:compare",
    "export": "groundswell.seismology.formats.export:export_results",
    "motion": "groundswell.seismology.formats.export:read_motion",
}
