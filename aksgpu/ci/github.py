"""GitHub's interface, as far as the comment of a review needs it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

_SECONDS = 30
_PAGE = 100
# A pull request with more comments than this gets a second one of ours rather than no answer.
_PAGES = 30


class GitHubError(Exception):
    """GitHub did not do what it was asked for."""


@dataclass(frozen=True)
class GitHub:
    """One repository, with a token that may comment."""

    api: str
    repository: str
    token: str = field(repr=False)

    def open_pulls(self, head: str) -> list[dict[str, Any]]:
        """The open pull requests from a branch, given as `owner:branch`."""
        pulls: list[dict[str, Any]] = self._ask(
            "GET", "pulls?" + urlencode({"state": "open", "head": head, "per_page": _PAGE})
        )
        return pulls

    def comments(self, pull: int) -> list[dict[str, Any]]:
        """The comments of a pull request, the oldest first."""
        found: list[dict[str, Any]] = []
        for page in range(1, _PAGES + 1):
            query = urlencode({"per_page": _PAGE, "page": page})
            some = self._ask("GET", f"issues/{pull}/comments?{query}")
            found += some
            if len(some) < _PAGE:
                break
        return found

    def add_comment(self, pull: int, body: str) -> None:
        self._ask("POST", f"issues/{pull}/comments", {"body": body})

    def change_comment(self, comment: int, body: str) -> None:
        self._ask("PATCH", f"issues/comments/{comment}", {"body": body})

    def _ask(self, method: str, what: str, content: dict[str, str] | None = None) -> Any:
        request = urllib.request.Request(  # noqa: S310 (the runner's own address)
            f"{self.api}/repos/{self.repository}/{what}",
            method=method,
            data=None if content is None else json.dumps(content).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read(2_000).decode(errors="replace")
            raise GitHubError(f"{method} {what} was answered {error.code}: {said}") from None
        except (OSError, ValueError) as error:
            raise GitHubError(f"{method} {what} failed: {error}") from None
