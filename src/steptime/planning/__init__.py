"""Layout search, and placement on servers and racks."""
