"""What device plugins write into their logs where there is no driver."""

from aksgpu.check.cluster_view import ClusterView, Pod

# What device plugins, old and new, say where there is no driver.
_NO_DRIVER = (
    "no devices found",
    "incompatible strategy detected",
    "invalid device discovery strategy",
    "could not load nvml",
    "driver not loaded",
    "failed to initialize nvml",
    "incompatible platform detected",
)


def words_of_no_driver(view: ClusterView, plugin: Pod) -> str:
    """The line in which a plugin tells that there is no driver; empty if there is none."""
    for line in view.plugin_logs.get(str(plugin), "").splitlines():
        if any(words in line.lower() for words in _NO_DRIVER):
            return line.strip()
    return ""
