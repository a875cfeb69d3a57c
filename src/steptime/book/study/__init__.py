"""What each notebook works out: one file per topic, one call per notebook."""
