"""Pipeline schedules, and the one executor that turns orders and durations into times."""
