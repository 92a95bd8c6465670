"""The rehearsal's Pulumi project: the same program with other plug-ins and another state.

Every use writes it again from the real Pulumi.yaml and stack file, into the rehearsal's home, where
Pulumi also writes its files. The real project is only read.
"""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from filelock import FileLock

from aks_catalogue import azure_settings
from aksgpu.stack_key import StackKey
from aksgpu.stack_names import policies_file, short_name, stack_file, stacks_in
from rehearsal.arm.home import Home, Principal
from rehearsal.files import read_record, write_whole
from rehearsal.offline_plug_ins import FOLDER as OFFLINE_PLUG_INS
from stack_settings.stack_file import (
    STAND_IN,
    StackFile,
    StackFileError,
    folder_of_stacks,
    parse,
    read_project,
    with_stand_ins,
)
from stack_settings.stack_file import read as read_stack_file
from stack_settings.yaml_text import NoYamlError, read_yaml

# The offline plug-ins, by the plug-in that each replaces. Our own plug-ins are not replaced.
_OFFLINE: Mapping[str, Path] = MappingProxyType(
    {
        "azure-native": OFFLINE_PLUG_INS / "azure_native",
        "kubernetes": OFFLINE_PLUG_INS / "kubernetes",
    }
)

# A rehearsal has its own subscription and identity: settings of these providers do not apply.
_AZURE_PROVIDERS = ("aks-preview", "azure", "azure-native", "azuread")

# The keys of a stack file about encryption; a rehearsal does not have the real stack's key.
_KEYS_OF_SECRETS = ("encryptedkey", "encryptionsalt", "secretsprovider")


@dataclass(frozen=True)
class Project:
    """The rehearsal's project for one program."""

    program: Path
    home: Path
    # The policy pack: the program's own, unless another is named.
    other_pack: Path | None = None
    # Whether the program runs as it says itself: ours runs with Python, whatever a change says.
    keeps_runtime: bool = False
    # By the plug-ins that they replace, with their folders; none on Azure itself.
    offline: Mapping[str, Path] = field(default_factory=lambda: _OFFLINE)

    @property
    def folder(self) -> Path:
        return self.home / "project"

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def backend(self) -> str:
        """The address of the state, for Pulumi."""
        return self.state.absolute().as_uri()

    @property
    def stack_files(self) -> Path:
        """The folder of the program's stack files."""
        return stack_files(self.program)

    @property
    def pack(self) -> Path | None:
        own = self.program / "policies"
        return self.other_pack or (own if (own / "PulumiPolicy.yaml").exists() else None)

    @property
    def passphrase(self) -> str:
        """The passphrase of this home's secrets. It must be unique, as reports mask it."""
        file = self.home / "passphrase"
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        # If two commands start at once, the first one creates it.
        with FileLock(self.home / f".{file.name}.lock"):
            if not (file.exists() and file.read_bytes().strip()):
                write_whole(file, secrets.token_urlsafe().encode(), 0o600)
        return file.read_text(errors="replace").strip()

    @property
    def main(self) -> Path:
        """The folder or file of the program's code."""
        main = read_project(self.program).get("main", ".")
        return Path(self.program, str(main)).resolve()

    def configuration_of_the_pack(self, stack: str) -> Path | None:
        """The stack's configuration of the policy pack, if it has one."""
        file = policies_file(self.stack_files, stack)
        return file if file.exists() else None

    def remove_state(self) -> None:
        """Removes the state of all stacks, and what an interrupted removal has left of it."""
        going = self.state.with_name("state.going")
        shutil.rmtree(going, ignore_errors=True)
        if self.state.exists():
            self.state.rename(going)
        shutil.rmtree(going, ignore_errors=True)

    def has_locks(self, stack: str) -> bool:
        """Whether an update of the stack is running, or was killed."""
        return bool(locks_of(stack, self.state))

    def environment(self) -> dict[str, str]:
        """The variables with which `pulumi` uses this project and its backend."""
        own = {
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(self.home / "pulumi-home"),
        }
        return {
            **(own if self.offline else {}),
            "PULUMI_BACKEND_URL": self.backend,
            # A shell of `aksgpu env` can have these of another stack.
            "PULUMI_OPTION_CWD": str(self.folder.absolute()),
            "PULUMI_OPTION_POLICY_PACK": "",
            "PULUMI_OPTION_POLICY_PACK_CONFIG": "",
            "PULUMI_CONFIG_PASSPHRASE": self.passphrase,
            # Its checkpoints are read here too.
            "PULUMI_SELF_MANAGED_STATE_GZIP": "false",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def share_plug_ins(self, of_owner: Path) -> None:
        """Lets `pulumi` find the plug-ins that the owner of the machine has installed."""
        own = self.home / "pulumi-home" / "plugins"
        if of_owner.is_dir() and not own.exists():
            own.parent.mkdir(parents=True, exist_ok=True)
            own.unlink(missing_ok=True)
            own.symlink_to(of_owner)

    def write(self) -> None:
        """Writes the project file, and copies the known stack files again."""
        real = _read(self.program / "Pulumi.yaml")
        for folder in (self.folder, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        # Here all stack files are next to it.
        real.pop("stackConfigDir", None)
        if isinstance(real.get("config"), str):
            del real["config"]
        _write(self.folder / "Pulumi.yaml", real | self._changes(real))
        for stack in stacks_in(self.folder):
            # A stack without a real file was created with plain pulumi. An invalid file is not
            # copied: commands on that stack report it.
            with suppress(StackFileError):
                self.write_stack(stack)

    def write_stack(self, stack: str, text: str | None = None) -> None:
        """Copies a stack file, with the encryption key of the rehearsal.

        `text` replaces the file's text, such as with an earlier version.
        """
        real, copy = self._stack_file(stack, text), stack_file(self.folder, stack)
        real.require_whole()
        kept = _read_copy(copy) or {}
        keys = {key: kept[key] for key in _KEYS_OF_SECRETS if key in kept}
        content = {key: value for key, value in real.content.items() if key not in _KEYS_OF_SECRETS}
        if config := content.get("config"):
            content["config"] = self._in_the_rehearsal(config)
        if real.secrets:
            content["config"], keys = self._with_stand_ins(content["config"], keys)
        _write(copy, content | keys)

    def _in_the_rehearsal(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config with the rehearsal's subscription and identity: programs read them too."""
        principal = read_record(Home(self.home).principal, Principal)
        own = {}
        if principal is not None:
            own = {
                "subscriptionId": principal.subscription,
                "tenantId": principal.tenant,
                "clientId": principal.client_id,
            }
        kept = dict[str, Any]()
        for key, value in config.items():
            name = key.partition(":")[2]
            if not _is_of_azure(key):
                kept[key] = value
            elif name in own:
                kept[key] = own[name]
        return kept

    def _with_stand_ins(
        self, config: Mapping[str, Any], keys: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """The config with placeholders, encrypted with the rehearsal's key, and that key."""
        key = StackKey(self.passphrase, keys.get("encryptionsalt"))

        def encrypted(path: str, _: str) -> dict[str, str]:
            return {"secure": key.encrypted(STAND_IN, path)}

        return with_stand_ins(config, encrypted), {**keys, "encryptionsalt": key.salt}

    def _stack_file(self, stack: str, text: str | None) -> StackFile:
        file = stack_file(stack_files(self.program), stack)
        return read_stack_file(file) if text is None else parse(text, file.name)

    def _changes(self, real: Mapping[str, Any]) -> dict[str, Any]:
        """Where the rehearsal's project file differs from the real one."""
        try:
            providers = (real.get("plugins") or {}).get("providers") or []
            paths = {each["name"]: self.program / each["path"] for each in providers}
        except (AttributeError, LookupError, TypeError):
            raise StackFileError(
                f"{self.program / 'Pulumi.yaml'}: each of plugins.providers needs a name and a path"
            ) from None
        paths |= self.offline
        packages: Mapping[str, Any] = real.get("packages") or {}
        return {
            "main": os.path.relpath(self.main, self.folder),
            "plugins": {
                "providers": [{"name": name, "path": str(path)} for name, path in paths.items()]
            },
            "runtime": self._runtime(real.get("runtime")),
            "packages": {name: self._absolute(source) for name, source in packages.items()},
        }

    def _runtime(self, real: Any) -> Any:
        """The runtime; for Python with its virtual environment, wherever the project file is."""
        written = real if isinstance(real, dict) else {"name": real}
        options: Mapping[str, Any] = (self.keeps_runtime and written.get("options")) or {}
        is_other = written.get("name") != "python" or options.get("toolchain", "pip") != "pip"
        # poetry and uv find the environment by the program's folder.
        if self.keeps_runtime and is_other:
            return real
        named = options.get("virtualenv", ".venv")
        venv = self.program / named
        # A program without a virtual environment runs in this one.
        return {
            "name": "python",
            "options": {"virtualenv": str(venv if venv.exists() else sys.prefix)},
        }

    def _absolute(self, source: Any) -> Any:
        """Where a package comes from, if that is a folder beside the program."""
        if isinstance(source, dict) and "source" in source:
            return {**source, "source": self._absolute(source["source"])}
        is_folder = isinstance(source, str) and source.startswith(".")
        return str((self.program / source).resolve()) if is_folder else source


def stack_files(program: Path) -> Path:
    """The folder of a program's stack files."""
    return program / folder_of_stacks(read_project(program))


def _is_of_azure(key: str) -> bool:
    """Whether a key configures a provider's access to Azure."""
    provider, _, name = key.partition(":")
    return provider in _AZURE_PROVIDERS and name in azure_settings.SETTINGS


def _read(file: Path) -> dict[str, Any]:
    """The map in a YAML file. Raises StackFileError if it cannot be read."""
    try:
        content, _ = read_yaml(file.read_bytes())
    except (OSError, NoYamlError) as error:
        raise StackFileError(f"{file} cannot be read: {error}") from None
    if not isinstance(content, dict | None):
        raise StackFileError(f"{file} is not a map of keys and values (line 1)")
    return content or {}


def locks_of(stack: str, state: Path) -> list[Path]:
    """The locks of a stack in a file backend, by any form of its name."""
    return sorted(state.glob(f".pulumi/locks/**/{short_name(stack)}/*.json"))


def _read_copy(file: Path) -> dict[str, Any] | None:
    """The map in a file that the rehearsal has written; None if it is missing or damaged."""
    try:
        return _read(file)
    except StackFileError:
        return None


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Writes a file only if its content changes: another rehearsal may be using it."""
    if _read_copy(file) != content:
        # JSON is YAML too.
        write_whole(file, json.dumps(content, indent=2, ensure_ascii=False).encode())
