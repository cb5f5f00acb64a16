"""Keys: refused in params, found nowhere in what runs leave behind."""

import logging
from pathlib import Path

import pandas as pd
import pytest

from nbbias.llmbi.scoring import prompts
from nbbias.params import REDACTED, key_breaches, redact, redact_known
from nbbias.params.yaml import as_yaml, parse as parse_yaml
from nbbias.reading import Format
from tests.asking.build import write_params
from tests.conftest import Command
from tests.fake_openai import KEY, FakeOpenAI

#: Made up, in the shapes of real ones.
PLANTED = [
    "sk-proj-abcDEF0123456789abcDEF",
    "sk-ant-api03-abcdefghijklmnop-_QRST",
    "hf_abcDEFghiJKLmno12345",
    "AIzaSyA0123456789abcdefghijklmnopqrstu",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0abc.c2lnbmF0dXJl",
    "Bearer abcdef0123456789",
    "a3f5b7c9d1e3f5a7b9c1d3e5f7a9b1c3",
]


ADDRESSES = ["https://user:word@host.org/v1", "https://h.org/v1?a=b&key=abc"]


@pytest.mark.parametrize("key", [*PLANTED, *ADDRESSES])
def test_a_value_that_looks_like_a_key_is_refused_without_repeating_it(key: str) -> None:
    (told,) = key_breaches({"model_args": {"note": key}})
    assert "model_args.note" in told
    assert "OPENAI_API_KEY" in told
    assert key not in told
    assert key == PLANTED[-1] or key not in redact(f"Incorrect key: {key}; see x")


@pytest.mark.parametrize(
    ("name", "value"), [("API-KEY", "x"), ("extra_headers", []), ("client_secret", {"a": 1})]
)
def test_a_name_that_asks_for_a_key_is_refused(name: str, value: object) -> None:
    assert key_breaches({"model_args": {name: value}})


@pytest.mark.parametrize(
    "value",
    [
        "openai/gpt-4o-mini",
        "/home/someone/models/a_rather_long_name_of_a_folder_0123456789/checkpoint-12000",
        "${NBBIAS_DATA}/news/a.parquet",
        "19c8a56163f7d087b0b23aca884d674bc93d780d",
        "https://api.cohere.ai/compatibility/v1?beta=1",
        "a-skeleton-in-sk-format",
        None,
    ],
)
def test_what_is_no_key_passes(value: object) -> None:
    assert key_breaches({"max_tokens": 3, "system": value, "tokenizer_path": value}) == []


def test_a_key_of_any_shape_is_taken_out_if_the_environment_holds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse")
    monkeypatch.setenv("SOME_TOKEN", "short")
    assert redact("not correct horse, but short") == f"not {REDACTED}, but short"
    # A model's text is data: only what the environment holds is taken out of it.
    assert redact_known(f"{PLANTED[0]} correct horse") == f"{PLANTED[0]} {REDACTED}"


def test_logs_are_redacted_with_their_tracebacks(caplog: pytest.LogCaptureFixture) -> None:
    caplog.handler.setFormatter(Format("%(message)s"))
    try:
        raise RuntimeError(f"the header was {PLANTED[0]}")
    except RuntimeError:
        logging.getLogger("nbbias").exception("failed with %s", PLANTED[1])
    assert "RuntimeError" in caplog.text
    assert PLANTED[0] not in caplog.text
    assert PLANTED[1] not in caplog.text


# --- everything a run leaves ------------------------------------------------------------------


@pytest.mark.slow
def test_a_planted_key_is_found_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    """Run to the end and run into failures, with a server that repeats the key it is given."""
    home, wrong, said = tmp_path / "home", "sk-wrong-key-9876543210abcdef", ""
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home))
    suite = prompts().assign(prompt_id=[f"p{i}" for i in range(18)])
    faults = ["echo", "rejected", "prompt_filter", "500"] * 5
    asked = [f"[fault:{f}] {text}" for f, text in zip(faults, suite["prompt"], strict=False)]
    with FakeOpenAI() as server:

        def nbbias(*arguments: object, key: str) -> int:
            nonlocal said
            monkeypatch.setenv("FAKE_API_KEY", key)
            done = command("--verbose", *arguments)
            said += done.stdout + done.stderr
            return done.returncode

        paths = {}
        for name, table in {"good": suite, "faulty": suite.assign(prompt=asked)}.items():
            (tmp_path / name).mkdir()
            path = write_params(tmp_path / name, server.url, table, max_retries=1)
            values = parse_yaml(path.read_text())
            values["answers_path"] = values["generate"]["export_path"]
            path.write_text(as_yaml(values))
            paths[name] = path
        out = ("--out", str(tmp_path / "runs"))
        assert nbbias("run", paths["good"], *out, key=wrong) == 1
        assert nbbias("run", paths["good"], *out, key=KEY) == 0
        assert nbbias("generate", paths["faulty"], key=KEY) == 1
        refused = tmp_path / "refused.yaml"
        values["generate"]["base_url"] = f"https://user:{KEY}@host.org/v1"
        refused.write_text(as_yaml(values | {"api_key": KEY, "seed": KEY}))
        assert nbbias("generate", refused, key=KEY) == 2
        refused.unlink()
    found = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    # The run went all the way, and the server did repeat the keys: there is something to find.
    names = {path.name for path in found}
    assert {"index.html", "notebook.ipynb", "manifest.json", "answers.sqlite"} <= names
    assert server.sent["wrong_key"] and server.sent["echo"] and server.sent["rejected"]
    answers = pd.read_parquet(tmp_path / "faulty/answers.parquet")
    assert answers["text"].str.contains(REDACTED, regex=False).any()
    assert answers["error"].str.contains(REDACTED, regex=False).any()
    assert REDACTED in said
    tables = pd.concat([pd.read_parquet(p) for p in found if p.suffix == ".parquet"]).astype("str")
    for key in (KEY, wrong):
        assert [path.name for path, content in found.items() if key.encode() in content] == []
        assert key not in said
        assert not tables.apply(lambda c, key=key: c.str.contains(key)).any(axis=None)
