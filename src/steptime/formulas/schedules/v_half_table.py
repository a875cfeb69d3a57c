"""The forms of V-Half, for each number of ranks: `v_forms` says how to read them."""

from steptime.formulas.schedules.v_forms import FormTable
from steptime.formulas.schedules.v_half_large import V_HALF_LARGE
from steptime.formulas.schedules.v_half_largest import V_HALF_LARGEST
from steptime.formulas.schedules.v_half_small import V_HALF_SMALL

V_HALF_FORMS = FormTable([V_HALF_SMALL, V_HALF_LARGE, V_HALF_LARGEST])
