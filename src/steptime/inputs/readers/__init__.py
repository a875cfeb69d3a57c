"""Start from files that people already have: model configurations and launch files."""
