"""Each parallelism run for real on a JAX device mesh, and its compiled traffic read back."""
