"""What device plugins log on a node without a driver."""

from aksgpu.check.cluster_view import ClusterView, Pod

# Messages of old and new device plugins.
_NO_DRIVER = (
    "no devices found",
    "incompatible strategy detected",
    "invalid device discovery strategy",
    "could not load nvml",
    "driver not loaded",
    "failed to initialize nvml",
    "incompatible platform detected",
)


def no_driver_line(view: ClusterView, plugin: Pod) -> str:
    """The log line with which a plugin reports that there is no driver; empty if there is none."""
    for line in view.plugin_logs.get(str(plugin), "").splitlines():
        if any(words in line.lower() for words in _NO_DRIVER):
            return line.strip()
    return ""
