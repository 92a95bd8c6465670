"""A price list of a test's own, which answers as Azure's does."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote


def row(size: str, price: float, region: str) -> dict[str, Any]:
    return {
        "armSkuName": size,
        "armRegionName": region,
        "serviceName": "Virtual Machines",
        "type": "Consumption",
        "unitOfMeasure": "1 Hour",
        "productName": "Virtual Machines",
        "skuName": size,
        "effectiveStartDate": "2024-01-01T00:00:00Z",
        "retailPrice": price,
    }


@contextmanager
def price_list(prices: Mapping[str, float]) -> Iterator[str]:
    """The address of a list with these prices of an hour in every region; by size, for Linux."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = unquote(self.path)
            region = re.findall(r"armRegionName eq '(\w+)'", asked)[0]
            sizes = re.findall(r"armSkuName eq '(\w+)'", asked)
            rows = [row(size, prices[size], region) for size in sizes if size in prices]
            body = json.dumps({"BillingCurrency": "USD", "Items": rows}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/prices"
        finally:
            server.shutdown()
            serving.join()
