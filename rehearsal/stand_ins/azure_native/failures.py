"""Azure's failures in azure-native's words."""

import json
from typing import Any

from azure.core.exceptions import HttpResponseError


def words(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "operation timed out"
    if isinstance(error, HttpResponseError) and error.response is not None:
        return _answer(error.response)
    return str(error)


def _answer(response: Any) -> str:
    """The code that Azure gave, and its message; of AKS's own errors, which are flat, all of it."""
    text = response.text()
    try:
        content = json.loads(text)
    except ValueError:
        content = {}
    flat = content if isinstance(content, dict) else {}
    error = flat.get("error")
    # Of the directory that signs in, `error` is a word.
    nested = error if isinstance(error, dict) else {}
    code = nested.get("code") or flat.get("code") or ""
    message = nested.get("message") or text
    return f'Status={response.status_code} Code="{code}" Message="{message}"'
