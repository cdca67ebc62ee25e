"""Codes that make messages shorter: MPC, without loss, and ZFP, at a fixed rate.

Each runs wherever kernels do. The headers code words and blocks of values that functors fetch and
store, so a kernel can pack and code at once; the classes here code whole arrays.
"""

from groundswell.exchange.codecs.mpc import Mpc
from groundswell.exchange.codecs.zfp import Zfp

__all__ = ["Mpc", "Zfp"]
