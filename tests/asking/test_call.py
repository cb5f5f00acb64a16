"""Every way in which a server can answer or fail, on a real one on loopback."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias.asking import call, plan as generate, recorded, store
from nbbias.asking.loop import Tally
from nbbias.params import REDACTED
from nbbias.running import generation
from nbbias.tables import NbbiasError
from tests.asking.test_loop_killed import MODEL, params, suite
from tests.fake_openai import KEY, FakeOpenAI

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

QUICK = {"first_wait": 0.01, "max_retries": 2, "attempt_timeout": 10}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI(hang=2.0) as one:
        yield one


def ask_of(
    folder: Path, server: FakeOpenAI, prompts: list[str] | int, *, again: bool = False, **block: Any
) -> tuple[Tally, pd.DataFrame]:
    """Ask some prompts; return the tally and the exported table, by prompt."""
    if isinstance(prompts, int):
        table = suite(prompts)
    else:
        ids = [f"p{i}" for i in range(len(prompts))]
        table = pd.DataFrame({"prompt_id": ids, "prompt": prompts})
    plan = generation.plan_file(params(folder, server.url, table, **QUICK | block))
    tally = generate.ask(plan, again=again)
    return tally, recorded.table(plan).set_index("prompt")


def row_of(folder: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(folder / "answers.sqlite")) as connection:
        connection.row_factory = sqlite3.Row
        (row,) = connection.execute("SELECT * FROM answers").fetchall()
    return dict(row)


# --- answers ----------------------------------------------------------------------------------


def test_half_a_character_of_an_answer_is_a_sign_that_can_be_kept() -> None:
    from inspect_ai.model import ModelOutput

    said = call.read(ModelOutput.from_content("m", "One\ud800 \ud83d\ude00"), 0.1).text
    assert said == "One\ufffd \U0001f600"


def test_an_answer_is_recorded_with_its_tokens_and_cost(tmp_path: Path, server: FakeOpenAI) -> None:
    tally, table = ask_of(tmp_path, server, ["Say something short."])
    # Three words in; "Answer 1 to: Say something short." is six out; 1 and 2 per million.
    assert (tally.answered, tally.input_tokens, tally.output_tokens) == (1, 3, 6)
    assert tally.cost == pytest.approx((3 * 1 + 6 * 2) / 1e6)
    row = table.iloc[0]
    assert row["text"] == "Answer 1 to: Say something short."
    assert (row["stop_reason"], row["refusal"]) == ("stop", "")
    assert row_of(tmp_path)["attempts"] == 1


def test_an_empty_answer_is_an_answer(tmp_path: Path, server: FakeOpenAI) -> None:
    tally, table = ask_of(tmp_path, server, ["[fault:empty]"])
    assert (tally.answered, tally.failed) == (1, 0)
    assert table["text"].tolist() == [""]
    assert ask_of(tmp_path, server, ["[fault:empty]"])[0].total == 0


@pytest.mark.parametrize(
    ("fault", "refusal", "text"),
    [
        ("content_filter", "content_filter", "I would rather"),
        ("prompt_filter", "content_filter", ""),
        ("refusal", "provider_refusal", "I will not write that."),
    ],
)
def test_refusals_are_answers_that_are_counted_and_not_asked_again(
    tmp_path: Path, server: FakeOpenAI, fault: str, refusal: str, text: str
) -> None:
    tally, table = ask_of(tmp_path, server, [f"[fault:{fault}]", "fine"])
    assert (tally.answered, tally.refused, tally.failed, tally.rejected) == (2, 1, 0, 0)
    assert table["refusal"].tolist() == [refusal, ""]
    assert table["text"].iloc[0] == text
    assert ask_of(tmp_path, server, [f"[fault:{fault}]", "fine"])[0].total == 0
    assert server.sent[fault] == 1


@pytest.mark.parametrize(
    ("odd", "text", "stop"),
    [
        ("surrogate", "One \ufffd two", "stop"),
        ("null", "", "stop"),
        ("tool_calls", "", "tool_calls"),
        ("broken_tool_calls", "", "tool_calls"),
        ("unknown_stop", "One", "unknown"),
        ("huge", "x" * 10_000_000, "stop"),
        ("dear", "One", "stop"),
    ],
)
def test_odd_answers_are_answers(
    tmp_path: Path, server: FakeOpenAI, odd: str, text: str, stop: str
) -> None:
    tally, table = ask_of(tmp_path, server, [f"[fault:{odd}]", "fine"])
    assert (tally.answered, tally.failed, tally.stopped) == (2, 0, "")
    row = table.iloc[0]
    assert (row["text"], row["stop_reason"]) == (text, stop)
    # A count that cannot be one is none: the cost does not rest on it.
    assert pd.isna(row["input_tokens"]) == (odd != "huge")
    assert 0 <= tally.cost < 0.001


# --- temporary errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        *("429_bare", "500", "drop", "drop_unbilled", "truncated", "no_json", "no_choices", "hang"),
        *("invalid_utf8", "no_message", "number", "array", "json_null", "nothing", "words", "deep"),
        *("tokens", "drip", "error_200"),
    ],
)
def test_temporary_errors_are_tried_as_often_as_allowed_and_asked_again_later(
    tmp_path: Path, server: FakeOpenAI, fault: str
) -> None:
    patience = {"attempt_timeout": 1 if fault in {"hang", "drip"} else 10}
    tally, table = ask_of(tmp_path, server, [f"[fault:{fault}]"], **patience)
    assert (tally.answered, tally.failed, tally.retries) == (0, 1, 3)
    assert server.sent[fault] == 3
    assert table["text"].isna().all()
    assert table["error"].notna().all()
    row = row_of(tmp_path)
    assert (row["status"], row["attempts"]) == ("failed", 3)
    patience["max_retries"] = 0
    assert ask_of(tmp_path, server, [f"[fault:{fault}]"], **patience)[0].total == 1
    assert server.sent[fault] == 4


def test_a_body_that_never_ends_is_left_and_told(tmp_path: Path, server: FakeOpenAI) -> None:
    _, table = ask_of(tmp_path, server, ["[fault:bomb]"], max_retries=0)
    assert "longer than" in table["error"].iloc[0]


def test_a_long_wait_is_told_once(
    tmp_path: Path,
    server: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("nbbias.asking.call._LONG_WAIT", 0.5)
    monkeypatch.setattr("nbbias.asking.call._told_until", {})
    ask_of(tmp_path, server, ["[fault:429]"] * 3, max_retries=1)
    (told,) = [one for one in caplog.messages if "asks for patience" in one]
    assert "waiting 1 s" in told


def test_retry_after_is_waited_for(tmp_path: Path, server: FakeOpenAI) -> None:
    ask_of(tmp_path, server, ["[fault:429]"], max_retries=1)  # the header asks for one second
    (first, _), (second, _) = server.times
    assert 1.0 <= second - first < 3.0


def test_without_retry_after_the_wait_is_ours(tmp_path: Path, server: FakeOpenAI) -> None:
    ask_of(tmp_path, server, ["[fault:429_bare]"], max_retries=1)
    (first, _), (second, _) = server.times
    assert second - first < 0.9  # the first wait is at most .01 s; the rest is the machine's


def test_a_passing_fault_is_overcome(tmp_path: Path, server: FakeOpenAI) -> None:
    server.faults = {"500": 0.3, "drop_unbilled": 0.2}
    tally, table = ask_of(tmp_path, server, 30, max_retries=20)
    assert (tally.answered, tally.failed) == (30, 0)
    assert tally.retries == server.sent["500"] + server.sent["drop_unbilled"] > 0
    assert set(server.billed.values()) == {1}
    assert table["text"].notna().all()


# --- errors for good --------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["rejected", "too_long", "parts"])
def test_a_rejected_prompt_is_recorded_and_asked_again_only_when_told(
    tmp_path: Path, server: FakeOpenAI, fault: str
) -> None:
    prompts = [f"[fault:{fault}]", "fine"]
    tally, table = ask_of(tmp_path, server, prompts)
    assert (tally.answered, tally.rejected, tally.retries) == (1, 1, 0)
    assert table["text"].isna().tolist() == [True, False]
    told = {"rejected": "malformed", "too_long": "tokens", "parts": "as a list"}
    assert told[fault] in table["error"].iloc[0]
    assert ask_of(tmp_path, server, prompts)[0].total == 0
    assert ask_of(tmp_path, server, prompts, again=True)[0].total == 1
    assert server.sent[fault] == 2


@pytest.mark.parametrize("fault", ["no_credit", "no_model", "no_quota_200"])
def test_what_is_no_prompts_fault_stops_at_once_and_charges_none(
    tmp_path: Path, server: FakeOpenAI, fault: str
) -> None:
    tally, table = ask_of(tmp_path, server, [f"[fault:{fault}] {i}" for i in range(50)])
    assert tally.stopped
    assert (tally.answered, tally.rejected) == (0, 0)
    assert sum(server.sent.values()) <= 8  # those in flight
    assert set(table["error"]) == {"not asked yet"}


def test_a_wrong_key_stops_at_once_and_is_not_repeated(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = "sk-wrong-key-9876543210abcdef"
    monkeypatch.setenv("FAKE_API_KEY", wrong)
    tally, _ = ask_of(tmp_path, server, 50)
    assert "401" in tally.stopped
    assert server.sent["wrong_key"] <= 8
    assert wrong not in tally.stopped + str(tally.errors)
    assert REDACTED in tally.stopped


def test_a_missing_key_is_told_before_anything_is_asked(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAKE_API_KEY")
    with pytest.raises(NbbiasError, match="FAKE_API_KEY"):
        ask_of(tmp_path, server, 3)
    assert not server.sent


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_nothing_is_sent_on_to_another_address(
    tmp_path: Path, server: FakeOpenAI, status: int
) -> None:
    """Neither prompts nor keys; and what is said there is nobody's answer."""
    with FakeOpenAI() as other:
        server.elsewhere = other.url.replace("127.0.0.1", "localhost")
        tally, table = ask_of(tmp_path, server, [f"[fault:redirect_{status}]"] * 20)
        assert not other.headers
    assert f"{status}" in tally.stopped and "another address" in tally.stopped
    assert len(server.headers) <= 8  # those in flight
    assert set(table["error"]) == {"not asked yet"}
    assert KEY not in tally.stopped + str(tally.errors)


def test_an_error_that_holds_half_a_character_and_a_key_is_recorded_without_them(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    tally, table = ask_of(tmp_path, server, ["[fault:surrogate_error]", "fine"])
    assert (tally.answered, tally.rejected + tally.failed) == (1, 1)
    assert table["error"].iloc[0]
    assert KEY not in str(call.Failure(f"no \ud800 of Bearer {KEY}", "rejected"))
    assert "\ufffd" in str(call.Failure("no \ud800", "rejected"))
    assert KEY.encode() not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_when_everything_is_rejected_the_fault_is_not_the_prompts(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    tally, _ = ask_of(tmp_path, server, [f"[fault:rejected] {i}" for i in range(200)])
    assert "rejected" in tally.stopped
    assert 20 <= server.sent["rejected"] <= 40


def test_a_server_that_is_gone_ends_it_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI() as server:
        assert ask_of(tmp_path, server, 5)[0].answered == 5
    tally, table = ask_of(tmp_path, server, 200)
    assert "no answer" in tally.stopped
    assert (tally.answered, tally.rejected) == (0, 0)
    assert table["text"].notna().sum() == 5
    assert tally.failed <= 16


# --- how much at a time -----------------------------------------------------------------------


def test_calls_are_made_at_once_but_no_more_than_allowed(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    server.delay = 0.05
    ask_of(tmp_path, server, 40, concurrency=5)
    assert server.most_at_once == 5


def test_the_budget_is_not_passed(tmp_path: Path, server: FakeOpenAI) -> None:
    # A call costs at most 4 tokens in (16 characters) and 50 out at 1000 a million: .054.
    prices = {MODEL: {"input": 1000.0, "output": 1000.0}}
    tally, _ = ask_of(tmp_path, server, 100, prices=prices, max_cost=0.2)
    assert 0 < tally.cost <= 0.2
    assert "max_cost" in tally.stopped
    assert tally.answered < 100


# --- what is a new question -------------------------------------------------------------------


def test_replicates_are_calls_of_their_own(tmp_path: Path, server: FakeOpenAI) -> None:
    _, table = ask_of(tmp_path, server, ["Once more."], replicates=2)
    assert server.billed["Once more."] == 2
    assert sorted(table["text"]) == [f"Answer {n} to: Once more." for n in (1, 2)]
    assert table["sample"].tolist() == [1, 2]


def test_the_same_words_under_two_ids_are_two_calls(tmp_path: Path, server: FakeOpenAI) -> None:
    _, table = ask_of(tmp_path, server, ["Twice.", "Twice."])
    assert server.billed["Twice."] == 2
    assert table["text"].nunique() == 2


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.5},
        {"temperature": None},
        {"max_tokens": 51},
        {"top_p": 0.9},
        {"models": ["openai-api/fake/large"], "prices": {}},
        {"system": "Be brief."},
        {"template": "Please: {prompt}"},
    ],
)
def test_whatever_can_change_the_answer_is_a_new_question(
    tmp_path: Path, server: FakeOpenAI, change: dict[str, Any]
) -> None:
    ask_of(tmp_path, server, 2)
    assert ask_of(tmp_path, server, 2)[0].total == 0
    assert ask_of(tmp_path, server, 2, **change)[0].answered == 2


@pytest.mark.parametrize(
    "change", [{"concurrency": 2}, {"max_retries": 1}, {"prices": {}}, {"limit": 1}]
)
def test_what_cannot_change_it_is_not(
    tmp_path: Path, server: FakeOpenAI, change: dict[str, Any]
) -> None:
    ask_of(tmp_path, server, 2)
    assert ask_of(tmp_path, server, 2, **change)[0].total == 0


def test_a_pilot_is_part_of_the_study(tmp_path: Path, server: FakeOpenAI) -> None:
    assert ask_of(tmp_path, server, 30, limit=5)[0].answered == 5
    assert ask_of(tmp_path, server, 30, limit=12)[0].answered == 7
    assert ask_of(tmp_path, server, 30)[0].answered == 18


# --- the store gives out ----------------------------------------------------------------------


def test_a_full_disk_stops_it_and_paid_answers_are_rescued(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = store.connect

    def small(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
        """SQLite itself says that the disk is full, after a few pages more."""
        connection = opened(path, readonly=readonly)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        return connection

    monkeypatch.setattr(store, "connect", small)
    rescue = tmp_path / "elsewhere"
    rescue.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(rescue))
    long = [f"{i} " + "word " * 400 for i in range(60)]
    tally, table = ask_of(tmp_path, server, long)
    monkeypatch.setattr(store, "connect", opened)
    assert "the disk is full" in tally.stopped
    (file,) = tally.rescued
    assert tally.lost == 0
    # Every answer that was paid for is in the store or in the file of rescued ones.
    rescued = len(file.read_text().splitlines())
    assert rescued > 0
    assert table["text"].notna().sum() + rescued == sum(server.billed.values()) == tally.answered
    # With room again, they are taken in, and only the rest is asked.
    plan = generation.plan_file(tmp_path / "mine.yaml")
    counts = recorded.take_in(plan, file).set_index("what")["rows"]
    assert counts["filed"] == rescued
    assert generate.ask(plan).total == 60 - tally.answered
    assert set(server.billed.values()) == {1}


def test_two_at_once_share_the_work(tmp_path: Path, server: FakeOpenAI) -> None:
    """One process asks half of it while another, played by its claims, holds the rest."""
    plan = generation.plan_file(params(tmp_path, server.url, suite(10), **QUICK))
    with closing(store.connect(plan.store_path)) as connection:
        until = time.time() + 1.5
        other = [(key, "elsewhere:1:1.0", until) for key in plan.calls["key"][:4]]
        connection.executemany("INSERT INTO claims VALUES (?, ?, ?)", other)
        began = time.monotonic()
        tally = generate.ask(plan)
    # The other never answered: its claims ran out and were taken over, not before.
    assert tally.answered == 10
    assert time.monotonic() - began > 1.0
    late = [prompt for prompt, n in server.billed.items() if n == 1]
    assert len(late) == 10
