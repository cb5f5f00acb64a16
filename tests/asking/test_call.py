"""Every way in which a server can answer or fail, on a real one on loopback."""

import asyncio
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbbias.asking import call, loop
from nbbias.params import REDACTED
from tests.asking.build import MODEL, ask_prompts, read_rows
from tests.fake_openai import KEY, FakeOpenAI

# --- answers ----------------------------------------------------------------------------------


def test_an_answer_is_recorded_with_its_tokens_and_cost(tmp_path: Path, server: FakeOpenAI) -> None:
    tally, table = ask_prompts(tmp_path, server, "Say something short.")
    # Three words in; "Answer 1 to: Say something short." is six out; 1 and 2 per million.
    assert (tally.answered, tally.input_tokens, tally.output_tokens) == (1, 3, 6)
    assert tally.cost == pytest.approx((3 * 1 + 6 * 2) / 1e6)
    (answer,) = table.to_dict("records")
    assert answer["text"] == "Answer 1 to: Say something short."
    assert (answer["stop_reason"], answer["refusal"]) == ("stop", "")
    (row,) = read_rows(tmp_path)
    assert (row["attempts"], row["status"], row["base_url"]) == (1, "answered", server.url)
    assert row["messages"] == '[{"role": "user", "content": "Say something short."}]'
    assert row["parameters"] == '{"max_tokens": 50, "model_args": {}, "temperature": 1.0}'


@pytest.mark.parametrize(
    ("fault", "refusal", "text"),
    [
        ("content_filter", "content_filter", "I would rather"),
        ("prompt_filter", "content_filter", ""),
        ("refusal", "provider_refusal", "I will not write that."),
    ],
)
def test_refusals_and_empty_answers_are_answers_that_are_not_asked_again(
    tmp_path: Path, server: FakeOpenAI, fault: str, refusal: str, text: str
) -> None:
    prompts = [f"[fault:{fault}]", "fine"]
    tally, table = ask_prompts(tmp_path, server, *prompts)
    assert (tally.answered, tally.failed, tally.rejected) == (2, 0, 0)
    assert tally.refused == bool(refusal)
    assert table["refusal"].tolist() == [refusal, ""]
    assert table["text"].iloc[0] == text
    assert ask_prompts(tmp_path, server, *prompts)[0].total == 0
    assert server.sent[fault] == 1


# --- temporary errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", ["429_bare", "drop", "truncated", "no_choices", "hang", "error_200"]
)
def test_temporary_errors_are_tried_as_often_as_allowed_and_asked_again_later(
    tmp_path: Path, server: FakeOpenAI, fault: str
) -> None:
    limits = {"attempt_timeout": 1 if fault == "hang" else 10}
    tally, table = ask_prompts(tmp_path, server, f"[fault:{fault}]", max_retries=1, **limits)
    assert (tally.answered, tally.failed, tally.retries) == (0, 1, 1)
    assert server.sent[fault] == 2
    assert table["text"].isna().all()
    assert table["error"].notna().all()
    (row,) = read_rows(tmp_path)
    assert (row["status"], row["attempts"]) == ("failed", 2)
    if fault == "drop":  # what failed is asked again, whatever it was
        again, _ = ask_prompts(tmp_path, server, f"[fault:{fault}]", max_retries=0, **limits)
        assert (again.total, again.retries, server.sent[fault]) == (1, 0, 3)


def test_retry_after_is_waited_for_and_a_long_wait_announced(
    tmp_path: Path,
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("nbbias.asking.loop._LONG_WAIT", 0.5)
    prompts = [f"[fault:429] {i}" for i in range(3)]  # the header asks for one second
    ask_prompts(tmp_path, server, *prompts, max_retries=1)
    times = sorted(server.times)
    assert 0.99 <= times[3] - times[2] < 3.0  # two clocks
    assert sum("waiting 1 s before another attempt" in message for message in caplog.messages) == 3


# --- errors for good --------------------------------------------------------------------------


@pytest.mark.parametrize(("fault", "reason"), [("rejected", "malformed"), ("too_long", "tokens")])
def test_a_rejected_prompt_is_asked_again_only_on_demand(
    tmp_path: Path, server: FakeOpenAI, fault: str, reason: str
) -> None:
    prompts = [f"[fault:{fault}]", "fine"]
    tally, table = ask_prompts(tmp_path, server, *prompts)
    assert (tally.answered, tally.rejected, tally.retries) == (1, 1, 0)
    assert table["text"].isna().tolist() == [True, False]
    assert reason in table["error"].iloc[0]
    assert ask_prompts(tmp_path, server, *prompts)[0].total == 0
    assert ask_prompts(tmp_path, server, *prompts, again=True)[0].total == 1
    assert server.sent[fault] == 2


@pytest.mark.parametrize("fault", ["no_credit", "no_model", "redirect_307"])
def test_what_is_no_prompts_fault_stops_at_once_and_charges_none(
    tmp_path: Path, server: FakeOpenAI, fault: str
) -> None:
    """A redirect, too: neither prompts nor keys go there, and nothing there is an answer."""
    with FakeOpenAI() as other:
        server.elsewhere = other.url.replace("127.0.0.1", "localhost")
        prompts = [f"[fault:{fault}] {i}" for i in range(50)]
        tally, table = ask_prompts(tmp_path, server, *prompts)
        assert not other.sent
    assert tally.stopped
    assert ("another address" in tally.stopped) == fault.startswith("redirect")
    assert (tally.answered, tally.rejected) == (0, 0)
    assert sum(server.sent.values()) <= 8  # those in flight
    assert set(table["error"]) == {"not asked yet"}
    assert KEY not in tally.stopped + str(tally.errors)


def test_no_key_and_no_half_a_character_is_stored(tmp_path: Path, server: FakeOpenAI) -> None:
    prompts = ["[fault:surrogate_error]", "[fault:echo]", "fine"]
    tally, table = ask_prompts(tmp_path, server, *prompts)
    assert (tally.answered, tally.rejected + tally.failed) == (2, 1)
    assert table["error"].iloc[0]
    assert table["text"].iloc[1] == f"Your header was Bearer {REDACTED}"
    assert KEY not in str(call.Failure(f"no \ud800 of Bearer {KEY}", "rejected"))
    assert "\ufffd" in str(call.Failure("no \ud800", "rejected"))
    assert not [file for file in tmp_path.iterdir() if KEY.encode() in file.read_bytes()]


def test_when_everything_is_rejected_the_fault_is_not_the_prompts(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    tally, _ = ask_prompts(tmp_path, server, *(f"[fault:rejected] {i}" for i in range(200)))
    assert "20 calls in a row were rejected" in tally.stopped
    assert 20 <= server.sent["rejected"] <= 40


def test_a_server_that_is_gone_ends_it_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI() as server:
        assert ask_prompts(tmp_path, server, n=5)[0].answered == 5
    tally, table = ask_prompts(tmp_path, server, n=200)
    assert "calls in a row had no answer" in tally.stopped
    assert (tally.answered, tally.rejected) == (0, 0)
    assert table["text"].notna().sum() == 5
    assert tally.failed <= 16


# --- how much at a time -----------------------------------------------------------------------


def test_the_budget_is_not_passed(tmp_path: Path, server: FakeOpenAI) -> None:
    # A call costs at most 4 tokens in (16 characters) and 50 out at 1000 a million: .054.
    prices = {MODEL: {"input": 1000.0, "output": 1000.0}}
    tally, _ = ask_prompts(tmp_path, server, n=100, prices=prices, max_cost=0.2)
    assert 0 < tally.cost <= 0.2
    assert "max_cost" in tally.stopped
    assert tally.answered < 100
    # In flight at first: as many as could cost .2 in all.
    assert server.most_at_once <= 3


# --- what is a new question -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "answered"),
    [
        ({"temperature": None}, 2),
        ({"top_p": 0.9}, 2),
        ({"models": ["openai-api/fake/large"], "prices": {}}, 2),
        ({"system": "Be brief."}, 2),
        ({"concurrency": 2, "max_retries": 1, "prices": {}}, 0),
    ],
)
def test_what_can_change_an_answer_and_nothing_else_is_a_new_question(
    tmp_path: Path, server: FakeOpenAI, change: dict[str, Any], answered: int
) -> None:
    ask_prompts(tmp_path, server, n=2)
    assert ask_prompts(tmp_path, server, n=2, **change)[0].answered == answered
    body = server.bodies[-1]
    for name in {"max_tokens", "top_p"} & set(change):
        assert body[name] == change[name]
    assert body.get("temperature") == change.get("temperature", 1.0)
    if "system" in change:
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}


def test_a_body_that_never_ends_is_left(tmp_path: Path, server: FakeOpenAI) -> None:
    _, table = ask_prompts(tmp_path, server, "[fault:bomb]", max_retries=0)
    assert "longer than 16,000,000 bytes" in table["error"].iloc[0]


def test_waits_double_to_a_minute_heed_the_server_and_end_with_the_asking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: high - low)  # from 0
    block: Any = SimpleNamespace(first_wait=8.0)
    session = loop.Session(block, *[None] * 4)  # type: ignore[arg-type]

    def waits(server: float | None) -> list[float]:
        failure = call.Failure("busy", "temporary", server)
        return [session._choose_wait(failure, n, {"model": "m"}) for n in (1, 2, 3, 4, 9)]

    assert waits(None) == [8, 16, 32, 60, 60]
    assert waits(40.0) == [40, 40, 40, 60, 60] and waits(1e6) == [600] * 5

    async def stops() -> list[bool]:
        before = await session._stops_within(0.01)
        session.stop.set()
        return [before, await session._stops_within(60)]

    assert asyncio.run(stops()) == [False, True]
