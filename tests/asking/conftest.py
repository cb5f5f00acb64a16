"""A server on loopback, and the command line."""

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import Command
from tests.fake_openai import KEY, FakeOpenAI

#: Runs the command line in this process: its exit status, and all that it prints.
NBBias = Callable[..., tuple[int, str]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI() as running:
        yield running


@pytest.fixture
def nbbias(command: Command) -> NBBias:
    def run_it(*arguments: object) -> tuple[int, str]:
        done = command(*arguments)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    return run_it
