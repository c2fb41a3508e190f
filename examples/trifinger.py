"""Press the fingers of a TriFingerPro against the floor.

Only the import and the last line differ from code for trifinger_simulation.
"""

import numpy as np

import tactile_sim.trifinger as trifinger_simulation

finger = trifinger_simulation.SimFinger("trifingerpro")
action = finger.Action(position=[0.0, 0.9, -1.7] * 3)  # [rad]
for _ in range(1000):
    t = finger.append_desired_action(action)  # 1 ms
observation = finger.get_observation(t)
print("largest error of a joint", round(float(abs(observation.position - action.position).max()), 3), "rad")
print(
    finger.readings().shape,
    "readings,",
    np.linalg.norm(finger.tip_forces(), axis=1).round(3),
    "N at the tips",
)
