"""What the notebooks and the site need: studies, tables, figures."""
