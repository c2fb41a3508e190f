"""Run batches with NVIDIA Warp on a GPU or CPU: MuJoCo Warp for physics, and our own kernels for the skin."""
