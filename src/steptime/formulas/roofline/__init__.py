"""The roofline model of a step: every part by its size and by what it has to move.

Each function takes up to three flat records: ``job`` (what is trained, and on what),
``stack`` (facts of the software, `steptime.inputs.stack.StackFacts`) and ``constants``
(`steptime.inputs.constants.RooflineConstants`).
"""

from steptime.formulas.roofline.step import roofline_step, roofline_step_s

__all__ = ["roofline_step", "roofline_step_s"]
