"""What `[[output.record]]` can record."""

from __future__ import annotations

from groundswell.outputs.recording import RecordableField, Recording, RecordingDomain

SOLUTION = RecordableField("u", "1", "solution")


def recording(title: str, domain: RecordingDomain) -> Recording:
    """The recordable field on some elements.

    Args:
        title: of the case.
    """
    return Recording(domain, {"u": SOLUTION}, "float64", attrs={"title": title})
