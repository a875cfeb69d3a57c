"""Files as keys and values with their lines, whatever their syntax, and the formats they are of."""
