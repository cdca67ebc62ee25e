"""Hexahedral meshes: boxes, unstructured meshes, mesh files, and how to partition them."""
