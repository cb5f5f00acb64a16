"""What a params file from a stranger cannot do: send keys and prompts away, or run code."""

from pathlib import Path

import pytest

from nbbias.asking import trust
from nbbias.tables import ParameterError
from tests.asking.build import write_params
from tests.asking.conftest import NBBias
from tests.fake_openai import KEY, FakeOpenAI

MODEL = "openai-api/anthropic/m"


def test_an_address_of_the_file_alone_gets_no_prompt_and_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nbbias: NBBias
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with FakeOpenAI() as server:
        monkeypatch.delenv(trust.BASE_URL)
        path = write_params(tmp_path, server.url, models=[MODEL], prices={})
        code, printed = nbbias("generate", path)
        assert (code, f"--base-url {server.url}" in printed) == (2, True)
        assert not server.billed
        _, dry = nbbias("generate", path, "--dry-run")
        assert f"the key in ANTHROPIC_API_KEY, go to {server.url}" in dry
        assert KEY not in dry
        assert nbbias("generate", path, "--base-url", server.url)[0] == 0
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


def test_no_server_is_started_for_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    with pytest.raises(ParameterError, match="start its server yourself"):
        trust.check_addresses(["vllm/m"], "", where="mine.yaml")


@pytest.mark.parametrize("address", ["https://models.example/v1/", "http://localhost:8000/v1"])
def test_an_address_that_the_user_names_is_asked(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(trust.BASE_URL, f"https://other.example {address.rstrip('/')}")
    trust.check_addresses([MODEL], address, where="mine.yaml")
