"""The rules of the pack. A new rule is a file beside this one and a line in the list below.

A mandatory rule and the advisory one that reports what is only possible are in one file.
"""

from pulumi_policy import ResourceValidationPolicy, StackValidationPolicy

from policies.rules.allowed_gpu_sizes import allowed_gpu_sizes
from policies.rules.api_server_closed import api_server_closed
from policies.rules.device_plugin_mig_strategy import (
    device_plugin_mig_strategy,
    device_plugin_mig_unclear,
)
from policies.rules.device_plugin_on_gpu_nodes import (
    device_plugin_bound_to_pools,
    device_plugin_on_gpu_nodes,
)
from policies.rules.device_plugin_tolerates_pools import (
    device_plugin_tolerates_pools,
    device_plugin_toleration_unclear,
)
from policies.rules.gpu_count_cap import gpu_count_cap
from policies.rules.gpu_image_retired import gpu_image_retired
from policies.rules.gpu_managed_pool import gpu_managed_pool
from policies.rules.gpu_mig_supported import gpu_mig_supported
from policies.rules.gpu_nodes_provisioned import gpu_nodes_provisioned
from policies.rules.gpu_pool_autoscaling import gpu_pool_autoscaling
from policies.rules.gpu_pool_linux_only import gpu_pool_linux_only
from policies.rules.gpu_pool_minimum_size import gpu_pool_minimum_size
from policies.rules.gpu_pool_one_fabric import gpu_pool_one_fabric
from policies.rules.gpu_pool_separate import gpu_pool_separate
from policies.rules.gpu_pool_tainted import gpu_pool_tainted
from policies.rules.gpu_pool_whole_racks import gpu_pool_whole_racks
from policies.rules.gpu_seen_unasked import gpu_seen_unasked
from policies.rules.gpu_size_retired import gpu_size_retired
from policies.rules.gpu_size_unknown import gpu_size_unknown
from policies.rules.gpu_software_images import gpu_software_images
from policies.rules.gpu_spot_settings import gpu_spot_settings
from policies.rules.gpu_workload_fits import gpu_workload_fits
from policies.rules.host_encryption import host_encryption
from policies.rules.kubeconfig_secret import kubeconfig_secret
from policies.rules.kubernetes_minimum_version import kubernetes_minimum_version
from policies.rules.one_gpu_stack_owner import gpu_stack_owner_unclear, one_gpu_stack_owner
from policies.rules.protect_production_pools import protect_production_pools

RULES: tuple[ResourceValidationPolicy | StackValidationPolicy, ...] = (
    # Mandatory or remediating.
    gpu_pool_linux_only,
    gpu_pool_minimum_size,
    one_gpu_stack_owner,
    device_plugin_tolerates_pools,
    device_plugin_on_gpu_nodes,
    device_plugin_mig_strategy,
    gpu_managed_pool,
    kubeconfig_secret,
    # Advisory.
    gpu_size_retired,
    gpu_image_retired,
    kubernetes_minimum_version,
    gpu_size_unknown,
    gpu_pool_tainted,
    gpu_stack_owner_unclear,
    device_plugin_toleration_unclear,
    device_plugin_bound_to_pools,
    device_plugin_mig_unclear,
    gpu_nodes_provisioned,
    gpu_pool_separate,
    gpu_pool_one_fabric,
    gpu_pool_whole_racks,
    gpu_pool_autoscaling,
    gpu_spot_settings,
    gpu_mig_supported,
    gpu_workload_fits,
    gpu_seen_unasked,
    allowed_gpu_sizes,
    gpu_count_cap,
    host_encryption,
    api_server_closed,
    gpu_software_images,
    protect_production_pools,
)
