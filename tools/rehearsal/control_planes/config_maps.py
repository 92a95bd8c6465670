"""ConfigMaps as containers see them: files of volumes, and environment variables."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

Json = dict[str, Any]
# By namespace and name.
ConfigMaps = Mapping[tuple[str, str], Json]


def by_name(items: Iterable[Json]) -> ConfigMaps:
    return {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in items}


class NotMountedError(Exception):
    """A volume cannot be mounted; the reason is in the kubelet's words."""


def file_text(
    spec: Json, container: Json, path: str, namespace: str, config_maps: ConfigMaps
) -> str | None:
    """Returns the text of a file of a ConfigMap volume; None for any other file."""
    mounts = container.get("volumeMounts") or ()
    within = [(mount, _relative(path, mount["mountPath"])) for mount in mounts]
    mounts_below = [(mount, below) for mount, below in within if below is not None]
    if not mounts_below:
        return None
    # The innermost mount hides the others.
    mount, below = max(mounts_below, key=lambda pair: len(posixpath.normpath(pair[0]["mountPath"])))
    volume = next(held for held in spec["volumes"] if held["name"] == mount["name"])
    name = posixpath.normpath(posixpath.join(mount.get("subPath", ""), below))
    try:
        return _files(volume, namespace, config_maps).get(name)
    except NotMountedError:
        return None


def unmounted(pod: Json, config_maps: ConfigMaps) -> str | None:
    """Returns why a pod's volumes cannot be mounted, which keeps its containers from starting."""
    spec = pod["spec"]
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    used = {mount["name"] for held in containers for mount in held.get("volumeMounts") or ()}
    for volume in spec.get("volumes") or ():
        if volume["name"] not in used:
            continue
        try:
            _files(volume, pod["metadata"]["namespace"], config_maps)
        except NotMountedError as reason:
            return f'MountVolume.SetUp failed for volume "{volume["name"]}" : {reason}'
    return None


def environment(container: Json, namespace: str, config_maps: ConfigMaps) -> dict[str, str]:
    """Returns the environment variables from the pod and from the ConfigMaps that exist."""
    variables: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        data = _data(source.get("configMapRef"), namespace, config_maps)
        variables |= {source.get("prefix", "") + name: text for name, text in data.items()}
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        reference = source.get("configMapKeyRef")
        if not source:
            variables[variable["name"]] = variable.get("value", "")
        elif reference:
            data = _data(reference, namespace, config_maps)
            if reference["key"] in data:
                variables[variable["name"]] = data[reference["key"]]
    return variables


def _relative(path: str, folder: str) -> str | None:
    path, folder = posixpath.normpath(path), posixpath.normpath(folder)
    if path == folder:
        return ""
    within = folder.rstrip("/") + "/"
    return path.removeprefix(within) if path.startswith(within) else None


def _files(volume: Json, namespace: str, config_maps: ConfigMaps) -> dict[str, str]:
    """Returns the files of a volume by path."""
    sources = [volume, *((volume.get("projected") or {}).get("sources") or ())]
    files: dict[str, str] = {}
    for source in sources:
        if reference := source.get("configMap"):
            files |= _projected(reference, namespace, config_maps)
    return files


def _projected(reference: Json, namespace: str, config_maps: ConfigMaps) -> dict[str, str]:
    name, is_optional = reference.get("name", ""), reference.get("optional", False)
    if (namespace, name) not in config_maps and not is_optional:
        raise NotMountedError(f'configmap "{name}" not found')
    data = _data(reference, namespace, config_maps)
    if not reference.get("items"):
        return data
    files = {}
    for item in reference["items"]:
        if item["key"] in data:
            files[posixpath.normpath(item["path"])] = data[item["key"]]
        elif not is_optional:
            raise NotMountedError(f"configmap references non-existent config key: {item['key']}")
    return files


def _data(reference: Json | None, namespace: str, config_maps: ConfigMaps) -> dict[str, str]:
    """Returns the data of a ConfigMap; empty if it, or the reference to it, is missing."""
    return data((namespace, (reference or {}).get("name", "")), config_maps)


def data(name: tuple[str, str], config_maps: ConfigMaps) -> dict[str, str]:
    """Returns the data of a ConfigMap by namespace and name; empty if it is missing."""
    return config_maps.get(name, {}).get("data") or {}
