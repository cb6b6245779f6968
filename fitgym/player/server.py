"""The server of a game: a page on 127.0.0.1 for one person, behind a secret address.

Requests arrive in threads, but the game runs in the main thread: an interruption reaches it there, and worker processes,
which end with the thread that started them, live as long as the game.
"""

from __future__ import annotations

import hmac
import json
import queue
import secrets
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Final, Self

from fitgym.errors import FitgymError, InputError
from fitgym.player.game import Game
from fitgym.player.page import page

__all__ = ["HOST", "Server"]

HOST: Final = "127.0.0.1"

_LARGEST = 10_000  # bytes of a request
_PATIENCE_S = 10.0  # for the rest of a request
_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

Job = tuple[Callable[[], Any], "Future[Any]"]


class Server:
    """Shows a game to the browser of the person who started it.

    It refuses requests without the token, for another host name and from pages of another origin, so no other web page
    and no other user of the machine can play.

    Args:
        game: what is played.
        port: of 127.0.0.1; 0 takes a free one.
        token: part of the address; a random one by default.

    Raises:
        InputError: the port is taken or out of range.
    """

    def __init__(self, game: Game, port: int = 0, token: str = "") -> None:
        self.game = game
        self.token = token or secrets.token_urlsafe(24)
        self._jobs: queue.Queue[Job] = queue.Queue()
        try:
            self._http = _Http((HOST, port), _Handler, self)
        except (OSError, OverflowError) as problem:
            raise InputError(f"port {port} cannot be used: {problem}; expected a free port, or 0 for any") from None
        self._thread = Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://{HOST}:{self._http.server_address[1]}"

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self.origin}/{self.token}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def run(self) -> None:
        """Answer requests until an exception such as `KeyboardInterrupt` ends it; to be called in the main thread."""
        while True:
            self.answer()

    def answer(self) -> None:
        """Do the next job, once there is one."""
        job, promised = self._jobs.get()
        try:
            promised.set_result(job())
        except FitgymError as problem:
            promised.set_exception(problem)
        except BaseException as problem:
            promised.set_exception(InputError(f"the game has ended: {type(problem).__name__}"))
            raise

    def get(self, path: str) -> str | None:
        """The page at a path behind the token; None if there is none. Waits for the main thread."""
        pages = {"": lambda: page(self.game.film()), "replay.html": lambda: page(_alone(self.game.film()))}
        found: str | None = self._ask(pages[path]) if path in pages else None
        return found

    def post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """What a command answers; None if there is no such command. Waits for the main thread.

        Raises:
            InputError: the game refuses it.
        """
        commands: dict[str, Callable[[], dict[str, Any]]] = {
            "step": lambda: self.game.step(str(body.get("action"))),
            "rival": lambda: self.game.rival(str(body.get("name"))),
            "again": self.game.again,
        }
        found: dict[str, Any] | None = self._ask(commands[path]) if path in commands else None
        return found

    def _ask(self, job: Callable[[], Any]) -> Any:
        promised: Future[Any] = Future()
        self._jobs.put((job, promised))
        return promised.result()


def _alone(film: Mapping[str, Any]) -> dict[str, Any]:
    """A film without the game around it."""
    return {name: value for name, value in film.items() if name != "live"}


class _Http(ThreadingHTTPServer):
    """A thread for each connection; none of them keeps the program alive."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], owner: Server) -> None:
        self.owner = owner
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _Http
    server_version = "fitgym"
    sys_version = ""
    timeout = _PATIENCE_S

    def do_GET(self) -> None:
        path = self._path()
        if path is None:
            return
        text = self.server.owner.get(path)
        if text is None:
            self._reply(404, "text/plain", "There is no such page.")
        else:
            self._reply(200, "text/html", text)

    def do_POST(self) -> None:
        path = self._path()
        if path is None:
            return
        body = self._body()
        if body is None:
            return
        try:
            found = self.server.owner.post(path, body)
        except FitgymError as problem:
            self._reply(400, "application/json", json.dumps({"error": str(problem)}))
            return
        if found is None:
            self._reply(404, "application/json", json.dumps({"error": f"there is no command '{path:.60}'"}))
        else:
            self._reply(200, "application/json", json.dumps(found))

    def log_message(self, format: str, *args: Any) -> None:
        """Write no line for each request."""

    def _path(self) -> str | None:
        """The path behind the token; None for a request that was refused."""
        owner = self.server.owner
        _, token, *rest = [*self.path.split("/", 2), ""]
        host = owner.origin.removeprefix("http://")
        expected = {"Host": (host,), "Origin": (None, owner.origin), "Sec-Fetch-Site": (None, "none", "same-origin")}
        if any(self.headers.get(name) not in values for name, values in expected.items()):
            self._reply(403, "text/plain", "This page answers only requests from itself.")
        elif not hmac.compare_digest(token.encode(), owner.token.encode()):
            self._reply(403, "text/plain", "The address lacks its token: use the one that fitgym play printed.")
        else:
            return rest[0]
        return None

    def _body(self) -> dict[str, Any] | None:
        """The JSON of a request; None for a request that was refused."""
        length = self.headers.get("Content-Length", "")
        is_json = self.headers.get("Content-Type", "").partition(";")[0] == "application/json"
        if not is_json or not length.isascii() or not length.isdigit() or int(length) > _LARGEST:
            self._reply(400, "application/json", json.dumps({"error": "expected a short JSON object"}))
            return None
        try:
            found = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            self._reply(400, "application/json", json.dumps({"error": "expected a short JSON object"}))
            return None
        return found

    def _reply(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(content)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": _POLICY,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)
