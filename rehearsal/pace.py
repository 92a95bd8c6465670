"""How long a stand-in waits for what the real plug-in gives minutes.

A rehearsal takes seconds for what takes Azure minutes, so its stand-ins shorten their time limits
too. Without a rehearsal around them they wait as long as the real plug-in.
"""

import os

# The rehearsal's scale of time, for the stand-ins; the rehearsal sets it.
TIME_SCALE_VARIABLE = "AKS_GPU_REHEARSAL_TIME_SCALE"
# At scale 1 a rehearsed minute takes six seconds: clusters come in 8 seconds, pools in 5.
_SECONDS_PER_SECOND = 0.1
# However fast the rehearsal, this machine's own work takes some seconds.
_SHORTEST_LIMIT = 15.0


def time_limit(seconds: float) -> float:
    """The time limit that stands for one of so many seconds on Azure."""
    scale = os.environ.get(TIME_SCALE_VARIABLE)
    if scale is None:
        return seconds
    return min(seconds, max(_SHORTEST_LIMIT, seconds * float(scale) * _SECONDS_PER_SECOND))
