"""A server on loopback that speaks OpenAI's chat completions, with faults, and keeps a bill.

A prompt that holds ``[fault:NAME]`` always gets that fault; others get one of `faults` by chance.
An answer is billed when it has been made, whether or not it arrives: that is what money is lost by.
"""

import gzip
import json
import os
import random
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-test-0123456789abcdefghij"

#: Faults by chance, in shares of the requests: together a good fifth.
FAULTS = {"429": 0.05, "429_bare": 0.02, "500": 0.05, "hang": 0.01}
FAULTS |= dict.fromkeys(("drop", "drop_unbilled", "truncated", "no_json"), 0.02)
FAULTS |= {"no_choices": 0.01}

_FAULT = re.compile(r"\[fault:(\w+)\]")
#: Errors: the status, the type, the code and the message.
_STATUS = {
    "wrong_key": (401, None, "invalid_api_key", "Incorrect API key provided:"),
    "rejected": (400, "invalid_request_error", None, "this request is malformed"),
    "prompt_filter": (400, "invalid_request_error", "content_filter", "filtered by policy"),
    "too_long": (400, "invalid_request_error", "context_length_exceeded", "too many tokens"),
    "no_credit": (429, "insufficient_quota", "insufficient_quota", "you have no credit"),
    "no_model": (404, "invalid_request_error", "model_not_found", "no such model"),
    "surrogate_error": (400, "no \ud800", "no \ud800", "no \ud800 of"),
    "error_200": (200, None, 503, "come back later"),
    "429": (429, None, None, "slow down"),
    "429_bare": (429, None, None, "slow down"),
    "500": (500, None, None, "something broke"),
}


class FakeOpenAI(ThreadingHTTPServer):
    """A context manager that serves on a free port of loopback."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults, self.delay, self.hang = dict[str, float](), 0.0, 2.0
        #: Where ``redirect`` sends requests.
        self.elsewhere = ""
        #: The seconds that ``429`` asks to wait.
        self.retry_after = 1
        #: The bodies of the requests, as they came.
        self.bodies: list[Mapping[str, Any]] = []
        self.random, self.lock = random.Random(0), threading.Lock()
        #: How often an answer to a prompt was made, and so paid for.
        self.billed: Counter[str] = Counter()
        #: How often each outcome was sent.
        self.sent: Counter[str] = Counter()
        #: When each request came.
        self.times: list[float] = []
        self.most_at_once = self._at_once = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def __enter__(self) -> "FakeOpenAI":
        # Whoever starts it names it outside params files.
        os.environ["NBBIAS_BASE_URL"] = f"{os.environ.get('NBBIAS_BASE_URL', '')} {self.url}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is part of the test."""

    def choose(self, prompt: str) -> str:
        found = _FAULT.search(prompt)
        if found:
            return found[1]
        with self.lock:
            drawn = self.random.random()
        for name, share in self.faults.items():
            if drawn < share:
                return name
            drawn -= share
        return "answer"

    def bill(self, prompt: str, text: str) -> dict[str, int]:
        n_in, n_out = len(prompt.split()), len(text.split())
        with self.lock:
            self.billed[prompt] += 1
        return {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}

    def count(self, step: int) -> None:
        with self.lock:
            self._at_once += step
            self.most_at_once = max(self.most_at_once, self._at_once)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FakeOpenAI

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.count(1)
        try:
            self._answer(body)
        finally:
            self.server.count(-1)

    def _answer(self, body: Mapping[str, Any]) -> None:
        given = self.headers.get("Authorization", "")
        prompt = body["messages"][-1]["content"]
        kind = "wrong_key" if given != f"Bearer {KEY}" else self.server.choose(prompt)
        with self.server.lock:
            self.server.sent[kind] += 1
            self.server.times.append(time.monotonic())
            self.server.bodies.append(body)
        time.sleep(self.server.delay)
        if kind in _STATUS:
            status, type_, code, message = _STATUS[kind]
            # Real servers repeat the key that they were given; this one does so in full.
            told = {"message": f"{message} {given}", "type": type_, "code": code}
            wait = {"Retry-After": str(self.server.retry_after)} if kind == "429" else {}
            return self._send(status, {"error": told}, wait)
        if kind == "bomb":
            packed = gzip.compress(b" " * 17_000_000, 1)
            return self._send(200, packed, {"Content-Encoding": "gzip"})
        if kind.startswith("redirect_"):
            to = {"Location": f"{self.server.elsewhere}/chat/completions"}
            return self._send(int(kind.removeprefix("redirect_")), given, to)
        if kind in {"hang", "drop_unbilled"}:
            time.sleep(self.server.hang * (kind == "hang"))
            return self._drop()
        return self._complete(kind, prompt, body)

    def _complete(self, kind: str, prompt: str, body: Mapping[str, Any]) -> None:
        texts = {"empty": "", "echo": f"Your header was {self.headers['Authorization']}"}
        texts |= {"content_filter": "I would rather"}
        text = texts.get(kind, f"Answer {self.server.billed[prompt] + 1} to: {prompt}")
        message = {"role": "assistant", "content": text}
        if kind == "refusal":
            message |= {"content": None, "refusal": "I will not write that."}
        reason = "content_filter" if kind == "content_filter" else "stop"
        choice = {"index": 0, "message": message, "finish_reason": reason}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
        answer |= {"choices": [] if kind == "no_choices" else [choice]}
        answer |= {"usage": self.server.bill(prompt, text)}
        if kind == "drop":
            return self._drop()
        if kind == "no_json":
            return self._send(200, "<html>gateway</html>")
        return self._send(200, answer, cut=kind == "truncated")

    def _send(
        self, status: int, content: object, headers: Mapping[str, str] = {}, *, cut: bool = False
    ) -> None:
        data = json.dumps(content) if isinstance(content, dict) else content
        raw = data if isinstance(data, bytes) else data.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2] if cut else raw)
        if cut:
            self._drop()

    def _drop(self) -> None:
        """Reset the connection."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
