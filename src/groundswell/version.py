"""The version of Groundswell."""

__version__ = "0.1.0"
