"""Launch scripts, followed as a shell would follow them; nothing is run."""
