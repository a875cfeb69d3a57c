"""Published runs, calibration, validation and intervals."""
