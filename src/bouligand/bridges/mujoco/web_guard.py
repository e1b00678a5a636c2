"""Who may use the page of a robot: the page itself, and nobody in another page of the same browser.

A browser lets any page open a websocket to this computer, and names the page in the header ``Origin``. A page can also give its
own host name the address of this computer (DNS rebinding); that name is then in the header ``Host``. viser looks at neither.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import threading
from collections.abc import Callable
from typing import Any
from unittest import mock
from weakref import WeakSet

GRACE = 0.3  # seconds that clients have to say goodbye when the server stops

_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(:\d{1,5})?")
_replacing = threading.Lock()  # one guard at a time stands in websockets' module
_log = logging.getLogger("bouligand.view")
_log.addHandler(logging.NullHandler())
_log.propagate = False  # whatever a client sends, nothing is printed


class Guard:
    """Refuses requests to a viser server that do not come from its own page, and cuts connections that outlast it.

    Parameters
    ----------
    host : str
        The address or the name that the server is bound to.
    """

    def __init__(self, host: str) -> None:
        self._names = {"localhost", host.lower(), socket.gethostname().lower()}
        self._connections: WeakSet[Any] = WeakSet()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, make: Callable[[], Any]) -> Any:
        """The viser server that ``make()`` starts, guarded; an error if viser starts it in a way that cannot be."""
        from websockets.asyncio import server

        with _replacing, mock.patch.object(server, "serve", self._serving(server)):
            started = make()
        if self._loop is None:
            started.stop()
            raise RuntimeError(
                "serve: other pages could use the server of this version of viser, so it was stopped; install viser 1.1"
            )
        return started

    def _serving(self, server: Any) -> Any:
        serve = server.serve

        def connect(*arguments: Any, **options: Any) -> Any:
            connection = server.ServerConnection(*arguments, **options)
            self._connections.add(connection)
            return connection

        def guarded(handler: Any, *where: Any, process_request: Any = None, **options: Any) -> Any:
            def answer(connection: Any, request: Any) -> Any:
                if why := self.refusal(request.headers):
                    return connection.respond(403, f"{why}\n")
                return None if process_request is None else process_request(connection, request)

            self._loop = asyncio.get_running_loop()
            return serve(handler, *where, process_request=answer, create_connection=connect, logger=_log, **options)

        return guarded

    def refusal(self, headers: Any) -> str | None:
        """Why a request with these headers is refused; None if it is not."""
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        host = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if host is None or not self._is_ours(host["name"].lower()):
            return "This page is not known under that host name; open it under the address that was printed."
        if headers.get_all("Upgrade") and not origins:
            return "A websocket needs the header Origin, by which a browser says whose it is."
        if origins and [origin.lower() for origin in origins] not in (
            [f"{scheme}://{hosts[0].lower()}"] for scheme in ("http", "https")
        ):
            return "Only the page itself may do that, not one from elsewhere."
        return None

    def _is_ours(self, name: str) -> bool:
        """A name of this computer, or an address: somebody else's name can be given this address, but not an address a name."""
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def close_soon(self) -> None:
        """Cut the connections that are still there a moment from now: they may not have asked for anything yet, or not answer."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.call_later, GRACE, self._cut)

    def _cut(self) -> None:
        for connection in list(self._connections):
            if connection.transport is not None:
                connection.transport.abort()
