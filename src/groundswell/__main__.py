"""`python -m groundswell` is the `groundswell` command."""

from __future__ import annotations

import sys

from groundswell.cli import main

sys.exit(main())
