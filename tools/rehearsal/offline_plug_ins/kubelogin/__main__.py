"""`kubelogin get-token`: a token of the rehearsal cloud for a service principal.

It signs in with a secret (`spn`), or with the token in a file (`workloadidentity`).

Kubernetes clients run it, as the kubeconfig says. It needs the standard library only, so that any
Python can run it.
"""

import argparse
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

_SECONDS = 10
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def main() -> str | None:
    """Prints the credentials; returns an error message if there are none."""
    parser = argparse.ArgumentParser(prog="kubelogin", description=__doc__)
    parser.add_argument("command", choices=["get-token"])
    names = ("environment", "server-id", "client-id", "client-secret", "tenant-id")
    for name in (*names, "federated-token-file"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--login", default="devicecode")
    arguments = parser.parse_args()
    # As in the original, the environment overrides the arguments.
    login = os.environ.get("AAD_LOGIN_METHOD", arguments.login)
    if login not in ("spn", "workloadidentity"):
        return f"the rehearsal does not support the login method {login}: set AAD_LOGIN_METHOD=spn"
    authority = os.environ.get("AZURE_AUTHORITY_HOST", "https://login.microsoftonline.com")
    tenant = os.environ.get("AZURE_TENANT_ID", arguments.tenant_id)
    form = {
        "grant_type": "client_credentials",
        "client_id": os.environ.get("AZURE_CLIENT_ID", arguments.client_id),
        "scope": f"{arguments.server_id}/.default",
    }
    try:
        if login == "spn":
            secret = os.environ.get("AZURE_CLIENT_SECRET", arguments.client_secret)
            form["client_secret"] = secret
        else:
            file = Path(
                os.environ.get("AZURE_FEDERATED_TOKEN_FILE", arguments.federated_token_file)
            )
            form["client_assertion_type"] = _ASSERTION
            form["client_assertion"] = file.read_text(encoding="utf-8").strip()
        answer = _posted(f"{authority.rstrip('/')}/{tenant}/oauth2/v2.0/token", form)
        credentials = _credentials(answer["access_token"], answer["expires_in"])
        sys.stdout.write(f"{json.dumps(credentials)}\n")
    except urllib.error.HTTPError as error:
        response = json.loads(error.read() or "{}")
        return f"failed to get token: {response.get('error_description') or error}"
    except (OSError, KeyError, ValueError) as error:
        return f"failed to get token: {error}"
    return None


def _posted(address: str, form: dict[str, str]) -> dict[str, Any]:
    # Never through a proxy: the server is on this machine. SSL_CERT_FILE has its authority.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}),
        urllib.request.HTTPSHandler(context=ssl.create_default_context()),
    )
    content = urllib.parse.urlencode(form).encode()
    with opener.open(address, content, timeout=_SECONDS) as response:
        answer: dict[str, Any] = json.load(response)
        return answer


def _credentials(token: str, seconds: int) -> dict[str, Any]:
    exec_info = json.loads(os.environ.get("KUBERNETES_EXEC_INFO") or "{}")
    ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
    return {
        "kind": "ExecCredential",
        "apiVersion": exec_info.get("apiVersion") or "client.authentication.k8s.io/v1beta1",
        "status": {"token": token, "expirationTimestamp": ends},
    }


if __name__ == "__main__":
    sys.exit(main())
