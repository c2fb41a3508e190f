"""Read a bag as arrays and find which body was pressed hardest, when, and with how much force.

tactile_sim run hand --record hand_bag --duration 5 && python examples/read_bag.py hand_bag
"""

import sys

import numpy as np

from tactile_sim import bag

frame = bag.read(sys.argv[1])["tactile/frame"]
size = np.linalg.norm(frame.data, axis=2)  # (messages, taxels) [N]
ends = np.cumsum(frame.taxel_counts[0])
forces = np.stack([part.sum(axis=1) for part in np.split(size, ends[:-1], axis=1)], axis=1)
message, body = np.unravel_index(forces.argmax(), forces.shape)
print(f"{len(forces)} messages, {size.shape[1]} taxels")
print(f"{frame.bodies[0][body]}: {forces[message, body]:.2f} N at {frame.stamps[message] * 1e-9:.2f} s")
