"""The version of NVIDIA's device plugin, as far as its image says it."""

import re

from catalogue import images

Version = tuple[int, int]

# The part of an image's name by which a device plugin is known, whatever the registry...
IMAGE = images.DEVICE_PLUGIN.rpartition("/")[2].partition(":")[0]
# ...and by which it is known to be AMD's.
_OF_AMD = "rocm/"

# Of 2018: numbered as the Kubernetes that it was made for. They come before all others.
OF_2018: Version = (0, 0)
_OF_2018 = re.compile(r"v?1\.(0\.0-beta\d*|[89]|1\d)(-.*)?")
# A tag that is no version ("latest"), or none at all, is taken for the newest there is.
NEWEST: Version = (999, 0)
# Comes after all versions.
UNKNOWN: Version = (1000, 0)
_NUMBERS = re.compile(r"v?(\d+)\.(\d+)([.-].*)?")


def is_nvidias(image: str) -> bool:
    return IMAGE in image and _OF_AMD not in image


def of(image: str) -> Version:
    """The version up to its minor number."""
    _, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    if _OF_2018.fullmatch(tag):
        return OF_2018
    numbers = _NUMBERS.fullmatch(tag)
    return (int(numbers[1]), int(numbers[2])) if numbers else NEWEST
