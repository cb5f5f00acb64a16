"""What a params file from a stranger cannot do: send keys and prompts away, or run code."""

from __future__ import annotations

import json
import os
import stat
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from nbbias.asking import call, plan as plans, trust
from nbbias.asking.params import Generate
from nbbias.running import generation
from nbbias.tables import ParameterError
from tests.asking.build import write_params
from tests.conftest import Command
from tests.fake_openai import KEY, FakeOpenAI

MODEL = "openai-api/anthropic/m"


def test_an_address_of_the_file_alone_gets_no_prompt_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with FakeOpenAI() as server:
        monkeypatch.delenv(trust.BASE_URL)
        path = write_params(tmp_path, server.url, models=[MODEL], prices={})
        done = command("generate", path)
        assert done.returncode == 2
        assert f"--base-url {server.url}" in " ".join((done.stdout + done.stderr).split())
        assert not server.billed
        dry = " ".join(command("generate", path, "--dry-run").stdout.split())
        assert f"the key in ANTHROPIC_API_KEY, go to {server.url}" in dry
        assert KEY not in dry
        done = command("generate", path, "--base-url", server.url)
        assert done.returncode == 0, done.stderr
        assert sum(server.billed.values()) == 3


@pytest.mark.parametrize("address", ["http://192.0.2.1/v1", "http://models.example/v1"])
def test_no_key_goes_over_plain_http_to_another_machine(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(trust.BASE_URL, address)
    with pytest.raises(ParameterError, match="plain http"):
        trust.check_addresses([MODEL], address, where="mine.yaml")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    with pytest.raises(ParameterError, match="plain http"):
        trust.check_addresses([MODEL], "", where="mine.yaml")


@pytest.mark.parametrize("address", ["https://models.example/v1/", "http://localhost:8000/v1"])
def test_an_address_that_the_user_names_is_asked(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(trust.BASE_URL, f"https://other.example {address.rstrip('/')}")
    trust.check_addresses([MODEL], address, where="mine.yaml")


def test_a_params_file_names_no_scheduler(tmp_path: Path) -> None:
    path = tmp_path / "shared.yaml"
    path.write_text("study: news_bias\nengine: dask\nscheduler: tcp://192.0.2.1:8786\n")
    with pytest.raises(ParameterError) as error:
        generation.check("news_bias", {"engine": "dask", "scheduler": "tcp://h:1"}, where=str(path))
    (breach,) = error.value.breaches
    assert "--scheduler" in breach


@pytest.mark.slow
def test_a_server_that_is_started_listens_on_loopback_with_a_random_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for `vllm` writes down what it was called with, and ends."""
    called = tmp_path / "called.json"
    stub = tmp_path / "vllm"
    stub.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"json.dump(sys.argv[1:], open({str(called)!r}, 'w'))\nsys.exit(1)\n"
    )
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "vllm.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for name in ("VLLM_BASE_URL", "VLLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    block = {"models": ["vllm/m"], "prices": {}, "model_args": {"max_model_len": 100}}
    path = write_params(tmp_path, "", max_retries=0, attempt_timeout=60, **block)
    plans.ask(generation.plan_file(path))
    arguments = json.loads(called.read_text())
    given = dict(pairwise(arguments))
    assert given["--host"] == "127.0.0.1"
    assert given["--max-model-len"] == "100"
    assert len(given["--api-key"]) > 30
    block = Generate(models=["vllm/m"], prompts="llmbi")
    others = [call.open_model("vllm/m", block).api.api_key for _ in range(2)]
    assert len({given["--api-key"], *others}) == 3
