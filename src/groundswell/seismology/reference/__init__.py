"""Analytic and semi-analytic reference solutions.

`fullspace`: point sources in a full space. `half_spaces`: plane waves at an interface.
`interface_waves`: Rayleigh, Scholte and Stoneley waves. `lamb`: vertical force on a half-space.
`layered`: moment tensor in solid and fluid layers. `loh`: the layer-over-half-space problems.
`medium`: a homogeneous solid or fluid. `misfit`: misfit of a seismogram to its reference.
`plane_waves`: plane waves, and standing waves in a box. `pulse`: source time functions.
`reflectivity`: motion in layers at one frequency and wavenumber. `uniform_fault`: a fault between
half-spaces that breaks everywhere at once.
"""
