"""Recorders of motion: at receivers, on the surface and in the whole region.

`outputs` opens their files; the set-up asks for their sizes.
"""
