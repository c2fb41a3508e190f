"""Run a worker process that creates shards: ``python -m tactile_sim.collect.worker PARENT``.

PARENT is the id of the process that sends requests to standard input. A request is a pickled tuple
(`workers.Work`, shard, threads). The reply is the result of ``make`` or an error, also pickled.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys

from tactile_sim.child import PR_SET_PDEATHSIG
from tactile_sim.errors import TactileSimError


def main(parent: int) -> None:
    """Create the shards requested on standard input, and reply on standard output.

    Returns when standard input closes. If the parent process dies, the kernel kills this process.

    Args:
        parent: Process id of the parent.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent died before prctl
        return
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with replies
    while True:
        try:
            work, shard, threads = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        reply: int | TactileSimError
        try:
            reply = work.make(shard, threads)
        except TactileSimError as error:
            reply = TactileSimError(str(error))  # other classes may need more arguments
        pickle.dump(reply, replies)
        replies.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
