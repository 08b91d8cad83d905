"""A tab of a real browser, driven through the DevTools protocol: true widths, keys, screenshots, what is logged."""

import base64
import json
import os
import subprocess
import time

from browser import BROWSER

KEYS = {  # name -> code, number, text
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Escape": ("Escape", 27, ""),
    " ": ("Space", 32, " "),
}


class Tab:
    """`with Tab(width) as tab`: messages go through pipes, null bytes between them."""

    def __init__(self, width=1200, height=900, dark=False):
        self.size, self.dark, self.number, self.events, self.rest = (width, height), dark, 0, [], b""

    def __enter__(self):
        theirs, ours = os.pipe()
        mine, yours = os.pipe()

        def pipes():  # the browser reads its descriptor 3 and writes its descriptor 4
            os.dup2(theirs, 10)
            os.dup2(yours, 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "about:blank"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen([str(BROWSER), *options], preexec_fn=pipes, close_fds=False, **quiet)
        os.close(theirs)
        os.close(yours)
        self.out, self.back, self.session = ours, mine, None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        width, height = self.size
        mobile = width < 600
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.back)

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 20)
            assert part, "the browser has gone"
            self.rest += part
        first, _, self.rest = self.rest.partition(b"\0")
        return json.loads(first)

    def open(self, path):
        self.send("Page.navigate", url=path.as_uri())
        self.arrive('location.href != "about:blank"')

    def arrive(self, there):
        """Wait for a page that is loaded and where `there` is true. (A promise would end with the page before it.)"""
        for _ in range(200):
            if self.run(f'document.readyState == "complete" && {there}'):
                return
            time.sleep(0.02)
        raise AssertionError("the page does not load")

    def run(self, script):
        """The value of an expression on the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key, shift=False):
        code, number, text = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=code, windowsVirtualKeyCode=number,
                text=text if kind == "keyDown" else "", modifiers=8 if shift else 0,
            )  # fmt: skip

    def type(self, text):
        self.send("Input.insertText", text=text)

    def screenshot(self, path, whole=False):
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def printed(self, path):
        path.write_bytes(base64.b64decode(self.send("Page.printToPDF", printBackground=False)["data"]))

    def complaints(self):
        """What was logged, thrown or asked of a network."""
        bad = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        said = [event for event in self.events if event.get("method") in bad]
        asked = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        urls = [event["params"]["request"]["url"] for event in asked]
        return said + [url for url in urls if not url.startswith(("file:", "data:", "about:"))]
