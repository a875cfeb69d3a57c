"""Frameworks whose files need little of their own: MaxText, Primus, NeMo's recipes."""
