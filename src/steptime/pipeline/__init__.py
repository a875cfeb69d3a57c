"""Schedules, the one executor that turns orders and durations into times, and what it tells.

From Python::

    from steptime.pipeline.timeline import Work, simulate
    from steptime.pipeline.report import report

    step = simulate("1f1b", ranks=4, micro_batches=8, work=Work(send_latency=0.1))
    report(step)["bubble_fraction"]

The plain functions below hold all of the logic and are also turned into JavaScript, as those of
`steptime.formulas.schedules` are:

1. ``build.refusal(name, p, m, v)`` is "" or the reason why not; ``build.fixed_chunks(name)``
   is the v a schedule needs, 0 where it may be chosen.
2. ``build.build_orders(name, p, m, v)`` gives per rank a list of action codes;
   ``codes.kind_of``, ``codes.stage_of``, ``code % m`` and ``codes.action_names`` read them.
   A pair (DualPipe) is a mark, ``codes.pair_code``, and the two codes behind it.
3. ``durations.slot_times(orders, S, m, f, i, w)`` or ``durations.stage_times(...)`` with
   ``S = p * v`` stages gives the times, ``execute.execute(orders, S, m, times)`` the
   ``starts`` and ``ends`` in the orders' own positions.
4. ``measure.bubble``, ``measure.idle_by_cause``, ``memory.peak_in_flight``,
   ``memory.held_over_time``, ``memory.sends``, ``idle_causes.positions``,
   ``idle_causes.producer``, ``idle_causes.critical_path`` and ``idle_causes.deadlock_cycle``
   answer questions about the result.

The dataclasses and text forms on top (`schedules`, `timeline`, `report`, `own_order`,
`draw`, `svg`, `trace`) are for Python alone.
"""
