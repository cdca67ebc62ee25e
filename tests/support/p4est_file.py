"""A file of p4est 2.2: 2 x 2 x 1 bricks, the second divided twice at its low x and z."""

from __future__ import annotations

from base64 import b85decode
from zlib import decompress

_PACKED = (
    b"c-qZVL5{*O3``u8ZGnY_%hFG9;KYr5hWkqJ@cqG(sBt$PYD&cgOHSg<jO;}A&+&Y@8e<OogBh~g7?*a=@iy-gTZm"
    b"t?-"
    b"_tZ);%9Z5UgK%I2}+`%)Dx7vVdNbny0QFPo=zW>d>#L9f+fYfaivGew2hqlbQax5|HxRCu{vY(j4cY?GWutsTSZ?"
    b"Nx`cfdx`b_DMhHIJW_QI|@(I6mSMXiOBjTC0X^l57ozsdlD*DB|t{%<zPH8N8Lj&<Q=$Z-"
    b"BPVg%<h|mDDjrz9)dIG(~eD@}~`{y&{^MHH68S*jI;{o?j4?{iez3tV@P;ZGd;JV!aIHJ&x"
)
P8EST_FILE = decompress(b85decode(_PACKED))
