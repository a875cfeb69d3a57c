"""Software that shares states over data-parallel ranks: FSDP, DeepSpeed and their trainers."""
