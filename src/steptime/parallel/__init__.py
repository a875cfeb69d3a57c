"""Every parallelism, run for real on JAX, and read back from what its compiler emits."""
