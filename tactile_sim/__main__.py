"""Entry point of ``python -m tactile_sim``, which works even if ``tactile_sim`` is not on the PATH."""

import signal
import sys

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # before `main` and its imports

from tactile_sim.commands import main  # noqa: E402

sys.exit(main())
