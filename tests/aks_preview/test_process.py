"""The provider as a process: it ends when it is told to, or when nobody is left to work for."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2_grpc

from aks_preview.configuration import SETTINGS
from tests.aks_preview.odd.azure import POOL, Answer, certificates, serving
from tests.aks_preview.odd.driver import Driver, configuration_for
from tests.aks_preview.odd.test_instrument import POOL_INPUTS
from tests.aks_preview.test_interrupts import SilentAzure
from tests.bench import ROOT
from tests.waiting import PATIENCE

pytestmark = pytest.mark.nightly


@asynccontextmanager
async def running(
    address: str, by: Sequence[str] = (), stdout: int = PIPE, **more: str
) -> AsyncIterator[Process]:
    """The plug-in as an engine at this address starts it."""
    variables = {variable for setting in SETTINGS.values() for variable in setting.variables}
    environment = {name: value for name, value in os.environ.items() if name not in variables}
    command = (*by, sys.executable, str(ROOT / "plugins" / "aks_preview"), address)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=DEVNULL, stdout=stdout, stderr=PIPE, env=environment | more
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


class Engine:
    """As much of an engine as a connection to it needs."""

    def __init__(self) -> None:
        self.is_known = asyncio.Event()
        self._writers: list[asyncio.StreamWriter] = []

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        settings, taken = b"\0\0\0\4\0\0\0\0\0", b"\0\0\0\4\1\0\0\0\0"
        self._writers.append(writer)
        writer.write(settings)
        await reader.readuntil(taken)
        self.is_known.set()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._talk, "127.0.0.1", 0)
        async with server:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        for writer in self._writers:
            writer.close()


async def port_of(process: Process) -> int:
    assert process.stdout is not None
    return int(await asyncio.wait_for(process.stdout.readline(), PATIENCE))


def test_a_stopped_provider_reports_running_operations() -> None:
    """After a SIGTERM the pool was in Azure, and not in the state.

    SSL_CERT_FILE is enough for all that it speaks to; for an OIDC token it was not. What servers
    answer is told to the engine alone.
    """
    refused = Answer(
        401, {"error": "invalid_client", "error_description": "No, a client's secret."}
    )

    async def told_to_end() -> None:
        azure = SilentAzure("poll")
        azure.bend("GET /runner", for_ever=Answer(body={"value": "of the runner"}))
        async with (
            serving(azure),
            Engine().listening() as address,
            running(address, SSL_CERT_FILE=str(certificates() / "authority")) as process,
            grpc.aio.insecure_channel(f"127.0.0.1:{await port_of(process)}") as channel,
        ):
            provider: Any = None
            driver = Driver(provider, provider_pb2_grpc.ResourceProviderStub(channel), [])
            oidc = {"oidcRequestUrl": f"{azure.url}/runner", "oidcRequestToken": "t"}
            args = {**configuration_for(azure), **oidc, "useOidc": "true"}
            await driver.ask("Configure", args=args)
            azure.bend("token", refused)
            assert "invalid_client" in (await driver.create(POOL_INPUTS)).error
            working = asyncio.ensure_future(driver.create(POOL_INPUTS))
            await asyncio.wait_for(azure.is_asked.wait(), PATIENCE)
            process.terminate()
            outcome = await asyncio.wait_for(working, PATIENCE)
            assert "The update was cancelled" in outcome.error
            assert (outcome.id, bool(outcome.reasons)) == (POOL, True)
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
            assert process.stderr is not None
            assert await process.stderr.read() == b""
            azure.is_over.set()

    asyncio.run(told_to_end())


def test_a_provider_ends_with_its_engine() -> None:
    """A language host between the two lives on for minutes; without any, there was no end."""

    async def gone() -> None:
        engine = Engine()
        async with AsyncExitStack() as still_running:
            async with engine.listening() as address:
                process = await still_running.enter_async_context(running(address))
                await asyncio.wait_for(engine.is_known.wait(), PATIENCE)
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
            assert process.stderr is not None
            assert await process.stderr.read() == b""

    asyncio.run(gone())


@pytest.mark.parametrize("by", [(), ("sh", "-c", 'exec "$@" <&- >&-', "sh")])
def test_a_provider_ends_if_its_output_is_closed(by: Sequence[str]) -> None:
    """Whoever started it is gone before it says where it listens."""

    async def unheard() -> None:
        reading, writing = os.pipe()
        async with (
            Engine().listening() as address,
            running(address, by, stdout=writing) as process,
        ):
            os.close(reading)
            os.close(writing)
            assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
            assert process.stderr is not None
            assert await process.stderr.read() == b""

    asyncio.run(unheard())
