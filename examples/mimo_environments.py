"""Run MIMo's environments with this package's touch and compare it with MIMo's touch in the same states."""

import argparse
import sys
import time

import mujoco
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv

from tactile_sim.mimo.touch import TrimeshTouch

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("mimo", help="checkout of https://github.com/trieschlab/MIMo")
parser.add_argument("--steps", type=int, default=100, help="steps of each environment")
args = parser.parse_args()
sys.path.insert(0, args.mimo)
try:
    from mimoEnv import envs, utils
    from mimoEnv.envs import mimo_env
except ImportError as error:
    parser.error(f"mimo: must be a checkout of MIMo, got {args.mimo!r}, with its requirements: {error}")

# Repair 1: Gymnasium expects this method to return model and data and then sets them as attributes.
load, initialize = MujocoEnv._initialize_simulation, mimo_env.MIMoEnv._initialize_simulation
MujocoEnv._initialize_simulation = lambda env: vars(env).update(
    zip(("model", "data"), load(env), strict=True)
)
mimo_env.MIMoEnv._initialize_simulation = lambda env: initialize(env) or (env.model, env.data)
# Repair 2: joint types in a model are NumPy integers, which are not equal to MuJoCo's enums.
for table in (utils.MUJOCO_JOINT_SIZES, utils.MUJOCO_DOF_SIZES):
    for kind in list(table):
        table[int(kind)] = table.pop(kind)
# Repair 3: MuJoCo no longer accepts an array with one id to look up a body.
find = mujoco.MjModel.body
mujoco.MjModel.body = lambda model, key: find(model, key.item() if isinstance(key, np.ndarray) else key)
# Repair 4: a model contains only the initial state of equality constraints; a reset copies it to the data.
mujoco.MjModel.eq_active = property(lambda model: model.eq_active0)

peer, mimo_env.TrimeshTouch = mimo_env.TrimeshTouch, TrimeshTouch  # the environments use our touch
for name in ("Reach", "Standup", "SelfBody", "Catch"):
    feels = {"touch_params": mimo_env.DEFAULT_TOUCH_PARAMS} if name in ("Reach", "Standup") else {}
    env = getattr(envs, f"MIMo{name}Env")(**feels)
    env.reset(seed=0)
    both, seconds, differences = (env.touch, peer(env, env.touch_params)), ([], []), [0.0]
    for _ in range(args.steps):
        obs = env.step(env.action_space.sample())[0]["touch"]
        frames = env.data.contact.frame.copy()
        for k, touch in enumerate(both):
            begin = time.perf_counter()
            assert touch.get_touch_obs().size == obs.size
            seconds[k].append(time.perf_counter() - begin)
            env.data.contact.frame[:] = frames  # MIMo's touch reverses them
        for contact, body, force in env.touch.contact_tuples:
            differences.append(np.abs(both[1].touch_function(contact, body) - force).max())
            env.data.contact.frame[:] = frames
    found = f"{len(differences) - 1} loads equal to {max(differences):.0e} N"
    ratio = np.median(seconds[1]) / np.median(seconds[0])
    print(f"{name}: {obs.size} values, {found}, {ratio:.0f} times as fast")
