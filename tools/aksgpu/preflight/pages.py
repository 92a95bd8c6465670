"""Lists that come in pages, as the JSON that was sent."""

import json
from collections.abc import AsyncIterator, Awaitable, Mapping
from decimal import Decimal
from typing import Any, Protocol

from azure.core.exceptions import (
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    map_error,
)
from azure.core.rest import AsyncHttpResponse, HttpRequest
from azure.mgmt.core.exceptions import ARMErrorFormat

# Errors from a response that is not Azure's (a gateway's, for example), or is incomplete.
MALFORMED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ERRORS = {401: ClientAuthenticationError, 404: ResourceNotFoundError}


class Sends(Protocol):
    """A client of the Azure SDK."""

    def send_request(
        self, request: HttpRequest, **options: Any
    ) -> Awaitable[AsyncHttpResponse]: ...


async def pages(
    client: Sends, request: HttpRequest, following: str, **options: Any
) -> AsyncIterator[Mapping[str, Any]]:
    """Every page of a list; `following` is the member with the next page's address.

    `options` are for the client's pipeline.
    Raises AzureError, and any of MALFORMED for what is no page.
    """
    while True:
        response = await client.send_request(request, **options)
        if response.status_code != 200:
            map_error(response.status_code, response, _ERRORS)
            raise HttpResponseError(response=response, error_format=ARMErrorFormat)
        page = json.loads(response.text(), parse_float=Decimal)
        yield page
        if not page.get(following):
            return
        request = HttpRequest("GET", page[following])
