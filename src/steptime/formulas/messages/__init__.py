"""Traffic tables: which collectives each parallelism runs, line by line.

The sizes come from `steptime.formulas.traffic`, which the step-time models use too; here they
get a phase, a kind and a count, so that a compiled program can be held against them.
"""
