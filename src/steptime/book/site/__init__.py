"""The website: our Sphinx extension, the generated pages, and the build.

``python -m steptime.book.site`` builds it. One file a concern: `mathml` draws formulas
without a script, `values` puts numbers from notebooks into prose, `widget` embeds an
interactive figure with its static stand-in, `polish` mends what the theme leaves
undone, `python_pages` and `command_pages` write the reference from the code.
"""
