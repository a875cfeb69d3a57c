"""What a run leaves behind: traces and logs."""
