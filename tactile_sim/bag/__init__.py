"""Read and write rosbag2 bags (MCAP) without ROS.

>>> bag = read("touch")
>>> bag["tactile/frame"].data  # (messages, taxels, channels) [N]
>>> bag["tactile/frame"].stamps  # (messages,) [ns]
"""

from tactile_sim.bag.reader import Bag, Topic, read

__all__ = ["Bag", "Topic", "read"]
