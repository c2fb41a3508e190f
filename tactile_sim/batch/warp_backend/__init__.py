"""Batches on NVIDIA Warp: physics by MuJoCo Warp, skins by our own kernels, on a GPU or the processor."""
