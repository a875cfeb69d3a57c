"""torchtitan's keys."""
