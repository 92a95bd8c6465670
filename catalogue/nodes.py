"""What nodes of GPU pools carry by convention, and what AKS asks of a pool."""

import re

# AKS taints nothing by itself; this is the taint its documentation uses for GPU pools.
GPU_TAINT = "sku=gpu:NoSchedule"

LINUX_POOL_NAME = re.compile(r"[a-z][a-z0-9]{0,11}")
LINUX_POOL_NAME_RULE = "1 to 12 lower-case letters and digits, a letter first"
