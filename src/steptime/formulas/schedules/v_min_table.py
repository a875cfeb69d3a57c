"""The forms of V-Min, for each number of ranks: `v_forms` says how to read them."""

from steptime.formulas.schedules.v_forms import FormTable
from steptime.formulas.schedules.v_min_large import V_MIN_LARGE
from steptime.formulas.schedules.v_min_largest import V_MIN_LARGEST
from steptime.formulas.schedules.v_min_small import V_MIN_SMALL

V_MIN_FORMS = FormTable([V_MIN_SMALL, V_MIN_LARGE, V_MIN_LARGEST])
