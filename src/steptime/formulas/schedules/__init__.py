"""Pipeline schedules, a file each: order, sizes allowed, chunks, closed forms, who and where.

`registry` lists them; everything else asks the registry and names no schedule.
"""
