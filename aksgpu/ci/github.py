"""The part of GitHub's API that the comment of a review needs."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

_SECONDS = 30
_PAGE = 100
# With more comments our earlier one may not be found, and a second one is added.
_PAGES = 30


class GitHubError(Exception):
    """A request to GitHub failed."""


@dataclass(frozen=True)
class GitHub:
    """A repository, with a token that can comment."""

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
        comments: list[dict[str, Any]] = []
        for page in range(1, _PAGES + 1):
            query = urlencode({"per_page": _PAGE, "page": page})
            on_page = self._ask("GET", f"issues/{pull}/comments?{query}")
            comments += on_page
            if len(on_page) < _PAGE:
                break
        return comments

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
            with urllib.request.urlopen(request, timeout=_SECONDS) as response:  # noqa: S310
                return json.load(response)
        except urllib.error.HTTPError as error:
            body = error.read(2_000).decode(errors="replace")
            raise GitHubError(f"{method} {what} returned {error.code}: {body}") from None
        except (OSError, ValueError) as error:
            raise GitHubError(f"{method} {what} failed: {error}") from None
