"""Formulas as equations: LaTeX made from the very lines that compute, so that none is typed."""
