"""``python -m tactile_sim``: the command, where it is not on the PATH."""

import sys

from tactile_sim.cli import main

sys.exit(main())
