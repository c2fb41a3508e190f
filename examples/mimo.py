"""Use the API of MIMo's touch with any MuJoCo model and data."""

from types import SimpleNamespace

import mujoco

from tactile_sim.mimo.touch import TrimeshTouch

MODEL = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 0.1"/>
    <body name="ball" pos="0 0 0.049"><freejoint/><geom type="sphere" size="0.05" mass="0.5"/></body>
  </worldbody>
</mujoco>
"""

model = mujoco.MjModel.from_xml_string(MODEL)
data = mujoco.MjData(model)
mujoco.mj_step(model, data, 1000)
params = {"scales": {"ball": 0.01}, "touch_function": "force_vector", "response_function": "spread_linear"}
touch = TrimeshTouch(SimpleNamespace(model=model, data=data), params)
readings = touch.get_touch_obs()  # (sensors, 3), in the frame of the body [N]
turned = data.body("ball").xmat.reshape(3, 3) @ readings.sum(axis=0)
print(f"{len(readings)} sensors feel {turned[2]:.2f} N")  # 0.5 kg: 4.905 N
