"""The ways in which getting an engine can fail."""


class EngineUnavailableError(Exception):
    """There is no engine, and the message says what can be done about it."""


class WayClosedError(Exception):
    """One way to an engine leads nowhere on this machine; another one may."""
