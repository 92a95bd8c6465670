"""The errors of finding, downloading and building programs."""


class EngineUnavailableError(Exception):
    """A program is not available from any source; the message says what to do."""


class SourceUnavailableError(Exception):
    """One source of a program is not available on this machine; another one may be."""
