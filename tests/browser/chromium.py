"""Controls Debian's headless Chromium over a pipe with the DevTools protocol: JSON messages, each ended by a NUL."""
import base64
import contextlib
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path

from harness import PATIENCE, eventually

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Some flags are for containers, where the sandbox has no user namespaces and /dev/shm is small. Others keep the browser
# from sending requests of its own, which the page does not cause.
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
         "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-extensions", "--hide-scrollbars", "--no-proxy-server", "--force-color-profile=srgb", "--lang=en-GB"]


def program():
    """Returns the path of the browser, or None if it is not installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class ProtocolError(Exception):
    """The browser rejected a command, or has ended."""


class Chromium:
    """The browser process. A separate thread reads its messages, so that no event is missed."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="reprise-browser-")
        self.numbers = itertools.count(1)
        self.responses, self.pages = {}, {}
        self.lock = threading.Lock()

    def __enter__(self):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def as_three_and_four():
            # Duplicates both pipe ends to high numbers first, because one end may already be descriptor 3 or 4.
            first, second = os.dup2(to_browser, 100), os.dup2(from_browser, 101)
            os.dup2(first, 3, inheritable=True)
            os.dup2(second, 4, inheritable=True)

        command = [program(), *FLAGS, f"--user-data-dir={self.folder}", "about:blank"]
        with open(os.path.join(self.folder, "said"), "wb") as said:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, close_fds=False,
                                            preexec_fn=as_three_and_four)
        os.close(to_browser)
        os.close(from_browser)
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProtocolError, OSError):
            self.send("Browser.close")
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self):
        rest = b""
        with os.fdopen(self.read_end, "rb", buffering=0) as pipe:
            while piece := pipe.read(65536):
                *whole, rest = (rest + piece).split(b"\0")
                for text in whole:
                    self._take(json.loads(text))
        for waiting in list(self.responses.values()):
            waiting.put({"error": {"message": "the browser is gone"}})

    def _take(self, message):
        if "id" in message:
            waiting = self.responses.get(message["id"])
            if waiting:
                waiting.put(message)
        elif message.get("sessionId") in self.pages:
            self.pages[message["sessionId"]].told(message["method"], message["params"])

    def send(self, method, session=None, **params):
        """Sends a command and returns the browser's response."""
        number, waiting = next(self.numbers), queue.Queue()
        self.responses[number] = waiting
        message = {"id": number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        with self.lock:
            os.write(self.write_end, json.dumps(message).encode() + b"\0")
        try:
            response = waiting.get(timeout=PATIENCE)
        finally:
            del self.responses[number]
        if "error" in response:
            raise ProtocolError(f"{method}: {response['error']['message']}")
        return response["result"]

    def page(self, **looks):
        return Page(self, **looks)


class Page:
    """One tab. `errors` has all messages of its console, exceptions and policy violations."""

    def __init__(self, browser, width=1280, height=900, dark=False):
        self.browser, self.errors, self.requested = browser, [], []
        self.loads = 0
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            self.send(f"{domain}.enable")
        self.resize(width, height)
        self.scheme(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.pages.pop(self.session, None)
        self.browser.send("Target.closeTarget", targetId=self.target)

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def told(self, method, params):
        if method == "Page.loadEventFired":
            self.loads += 1
        elif method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.errors.append(json.dumps(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")

    def open(self, url):
        before = self.loads
        self.send("Page.navigate", url=url)
        eventually(lambda: self.loads > before, f"{url} is loaded")
        return self

    def resize(self, width, height=900):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, dark, motion="no-preference"):
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                          {"name": "prefers-reduced-motion", "value": motion}])

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression. If the value is a promise, awaits the promise."""
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def expect(self, expression, what=None):
        """Waits until the expression is true, and returns its value."""
        return eventually(lambda: self.evaluate(expression), what or expression)

    def text(self, selector):
        return self.evaluate(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def expect_text(self, selector, words):
        eventually(lambda: words in (self.text(selector) or ""), f"{selector} says {words!r}, not {self.text(selector)!r:.300}")

    def press(self, key, code=None, shift=False):
        """Presses the key with that DOM name. A key that has a text also types the text."""
        codes = {"Tab": 9, "Enter": 13, " ": 32, "Escape": 27}
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        more = {"key": key, "code": code or ("Space" if key == " " else key), "windowsVirtualKeyCode": codes.get(key, 0),
                "modifiers": 8 if shift else 0}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **more)
        self.send("Input.dispatchKeyEvent", type="keyUp", **more)

    def picture(self, file, whole=True):
        """Saves a screenshot as PNG, of the whole page or of the visible part."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                         **({"clip": self._whole()} if whole else {}))["data"]
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_bytes(base64.b64decode(data))

    def _whole(self):
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}

    def accessible(self):
        """Returns [(role, name)] of everything that assistive technology sees."""
        nodes = self.send("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
