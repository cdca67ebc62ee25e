"""The style that all pictures share, frames of maps and labels that do not overlap."""
