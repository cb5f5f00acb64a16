"""A study reads the answers that it is going to have before one is paid for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from nbbias.asking import recorded
from nbbias.cogs import affinity, rbs, suite as cogs_suite
from nbbias.running import generation, plan as run_plan
from nbbias.tables import NbbiasError
from tests.asking.test_loop_killed import MODEL
from tests.conftest import Command
from tests.fake_openai import KEY, FakeOpenAI

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

#: Two sentences about people, so that there is something to measure.
TEXT = "She met her son at the harbour. He told his mother about the boat."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI(reply=lambda _: TEXT) as one:
        yield one


def write(folder: Path, url: str, *, study: str, block: dict[str, Any], **further: Any) -> Path:
    own = {
        "models": [MODEL],
        "base_url": url,
        "first_wait": 0.01,
        "max_retries": 1,
        "store_path": "a.sqlite",
        "export_path": "a.parquet",
    }
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"study": study, "generate": own | block, **further}))
    return path


def news(
    folder: Path, url: str, *, headlines: pd.DataFrame, originals: pd.DataFrame, **further: Any
) -> Path:
    """Ask headlines for a study of news whose other side is there."""
    headlines.assign(headline="Rain").to_csv(folder / "h.csv", index=False)
    originals.assign(text=TEXT).to_csv(folder / "o.csv", index=False)
    given = {"originals_path": "o.csv", "generations_path": "a.parquet", **further}
    block = {"prompts": "news", "prompts_path": "h.csv"}
    return write(folder, url, study="news_bias", block=block, **given)


def ids(*names: object, **keys: str) -> pd.DataFrame:
    return pd.DataFrame({**keys, "article_id": list(names)})


@pytest.fixture(params=["generate", "dry run", "run"])
def asking(request: pytest.FixtureRequest, command: Command, tmp_path: Path) -> Callable[..., Any]:
    """Each way in which a plan is laid out: its exit status, and all that it says."""
    ways = {
        "generate": ("generate",),
        "dry run": ("generate", "--dry-run"),
        "run": ("run", "--out", tmp_path / "runs"),
    }
    verb, *options = ways[request.param]

    def run_it(path: Path) -> tuple[int, str]:
        done = command(verb, path, *options)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    return run_it


@pytest.mark.parametrize(
    ("headlines", "originals", "told"),
    [
        (ids(1, 2, source="nyt"), ids(1, 2), "'all'"),
        (ids(1, 2), ids(1, 2, source="nyt"), "'nyt'"),
        (ids(1, 2, outlet="nyt"), ids(1, 2, source="NYT"), "'NYT'"),
        (ids("a-0001", "a-0002"), ids("a-001", "a-002"), "nearest: 'a-001' and 'a-0001'"),
    ],
)
def test_answers_that_no_original_has_are_not_asked_for(
    tmp_path: Path,
    server: FakeOpenAI,
    asking: Callable[..., tuple[int, str]],
    headlines: pd.DataFrame,
    originals: pd.DataFrame,
    told: str,
) -> None:
    path = news(tmp_path, server.url, headlines=headlines, originals=originals)
    code, said = asking(path)
    assert code == 2, said
    assert "nothing is asked, for its answers could not be used" in said
    assert "originals and generations: share" in said and told in said
    assert not server.sent
    assert not (tmp_path / "a.sqlite").exists()


def test_answers_that_some_originals_have_are_asked_for_with_a_warning(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    path = news(tmp_path, server.url, headlines=ids(1, 2, 3), originals=ids(2, 3, 4))
    for options in (["--dry-run"], []):
        done = command("generate", path, *options)
        said = " ".join((done.stdout + done.stderr).split())
        assert (done.returncode, "1 of 3 answers have no original" in said) == (0, True), said
    assert sum(server.billed.values()) == 3


def test_files_without_a_source_fit_each_other(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    path = news(tmp_path, server.url, headlines=ids(1, 2), originals=ids("1.0", "2"))
    done = command("generate", path)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "no original" not in said
    run_plan.plan([path])  # with the answers that are there now


def test_both_prompts_of_a_comparison_must_be_asked(tmp_path: Path, server: FakeOpenAI) -> None:
    path = news(tmp_path, server.url, headlines=ids(1, 2), originals=ids(1, 2))
    given = yaml.safe_load(path.read_text()) | {"study": "biased_prompts"}
    path.write_text(yaml.safe_dump(given))
    with pytest.raises(NbbiasError, match="biased_prompt: no answers to the prompt 'biased'"):
        generation.plan_file(path)
    given["generate"]["ways"] = ["neutral", "biased"]
    path.write_text(yaml.safe_dump(given))
    assert not generation.plan_file(path).notes


@pytest.mark.parametrize(
    ("columns", "row", "told"),
    [("prompt", "Why?", "add a column dimension"), ("prompt,dimension", "Why?,Gender", "")],
)
def test_prompts_of_llmbi_have_a_dimension(
    tmp_path: Path, columns: str, row: str, told: str
) -> None:
    (tmp_path / "p.csv").write_text(f"prompt_id,{columns}\na,{row}\n")
    block = {"prompts": "table", "prompts_path": "p.csv"}
    path = write(tmp_path, "", study="llmbi", block=block, answers_path="a.parquet")
    if not told:
        assert not generation.plan_file(path).notes
        return
    with pytest.raises(NbbiasError, match=told):
        generation.plan_file(path)


def test_what_cogs_is_asked_is_in_its_suite(tmp_path: Path) -> None:
    given = {"answers_path": "a.parquet", "parts": ["rbs"], "axes": ["race"], "claims": []}
    path = write(tmp_path, "", study="cogs", block={"prompts": "cogs"}, **given)
    with pytest.raises(NbbiasError, match=r"a\.parquet: 1800 answers are to no prompt"):
        generation.plan_file(path)  # five of eight identities are of other axes
    path = write(
        tmp_path,
        "",
        study="cogs",
        block={"prompts": "cogs"},
        **given | {"axes": ["race", "gender", "orientation"]},
    )
    assert not generation.plan_file(path).notes


def test_what_judges_of_cogs_are_asked_is_about_its_answers(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    suite = cogs_suite.load(axes=["orientation"], tasks=["haiku"], topics=["social"])
    texts = cogs_suite.prompts(suite).assign(model="m", text="A haiku.")
    texts.to_csv(tmp_path / "texts.csv", index=False)
    given = {
        "answers_path": "texts.csv",
        "judgements_path": "a.parquet",
        "parts": ["rbs", "abs"],
        "axes": ["orientation"],
        "claims": [],
    }
    answers = rbs.read_answers(tmp_path / "texts.csv", suite=suite)
    judged = affinity.evaluation_prompts(answers, suite)
    block = {"prompts": "table", "prompts_path": "judge_prompts.csv"}
    path = write(tmp_path, server.url, study="cogs", block=block, **given)
    judged.to_csv(tmp_path / "judge_prompts.csv", index=False)
    assert not generation.plan_file(path).notes
    assert command("generate", path).returncode == 0
    replies = affinity.read_judgements(tmp_path / "a.parquet", suite=suite, prompts=judged)
    assert len(replies) == len(judged)
    assert (set(replies["evaluator"]), set(replies["model"])) == ({MODEL}, {"m"})
    other = judged.assign(prompt_id=judged["prompt_id"].str.replace("/m/", "/other/"))
    other.to_csv(tmp_path / "judge_prompts.csv", index=False)
    with pytest.raises(NbbiasError, match="to no evaluation prompt"):
        generation.plan_file(path)


@pytest.mark.parametrize("fits", [True, False])
def test_people_have_labelled_what_biasalert_is_going_to_judge(tmp_path: Path, fits: bool) -> None:
    (tmp_path / "p.csv").write_text("prompt_id,prompt\na,Why?\nb,How?\n")
    named = f"{MODEL}/a/0" if fits else "gpt-4/a/0"
    (tmp_path / "labels.csv").write_text(f"text_id,biased\n{named},true\n")
    block = {"prompts": "table", "prompts_path": "p.csv"}
    given = {"answers_path": "a.parquet", "human_path": "labels.csv", "claims": []}
    path = write(tmp_path, "", study="biasalert", block=block, **given)
    if fits:
        assert not generation.plan_file(path).notes
        return
    with pytest.raises(NbbiasError, match="1 human labels are of texts that are not among"):
        generation.plan_file(path)


def test_answers_that_the_study_does_not_read_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, "", study="llmbi", block={"prompts": "llmbi"})
    (note,) = generation.plan_file(path).notes
    assert "llmbi will not read these answers" in note and "a.parquet" in note


# --- the file that asking writes --------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["a.parquet", "./x/../a.parquet", "{}/a.parquet", "link"])
@pytest.mark.parametrize("export", ["a.parquet", "{}/a.parquet", "folder/a.parquet"])
def test_asking_demands_no_file_that_it_writes(
    tmp_path: Path, server: FakeOpenAI, command: Command, spelling: str, export: str
) -> None:
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to("a.parquet")
    path = write(
        tmp_path,
        server.url,
        study="llmbi",
        block={"prompts": "llmbi", "limit": 2, "export_path": export.format(tmp_path)},
        answers_path=spelling.format(tmp_path),
    )
    done = command("generate", path, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "needed before asking" not in done.stdout
    assert "will not read" not in done.stdout
    if spelling == "link":  # no parameter with an ending of its own
        (tmp_path / "link").unlink()
        (tmp_path / "link").symlink_to("b.parquet")
        assert command("generate", path).returncode == 2


def test_an_export_goes_through_a_link_to_the_file_that_the_study_names(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "a.parquet").symlink_to("kept/answers.parquet")
    path = write(
        tmp_path,
        server.url,
        study="llmbi",
        block={"prompts": "llmbi", "limit": 2},
        answers_path="kept/answers.parquet",
    )
    assert command("generate", path).returncode == 0
    assert (tmp_path / "a.parquet").is_symlink()
    assert len(pd.read_parquet(tmp_path / "kept/answers.parquet")) == 2


def test_what_cannot_be_exported_is_not_asked_for(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    block = {"prompts": "llmbi", "limit": 2}
    for export, told in [("folder.parquet", "is a folder"), ("file/a.parquet", "is no folder")]:
        (tmp_path / "folder.parquet").mkdir(exist_ok=True)
        (tmp_path / "file").write_text("")
        path = write(tmp_path, server.url, study="llmbi", block=block | {"export_path": export})
        done = command("generate", path)
        assert done.returncode == 2
        assert told in " ".join(done.stderr.split())
    assert not server.sent


def test_paid_answers_that_are_only_in_the_exported_table_are_not_written_over(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    path = write(tmp_path, server.url, study="llmbi", block={"prompts": "llmbi", "limit": 4})
    assert command("generate", path).returncode == 0
    (tmp_path / "a.sqlite").unlink()
    before = (tmp_path / "a.parquet").read_bytes()
    smaller = write(tmp_path, server.url, study="llmbi", block={"prompts": "llmbi", "limit": 3})
    done = command("generate", smaller)
    assert done.returncode == 2
    assert "holds 1 answers that are neither of this plan nor in" in " ".join(done.stderr.split())
    assert (tmp_path / "a.parquet").read_bytes() == before
    assert sum(server.billed.values()) == 4
    # With the store that has them, or as a part of the plan, nothing would be lost.
    whole = write(tmp_path, server.url, study="llmbi", block={"prompts": "llmbi", "limit": 5})
    assert command("generate", whole).returncode == 0
    assert command("generate", smaller).returncode == 0
    assert sum(server.billed.values()) == 5


@pytest.mark.parametrize(
    "same",
    [
        ("store_path", "export_path"),
        ("export_path", "prompts_path"),
        ("store_path", "prompts_path"),
    ],
)
def test_no_two_files_of_a_block_are_one(tmp_path: Path, same: tuple[str, str]) -> None:
    (tmp_path / "p.parquet").write_bytes(b"")
    (tmp_path / "q.parquet").symlink_to("p.parquet")
    block = {"prompts": "table", "prompts_path": "p.parquet"}
    first, second = same
    path = write(
        tmp_path, "", study="llmbi", block=block | {first: "p.parquet", second: "q.parquet"}
    )
    with pytest.raises(NbbiasError, match=f"{first} and {second} are one file"):
        generation.plan_file(path)
    assert os.path.getsize(tmp_path / "p.parquet") == 0


def test_placeholders_are_the_table_that_answers_will_be(
    tmp_path: Path, server: FakeOpenAI, command: Command
) -> None:
    path = news(tmp_path, server.url, headlines=ids(1, 2), originals=ids(1, 2))
    before = recorded.placeholders(generation.plan_file(path))
    assert command("generate", path).returncode == 0
    after = pd.read_parquet(tmp_path / "a.parquet")
    said = ["text", "stop_reason", "refusal", "input_tokens", "output_tokens", "asked_at", "run"]
    pd.testing.assert_frame_equal(
        before.drop(columns=said), after.drop(columns=said), check_dtype=False
    )
    assert before["text"].is_unique and before["text"].notna().all()
