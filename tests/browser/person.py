"""A person at the app: a page of a real Chromium, and everything that went wrong on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import ConsoleMessage, Locator, Page, Request, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

# Two noisy cores may need long; what is there at once is not waited for.
PATIENCE = 60_000  # ms
expect.set_options(timeout=PATIENCE)

# The message that a run has ended is shorter than this; pictures, which are not, stay unread.
SHORT = 1_000  # bytes

HOME = {"localhost", "127.0.0.1", None}

# On the address of a sub-page Streamlit first tries the sub-page's own health check and settings,
# which do not exist; the browser reports the 404 and nothing is amiss.
KNOWN_404 = re.compile(r"/_stcore/(health|host-config)$")

# Streamlit marks the app's root while the script runs. Between two runs that follow each other at
# once (a choice made in a component, say) it is idle for a moment: so the app counts as still when
# it has been idle for a while, and a component that just arrived has had its frames to draw.
STILL = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const idle = app?.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && document.querySelector('[data-testid=stMain] [data-testid=stElementContainer]')
    && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')
    && !document.querySelector('.headlight-plot:not([data-drawn])');
  if (!idle) window.lastBusy = performance.now();
  return performance.now() - window.lastBusy > 300;
}"""


@dataclass
class Person:
    """One window on the app at `base`; `page` is Playwright's, the rest is what a person sees."""

    page: Page
    base: str
    complaints: list[str] = field(default_factory=list)
    waits_for_a_run: bool = True

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"script error: {error}"))
        self.page.on("request", self._request)
        self.page.on("websocket", self._listen)

    def open(self, path: str = "/", query: Mapping[str, str] | None = None) -> Person:
        """Go to a page of the app (or to a whole address) and wait until it stands still."""
        address = path if "://" in path else self.base + path
        self.page.goto(address + ("?" + urlencode(query) if query else ""))
        return self.settle()

    def settle(self) -> Person:
        """Wait until the script has run and everything it sent is on the screen."""
        while True:
            self.page.evaluate("window.lastBusy = performance.now()")
            self.page.wait_for_function(STILL, timeout=PATIENCE)  # asked anew at every frame
            # A busy server may not even have begun with what the page asked of it last.
            if not self.waits_for_a_run:
                return self

    # What is on the Heads page, by the names a screen reader would say.

    @property
    def heads(self) -> Locator:
        return self.page.get_by_role("listbox", name="Heads", exact=True)

    def head(self, layer: int, head: int) -> Locator:
        """The thumbnail of one head."""
        name = re.compile(rf"^Layer {layer},? head {head}\b")
        return self.heads.get_by_role("option", name=name)

    @property
    def sentence(self) -> Locator:
        return self.page.get_by_role("textbox", name="Sentence")

    @property
    def tokens(self) -> Locator:
        return self.page.get_by_role("listbox", name=re.compile("^Tokens")).get_by_role("option")

    @property
    def token_texts(self) -> list[str]:
        """What stands on the tokens, without their weights."""
        return self.tokens.locator(".word").all_text_contents()

    def type_sentence(self, text: str) -> Person:
        """Replace the sentence and apply it with the Enter key."""
        self.sentence.fill(text)
        self.sentence.press("Enter")
        return self.settle()

    def view(self, name: str) -> Locator:
        """The control that shows the head as Map, Lines or Stages."""
        return self.page.get_by_role("radio", name=name, exact=True)

    def choose_view(self, name: str) -> Person:
        self.view(name).click()
        expect(self.view(name)).to_be_checked()
        return self.settle()

    @property
    def chosen_token(self) -> int:
        """The position of the token that looks."""
        expect(self.tokens.and_(self.page.locator("[aria-selected=true]"))).to_have_count(1)
        chosen = "tokens => tokens.findIndex(token => token.ariaSelected === 'true')"
        return self.tokens.evaluate_all(chosen)

    def picture(self, layer: int | None = None, head: int | None = None) -> Locator:
        """The main picture, by an accessible name that says which head it shows; or any head's."""
        which = [r"\d+" if number is None else str(number) for number in (layer, head)]
        name = re.compile(r"\b(?:L|layer ){},? (?:H|head ){}\b".format(*which), re.IGNORECASE)
        figures = self.page.get_by_role("figure", name=name)
        return figures.or_(self.page.get_by_role("img", name=name)).first

    def open_popover(self, name: str | re.Pattern[str]) -> Locator:
        """Open one of the popovers and return its body."""
        self.page.get_by_role("button", name=name).first.click()
        body = self.page.get_by_test_id("stPopoverBody")
        expect(body).to_be_visible()
        self.settle()
        return body

    def close_popover(self) -> None:
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_test_id("stPopoverBody")).to_have_count(0)
        self.settle()

    def in_address(self, key: str) -> str | None:
        """The value of one query parameter of the address bar."""
        return parse_qs(urlsplit(self.page.url).query).get(key, [None])[0]

    # What must never happen.

    def check(self) -> None:
        """No traceback on the page, no error in the console, no request to an outside address."""
        boxes = self.page.get_by_test_id("stException").all_inner_texts()
        assert not boxes, f"an exception box on the page: {boxes}"
        assert not self.complaints, "\n".join(self.complaints)

    def axe(self) -> list[str]:
        """The faults that axe-core finds, one line each; it looks into shadow roots too."""
        self.page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text())
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{fault['id']}: {fault['help']}: {[node['html'][:200] for node in fault['nodes']]}"
            for fault in result["violations"]
        ]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type != "error":
            return
        address = message.location.get("url", "")
        if "404" in message.text and KNOWN_404.search(address):
            return
        self.complaints.append(f"console error: {message.text} ({address})")

    def _listen(self, socket: WebSocket) -> None:
        self._request(socket)
        self.waits_for_a_run = True
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, payload: str | bytes) -> None:
        if isinstance(payload, bytes):
            asks = BackMsg.FromString(payload).WhichOneof("type") == "rerun_script"
            self.waits_for_a_run = self.waits_for_a_run or asks

    def _received(self, payload: str | bytes) -> None:
        if isinstance(payload, bytes) and len(payload) < SHORT:
            message = ForwardMsg.FromString(payload)
            if message.WhichOneof("type") == "script_finished":
                # Nothing more comes unless the run was cut off to begin the next.
                early = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN
                self.waits_for_a_run = message.script_finished == early

    def _request(self, request: Request | WebSocket) -> None:
        address = urlsplit(request.url)
        if address.scheme not in {"data", "blob"} and address.hostname not in HOME:
            self.complaints.append(f"a request to an outside address: {request.url}")
