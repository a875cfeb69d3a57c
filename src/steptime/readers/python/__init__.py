"""Recipes written in Python, read without being run."""
