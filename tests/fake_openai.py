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
_STATUS = {
    "rejected": (400, "invalid_request_error", None, "this request is malformed"),
    "prompt_filter": (400, "invalid_request_error", "content_filter", "filtered by policy"),
    "too_long": (400, "invalid_request_error", "context_length_exceeded", "too many tokens"),
    "no_credit": (429, "insufficient_quota", "insufficient_quota", "you have no credit"),
    "no_model": (404, "invalid_request_error", "model_not_found", "no such model"),
}


class FakeOpenAI(ThreadingHTTPServer):
    """A context manager that serves on a free port of loopback."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, *, hang: float = 3.0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.faults, self.delay, self.hang = dict[str, float](), 0.0, hang
        #: The headers of the requests, and where ``redirect`` sends them.
        self.headers: list[Mapping[str, str]] = []
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
        #: When each request came, with its outcome.
        self.times: list[tuple[float, str]] = []
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
        self.server.headers.append(dict(self.headers))
        kind = "wrong_key" if given != f"Bearer {KEY}" else self.server.choose(prompt)
        with self.server.lock:
            self.server.sent[kind] += 1
            self.server.times.append((time.monotonic(), kind))
            self.server.bodies.append(body)
        time.sleep(self.server.delay)
        if kind == "wrong_key":
            # Real servers repeat the key that they were given; this one does so in full.
            told = {"message": f"Incorrect API key provided: {given}", "code": "invalid_api_key"}
            return self._send(401, {"error": told})
        if kind in _STATUS:
            status, type_, code, message = _STATUS[kind]
            told = {"message": f"{message} {given}", "type": type_, "code": code}
            return self._send(status, {"error": told})
        if kind == "error_200":
            return self._send(200, {"error": {"message": "come back later", "code": 503}})
        if kind == "bomb":
            packed = gzip.compress(b" " * 40_000_000, 1)
            return self._send(200, packed, {"Content-Encoding": "gzip"})
        if kind == "surrogate_error":
            told = f"no \ud800 of {given}"
            return self._send(400, {"error": {"message": told, "type": told, "code": told}})
        if kind.startswith("redirect_"):
            to = {"Location": f"{self.server.elsewhere}/chat/completions"}
            return self._send(int(kind.removeprefix("redirect_")), given, to)
        if kind in {"429", "429_bare"}:
            seconds = {"Retry-After": str(self.server.retry_after)} if kind == "429" else {}
            return self._send(429, {"error": {"message": "slow down"}}, seconds)
        if kind == "500":
            return self._send(500, {"error": {"message": "something broke"}})
        if kind == "drop_unbilled":
            return self._drop()
        if kind == "hang":
            time.sleep(self.server.hang)
            return self._drop()
        return self._complete(kind, prompt, body)

    def _complete(self, kind: str, prompt: str, body: Mapping[str, Any]) -> None:
        number = self.server.billed[prompt] + 1
        text = "" if kind == "empty" else f"Answer {number} to: {prompt}"
        if kind == "echo":
            text = f"Your header was {self.headers['Authorization']}"
        if kind in {"content_filter", "refusal"}:
            text = "I would rather"
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
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
