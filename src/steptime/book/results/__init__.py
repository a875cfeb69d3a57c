"""Run every notebook through papermill and put results.md together from what they print.

``python -m steptime.book.results`` does it all; see `steptime.book.results.__main__`.
One file a step: `notebooks` finds them and their parameters, `cache` tells which are
up to date, `execute` runs one, `clean` strips what varies, `page` writes results.md.
"""
