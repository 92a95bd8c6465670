"""Programs that sign a user in: what a kubeconfig has under `exec`, such as `kubelogin`.

The official client does not say what went wrong with one: it goes on without credentials.
"""

import asyncio
import base64
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from typing import Any

# A program that asks a person to sign in would wait for ever.
_SECONDS = 20.0
_INFO = "KUBERNETES_EXEC_INFO"
_CERTIFICATE = {"clientCertificateData": "client-certificate", "clientKeyData": "client-key"}


class LoginError(Exception):
    """Why a user cannot be signed in."""


async def signed_in(user: Mapping[str, Any], environment: Mapping[str, str]) -> Mapping[str, Any]:
    """Returns the user with the credentials that their program gives, if they have one."""
    if not user.get("exec"):
        return user
    others = {name: value for name, value in user.items() if name != "exec"}
    try:
        command = [str(user["exec"]["command"]), *map(str, user["exec"].get("args") or ())]
        version = str(user["exec"]["apiVersion"])
        env = user["exec"].get("env") or ()
        own = {str(entry["name"]): str(entry["value"]) for entry in env}
    except (AttributeError, KeyError, TypeError):
        raise LoginError("invalid configuration: exec is malformed") from None
    info = {"apiVersion": version, "kind": "ExecCredential", "spec": {"interactive": False}}
    said = await _said(command, {**os.environ, **environment, **own, _INFO: json.dumps(info)})
    try:
        status = json.loads(said)["status"]
        if "token" in status:
            return {**others, "token": str(status["token"])}
        return {
            **others,
            **{
                f"{name}-data": base64.b64encode(status[given].encode()).decode()
                for given, name in _CERTIFICATE.items()
            },
        }
    except (AttributeError, KeyError, TypeError, ValueError):
        raise LoginError(f"`{command[0]}` printed no credentials") from None


async def _said(command: list[str], environment: Mapping[str, str]) -> bytes:
    """What a program printed. An error has its own last words, and never its arguments."""
    name = command[0]
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # So that all of it can be ended.
            start_new_session=True,
        )
    except ValueError as error:
        raise LoginError(f"invalid configuration: exec is malformed: {error}") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LoginError(
            f"`{name}`, which signs in to the cluster, cannot be run: {reason}. Install it and put "
            "it on PATH"
        ) from None
    try:
        async with asyncio.timeout(_SECONDS):
            out, err = await process.communicate()
    except TimeoutError:
        raise LoginError(
            f"`{name}`, which signs in to the cluster, did not end within {_SECONDS:.0f} s. If it "
            "waits for a person, use a sign-in without one: for kubelogin, set AAD_LOGIN_METHOD to "
            "azurecli, spn or workloadidentity"
        ) from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()
    if process.returncode:
        lines = err.decode(errors="replace").strip().splitlines() or ["it printed no error"]
        raise LoginError(
            f"`{name}`, which signs in to the cluster, ended with exit code {process.returncode}: "
            f"{lines[-1]}"
        )
    return out
