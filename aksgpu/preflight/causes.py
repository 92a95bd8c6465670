"""What a preflight can come to, and the exit code of each, which are numbered here alone."""

from collections.abc import Iterable
from enum import Enum


class Cause(Enum):
    """Of several causes, the one that stands first here gives the exit code.

    What kept Azure from being asked at all comes first; then what explains the rest, such as a
    provider that is not registered, and a size that is gone for good before one that is not here.
    """

    INTERRUPTED = ("interrupted", 130, "the preflight was interrupted")
    STACK_FILE_INVALID = ("stack-file-invalid", 40, "the stack file cannot be used")
    REHEARSAL_UNAVAILABLE = ("rehearsal-unavailable", 50, "there is no rehearsal cloud to be had")
    CREDENTIALS_REFUSED = ("credentials-refused", 41, "Azure does not take the credentials")
    AZURE_UNREACHABLE = ("azure-unreachable", 42, "Azure cannot be reached")
    NOT_REGISTERED = ("not-registered", 47, "a provider or a feature is not registered")
    EXISTENCE = ("existence", 43, "what should be there is not, or what should not be there is")
    SIZE_RETIRED = ("size-retired", 45, "a size is retired, and offered no more")
    SIZE_NOT_OFFERED = ("size-not-offered", 44, "a size is not offered here as it is wanted")
    VERSION_NOT_OFFERED = ("version-not-offered", 46, "the Kubernetes version is not offered here")
    QUOTA_TOO_SMALL = ("quota-too-small", 48, "a quota does not hold what the stack may need")
    UNANSWERED = ("unanswered", 49, "Azure left a question open")
    READY = ("ready", 0, "nothing that was asked about stands against it")

    def __init__(self, slug: str, exit_code: int, meaning: str) -> None:
        self.slug = slug
        self.exit_code = exit_code
        self.meaning = meaning


def verdict(causes: Iterable[Cause]) -> Cause:
    """What it comes to, all in all."""
    there = set(causes)
    return next((cause for cause in Cause if cause in there), Cause.READY)
