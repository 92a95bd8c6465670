"""A connection that tests keep: to open one costs more than a request."""

import http.client
import select
import ssl
import threading
from pathlib import Path

from tests.waiting import PATIENCE


class KeptConnection(threading.local):
    """A thread's connection to a server, made anew where the server has closed it."""

    def __init__(self, url: str, authority: Path) -> None:
        self._host = url.removeprefix("https://")
        self._authority = authority
        self._open: http.client.HTTPSConnection | None = None

    def request(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """The answer to one request, which is sent once, and its content."""
        connection = self._usable()
        # Whatever goes wrong, the next request has nothing to do with it.
        self._open = None
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
        except BaseException:
            connection.close()
            raise
        self._open = connection
        return response, content

    def _usable(self) -> http.client.HTTPSConnection:
        if self._open is not None:
            if self._open.sock is not None and not _is_readable(self._open.sock):
                return self._open
            self._open.close()
        # The authority may be another than it was.
        context = ssl.create_default_context(cafile=self._authority)
        return http.client.HTTPSConnection(self._host, timeout=PATIENCE, context=context)


def _is_readable(sock: ssl.SSLSocket) -> bool:
    """Whether the server has something to say that nobody asked for: that it is closed."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
