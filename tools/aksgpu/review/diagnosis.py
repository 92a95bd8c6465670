"""Turns the engine's errors into findings: why a preview failed."""

import re
from collections.abc import Iterable, Iterator

from aksgpu.outcome import Cause, Finding
from aksgpu.review.masking import clean

# Errors that only follow from another one.
_FOLLOWS = re.compile(
    r"update failed|.*: context canceled|.*\bprogram (failed|exited)[^\n]*exit[^\n]*\d"
)
# Only the end of a longer error, such as a traceback, is shown.
_MOST_LINES = 15

# The cause of an error of engine, provider or backend, by its text. The first match counts; the
# last matches everything.
_SIGNS: tuple[tuple[str, Cause, str], ...] = (
    (
        r"no stack named .* found",
        Cause.STACK_MISSING,
        "`pulumi stack ls` lists the stacks; `pulumi stack init` creates one",
    ),
    (
        r"missing required configuration|(could not|failed to) (unmarshal|load|parse|read)"
        r"[^\n]*Pulumi\.[^\n]*ya?ml|validating stack config|is missing configuration value"
        r"|invalid configuration key",
        Cause.STACK_FILE_INVALID,
        "correct the stack file",
    ),
    (
        r"language plugin",
        Cause.PREVIEW_FAILED,
        "a pulumi that was built on this machine runs Python alone: put Pulumi's own release on "
        "the PATH, which has the other languages",
    ),
    (
        r"connection (refused|reset|aborted|timed out)|cannot connect to|failed to connect"
        r"|no such host|name or service not known|temporary failure in name resolution"
        r"|connect call failed|ClientConnector\w*Error|failed to resolve"
        r"|network is unreachable|i/o timeout|tls handshake"
        r"|certificate verify failed|ServiceRequestError|PULUMI_ACCESS_TOKEN must be set"
        r"|please run `?'?az login|AADSTS\d+|InvalidAuthenticationToken|AuthenticationFailed"
        r"|ClientAuthenticationError|ExpiredAuthenticationToken|401 unauthorized",
        Cause.AZURE_UNREACHABLE,
        "check the network, sign in to Azure (`az login`) and to the backend (`pulumi login`)",
    ),
    ("", Cause.PREVIEW_FAILED, "`pulumi preview` on this stack shows the error with its context"),
)


def follows(message: str) -> bool:
    """Whether an error only follows from another one."""
    return bool(_FOLLOWS.fullmatch(message))


def problems_of(errors: Iterable[str]) -> Iterator[Finding]:
    """One finding for each error that does not only follow from another one."""
    messages = list(dict.fromkeys(map(clean, errors)))
    primary = [message for message in messages if not follows(message)]
    yield from map(_problem, primary or messages)


def _problem(error: str) -> Finding:
    lines = error.removeprefix("error: ").splitlines()
    what = "\n".join(lines if len(lines) <= _MOST_LINES else ["...", *lines[-_MOST_LINES:]])
    cause, advice = next(
        (cause, advice) for sign, cause, advice in _SIGNS if re.search(sign, error, re.IGNORECASE)
    )
    return Finding(cause, what, advice)
