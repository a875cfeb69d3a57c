"""Pure arithmetic: the same lines serve one layout, a million in NumPy, and the web page."""
