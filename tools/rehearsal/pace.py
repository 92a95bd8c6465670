"""Scales the time limits of the offline plug-ins.

The rehearsal cloud takes seconds for what takes Azure minutes, so the plug-ins shorten their time
limits too. Outside a rehearsal they wait as long as the real plug-ins.
"""

import os

# The rehearsal sets its time scale for the offline plug-ins.
TIME_SCALE_VARIABLE = "AKS_GPU_REHEARSAL_TIME_SCALE"
# At scale 1 a rehearsed minute takes six seconds: a cluster takes 8 seconds, a pool 5.
SECONDS_PER_SECOND = 0.1
# At any scale, this machine's own work takes some seconds.
SHORTEST_LIMIT = 15.0


def time_limit(seconds: float, shortest: float = SHORTEST_LIMIT) -> float:
    """Returns the rehearsal's time limit for one of that many seconds on Azure."""
    scale = os.environ.get(TIME_SCALE_VARIABLE)
    if scale is None:
        return seconds
    return min(seconds, max(shortest, seconds * float(scale) * SECONDS_PER_SECOND))
