"""A source model in NRML with each kind of source that is supported."""

from __future__ import annotations

from pathlib import Path

FRAME = (-122.0, 38.0)  # longitude and latitude

SIMPLE = """
<simpleFaultSource id="hills" name="Hills" tectonicRegion="Active Shallow Crust">
  <simpleFaultGeometry>
    <gml:LineString><gml:posList>-122.0 37.8  -122.0 38.1</gml:posList></gml:LineString>
    <dip>60.0</dip>
    <upperSeismoDepth>1.0</upperSeismoDepth><lowerSeismoDepth>13.0</lowerSeismoDepth>
  </simpleFaultGeometry>
  <magScaleRel>WC1994</magScaleRel>
  <ruptAspectRatio>1.5</ruptAspectRatio>
  <truncGutenbergRichterMFD aValue="3.4" bValue="0.9" minMag="5.5" maxMag="6.5" />
  <rake>90.0</rake>
</simpleFaultSource>"""

CHARACTERISTIC = """
<characteristicFaultSource id="valley" name="Valley">
  <incrementalMFD minMag="6.9" binWidth="0.1">
    <occurRates>0.001 0.002 0.001</occurRates>
  </incrementalMFD>
  <rake>180</rake>
  <surface>
    <planarSurface strike="0" dip="90">
      <topLeft lon="-121.9" lat="37.9" depth="1"/><topRight lon="-121.9" lat="38.1" depth="1"/>
      <bottomLeft lon="-121.9" lat="37.9" depth="13"/>
      <bottomRight lon="-121.9" lat="38.1" depth="13"/>
    </planarSurface>
  </surface>
</characteristicFaultSource>"""

POINT = """
<pointSource id="delta" name="Delta">
  <pointGeometry>
    <gml:Point><gml:pos>-121.7 38.1</gml:pos></gml:Point>
    <upperSeismoDepth>0</upperSeismoDepth><lowerSeismoDepth>15</lowerSeismoDepth>
  </pointGeometry>
  <magScaleRel>PeerMSR</magScaleRel>
  <ruptAspectRatio>1.0</ruptAspectRatio>
  <arbitraryMFD>
    <occurRates>0.01 0.003</occurRates><magnitudes>5.5 6.0</magnitudes>
  </arbitraryMFD>
  <nodalPlaneDist>
    <nodalPlane probability="0.25" strike="0" dip="90" rake="0"/>
    <nodalPlane probability="0.75" strike="90" dip="45" rake="90"/>
  </nodalPlaneDist>
  <hypoDepthDist>
    <hypoDepth probability="0.5" depth="8"/><hypoDepth probability="0.5" depth="14"/>
  </hypoDepthDist>
</pointSource>"""


AREA = POINT.replace("pointSource", "areaSource").replace('id="delta"', 'id="plain"')
AREA = AREA.replace("pointGeometry", "areaGeometry").replace(
    "<gml:Point><gml:pos>-121.7 38.1</gml:pos></gml:Point>",
    "<gml:Polygon><gml:exterior><gml:LinearRing><gml:posList>"
    "-122.5 37.5  -121.5 37.5  -121.5 38.5"
    "</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>",
)


def source_model(*sources: str) -> str:
    """A source model; by default with all three sources."""
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<nrml xmlns:gml="http://www.opengis.net/gml" '
        'xmlns="http://openquake.org/xmlns/nrml/0.5">\n<sourceModel name="test">\n'
        '<sourceGroup name="group" tectonicRegion="Active Shallow Crust">'
    )
    body = "".join(sources or (SIMPLE, CHARACTERISTIC, POINT))
    return f"{head}{body}\n</sourceGroup>\n</sourceModel>\n</nrml>\n"


def write_source_model(folder: Path, *sources: str) -> Path:
    """Write a source model; returns its path."""
    path = folder / "model.xml"
    path.write_text(source_model(*sources))
    return path
