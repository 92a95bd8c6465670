"""The rehearsal's own Pulumi project: the same program, other plug-ins, a state of its own.

It is made anew from the real Pulumi.yaml and stack file at every use, and lies in the rehearsal's
home with all that Pulumi writes; so the real project is only ever read.
"""

import os
import secrets
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from filelock import FileLock

from aksgpu.stack_key import StackKey
from aksgpu.stack_names import policies_file, stack_file, stacks_in
from catalogue import azure_settings
from rehearsal.files import write_whole
from settings.project_file import read_project
from settings.stack_file import StackFile, StackFileError, parse, with_stand_ins
from settings.stack_file import read as read_stack_file
from settings.yaml_text import written

# The plug-ins that stand-ins play, with the folders they are in. Our own plug-ins play themselves.
_STAND_INS: Mapping[str, str] = MappingProxyType(
    {
        "azure-native": "rehearsal/stand_ins/azure_native",
        "kubernetes": "rehearsal/stand_ins/kubernetes",
    }
)

# A rehearsal has an Azure of its own, with a subscription and an identity, whatever these are told.
_AZURE_PROVIDERS = ("aks-preview", "azure", "azure-native", "azuread")

# Where the stand-ins are, whatever program is rehearsed.
_CHECKOUT = Path(__file__).resolve().parent.parent

# Of the homes from before each had its own.
_OLD_PASSPHRASE = "rehearsal"  # noqa: S105

# How a stack file says which key its secrets are encrypted with: the real one's is not ours.
_KEYS_OF_SECRETS = ("encryptedkey", "encryptionsalt", "secretsprovider")


@dataclass(frozen=True)
class Project:
    """The rehearsal's project for one program."""

    program: Path
    home: Path

    @property
    def folder(self) -> Path:
        return self.home / "project"

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def stack_files(self) -> Path:
        """Where the program's own stack files are."""
        return stack_files(self.program)

    @property
    def pack(self) -> Path:
        return self.program / "policies"

    @property
    def passphrase(self) -> str:
        """The passphrase of this home's secrets: a word of no other text, for reports mask it."""
        file = self.home / "passphrase"
        self.home.mkdir(parents=True, exist_ok=True)
        # Of two commands, the first counts.
        with FileLock(self.home / f".{file.name}.lock"):
            if not (file.exists() and file.read_bytes().strip()):
                word = _OLD_PASSPHRASE if self._has_secrets() else secrets.token_urlsafe()
                write_whole(file, word.encode(), 0o600)
        return file.read_text(errors="replace").strip()

    def _has_secrets(self) -> bool:
        """Whether anything is encrypted here already."""
        files = [*self.folder.glob("Pulumi.*.yaml"), *self.state.rglob("*.json")]
        signs = (b"encryptionsalt", b"secrets_providers")
        return any(sign in file.read_bytes() for file in files for sign in signs)

    @property
    def main(self) -> Path:
        """Where the program itself is."""
        said = read_project(self.program).content.get("main", ".")
        return Path(self.program, str(said)).resolve()

    def configuration_of_the_pack(self, stack: str) -> Path | None:
        """The stack's own configuration of the policy pack, where it has one."""
        file = policies_file(self.stack_files, stack)
        return file if file.exists() else None

    def has_locks(self, stack: str) -> bool:
        """Whether an update of the stack is at work, or was killed."""
        return any(self.state.glob(f".pulumi/locks/**/{stack}/*.json"))

    def environment(self) -> dict[str, str]:
        """What `pulumi` needs to work on this project, and on no other backend."""
        return {
            "PULUMI_BACKEND_URL": self.state.absolute().as_uri(),
            # A shell on the rehearsal may have those of another stack.
            "PULUMI_OPTION_CWD": str(self.folder.absolute()),
            "PULUMI_OPTION_POLICY_PACK": "",
            "PULUMI_OPTION_POLICY_PACK_CONFIG": "",
            "PULUMI_CONFIG_PASSPHRASE": self.passphrase,
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_HOME": str(self.home / "pulumi-home"),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
        }

    def write(self) -> None:
        """Makes the project file, and takes the known stack files over as they are now."""
        real = _read(self.program / "Pulumi.yaml")
        for made in (self.folder, self.state):
            made.mkdir(parents=True, exist_ok=True)
        # All stack files lie beside it.
        real.pop("stackConfigDir", None)
        if isinstance(real.get("config"), str):
            del real["config"]
        _write(self.folder / "Pulumi.yaml", real | self._own(real))
        for stack in stacks_in(self.folder):
            # One without a real counterpart was made by hand, with plain pulumi. One that is broken
            # stays as it was: whoever works on that stack is told.
            with suppress(StackFileError):
                self.write_stack(stack)

    def write_stack(self, stack: str, text: str | None = None) -> None:
        """Takes over the stack file of that name, with the key of the rehearsal's own secrets.

        `text` is what to take for the file's own, such as what it was earlier.
        """
        real, name = self._stack_file(stack, text), stack_file(self.folder, stack).name
        real.require_whole()
        own_file = self.folder / name
        kept = _read(own_file) if own_file.exists() else {}
        keys = {key: kept[key] for key in _KEYS_OF_SECRETS if key in kept}
        own = {key: value for key, value in real.content.items() if key not in _KEYS_OF_SECRETS}
        if config := own.get("config"):
            own["config"] = {key: config[key] for key in config if not _is_of_azure(key)}
        if real.secrets:
            own["config"], keys = self._with_stand_ins(own["config"], keys)
        _write(own_file, own | keys)

    def encrypted(self, stack: str, text: str | None = None) -> dict[str, str]:
        """The values that stand-ins take the places of, by their paths."""
        secrets = self._stack_file(stack, text).secrets
        return {path: value for path, value in secrets.items() if not _is_of_azure(path)}

    def _with_stand_ins(
        self, config: Mapping[str, Any], keys: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """A configuration that the rehearsal's own key can read, and that key."""
        key = StackKey(self.passphrase, keys.get("encryptionsalt"))

        def encrypted(path: str, stand_in: str) -> dict[str, str]:
            return {"secure": key.encrypted(stand_in, path)}

        made = with_stand_ins(config, encrypted, read_project(self.program))
        return made, {**keys, "encryptionsalt": key.salt}

    def asks_for_retired(self, stack: str, text: str | None = None) -> bool:
        """Whether a stack file, or the text in its place, allows what Azure has retired."""
        return self._stack_file(stack, text).allows_retired

    def _stack_file(self, stack: str, text: str | None) -> StackFile:
        file = stack_file(stack_files(self.program), stack)
        return read_stack_file(file) if text is None else parse(text, file.name)

    def _own(self, real: Mapping[str, Any]) -> dict[str, Any]:
        """What the rehearsal's project file says otherwise."""
        try:
            providers = (real.get("plugins") or {}).get("providers") or []
            paths = {own["name"]: self.program / own["path"] for own in providers}
        except (AttributeError, LookupError, TypeError):
            raise StackFileError(
                f"{self.program / 'Pulumi.yaml'}: each of plugins.providers needs a name and a path"
            ) from None
        paths |= {name: _CHECKOUT / path for name, path in _STAND_INS.items()}
        venv = self.program / ".venv"
        return {
            "main": os.path.relpath(self.main, self.folder),
            "plugins": {
                "providers": [{"name": name, "path": str(path)} for name, path in paths.items()]
            },
            "runtime": {
                "name": "python",
                # A program without an environment of its own is run in this one.
                "options": {"virtualenv": str(venv if venv.exists() else sys.prefix)},
            },
        }


def stack_files(program: Path) -> Path:
    """Where the stack files of a program are."""
    return program / read_project(program).folder_of_stacks


def _is_of_azure(key: str) -> bool:
    """Whether a key says which Azure a provider works in, and in whose name."""
    provider, _, name = key.partition(":")
    return provider in _AZURE_PROVIDERS and name in azure_settings.SETTINGS


def _read(file: Path) -> dict[str, Any]:
    """The map in a file of the project's own. Raises StackFileError where there is none."""
    try:
        content = yaml.safe_load(file.read_bytes())
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        raise StackFileError(f"{file} cannot be read: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict | None):
        raise StackFileError(f"{file} is no map of keys and values (line 1, column 1)")
    return content or {}


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Writes a file where it says something else: another rehearsal may be at work with it."""
    if not file.exists() or _read(file) != content:
        write_whole(file, written(content).encode())
