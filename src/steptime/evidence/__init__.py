"""Published runs, calibration, validation and intervals.

A run comes in as text and leaves as a score; files that share a first word belong together:

- ``schema``, ``sweeps``, ``nanotron_sweep``: the tables in ``data/``, checked, with what
  ``run_facts`` tells of each run; ``text_table`` reads their text.
- ``own_*``: a user's file, whatever its columns: ``own_table`` reads it, ``own_cells`` and
  ``own_rows`` make our rows of it, ``own_fit`` fits constants to them.
- ``row_*``: what one row says: words, text, network, shape, device, gaps, software. ``runs`` puts
  its sizes together; ``row_question`` makes the question of it that `steptime.answer` takes.
- ``outcome``, ``baseline``: what a run took, and the chapter's model on it. ``judge`` asks each
  row's question and compares the answer with what was measured.
- ``samples``, ``calibration``, ``leave_out``, ``residuals``, ``intervals``: constants and how sure.
- ``validate``, ``diagnose``, ``open_rows``, ``ablation``, ``assumptions``, ``noise_floor``,
  ``rivals``: judging a model, and its rows.
- ``memory*``: the same for bytes; ``measure*``: timing a device.
"""
