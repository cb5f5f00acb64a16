"""A study reads the answers that it is going to have before one is paid for."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias.running import generation, plan as run_plan
from nbbias.tables import NbbiasError
from tests.asking.build import make_prompts, write_params
from tests.asking.conftest import NBBias
from tests.fake_openai import FakeOpenAI

EXPORT = {"export_path": "a.parquet", "store_path": "a.sqlite"}


def write_news(
    folder: Path, url: str, *, headlines: pd.DataFrame, originals: pd.DataFrame, **further: Any
) -> Path:
    """Ask headlines for a study of news whose other side is there."""
    headlines.assign(headline="Rain").to_csv(folder / "h.csv", index=False)
    originals.assign(text="She met her son. He met her.").to_csv(folder / "o.csv", index=False)
    files = {"originals_path": "o.csv", "generations_path": "a.parquet"}
    block = {"study": "news_bias", "parameters": files, **EXPORT, **further}
    return write_params(folder, url, prompts="news", prompts_path="h.csv", **block)


def ids(*names: object, **keys: str) -> pd.DataFrame:
    return pd.DataFrame({**keys, "article_id": list(names)})


@pytest.mark.parametrize(
    ("verb", "headlines", "originals", "reason"),
    [
        (["generate", "--dry-run"], ids(1, 2, outlet="nyt"), ids(1, 2, source="NYT"), "NYT"),
        (["run"], ids("a-0001"), ids("a-001"), "a-001"),
    ],
)
def test_answers_that_no_original_has_are_not_asked_for(
    tmp_path: Path,
    server: FakeOpenAI,
    nbbias: NBBias,
    verb: list[str],
    headlines: pd.DataFrame,
    originals: pd.DataFrame,
    reason: str,
) -> None:
    path = write_news(tmp_path, server.url, headlines=headlines, originals=originals)
    code, printed = nbbias(*verb, path)
    assert code == 2, printed
    assert "nothing is asked, for its answers could not be used" in printed
    assert "originals and generations: share" in printed and reason in printed
    assert not server.sent
    assert not (tmp_path / "a.sqlite").exists()


def test_answers_that_some_originals_have_are_asked_for_with_a_warning(
    tmp_path: Path, server: FakeOpenAI, nbbias: NBBias
) -> None:
    originals = ids("2.0", 3, 4)  # an id is the same as a text or a number
    path = write_news(tmp_path, server.url, headlines=ids(1, 2, 3), originals=originals)
    for options in (["--dry-run"], []):
        code, printed = nbbias("generate", path, *options)
        assert (code, "1 of 3 answers have no original" in printed) == (0, True), printed
    assert sum(server.billed.values()) == 3
    run_plan.plan([path])  # with the answers that are there now


def test_what_cogs_is_asked_is_in_its_suite(tmp_path: Path) -> None:
    given = {"answers_path": "a.parquet", "parts": ["rbs"], "axes": ["race"], "claims": []}
    block = {"study": "cogs", "prompts": "cogs", "prompts_path": "sample", **EXPORT}
    path = write_params(tmp_path, "", parameters=given, **block)
    with pytest.raises(NbbiasError, match=r"a\.parquet: 1800 answers are to no prompt"):
        generation.plan_file(path)  # five of eight identities are of other axes
    given["axes"] = ["race", "gender", "orientation"]
    assert not generation.plan_file(write_params(tmp_path, "", parameters=given, **block)).notes


# --- the file that asking writes --------------------------------------------------------------


def test_paid_answers_that_are_only_in_the_exported_table_are_not_written_over(
    tmp_path: Path, server: FakeOpenAI, nbbias: NBBias
) -> None:
    def generate(n: int) -> tuple[int, str]:
        return nbbias("generate", write_params(tmp_path, server.url, make_prompts(n=n)))

    assert generate(4)[0] == 0
    (tmp_path / "answers.sqlite").unlink()
    before = (tmp_path / "answers.parquet").read_bytes()
    code, printed = generate(3)
    assert code == 2
    assert "holds 1 answers that are neither of this plan nor in" in printed
    assert (tmp_path / "answers.parquet").read_bytes() == before
    assert sum(server.billed.values()) == 4
    # With the store that has them, or as a part of the plan, nothing would be lost.
    assert generate(5)[0] == 0
    assert generate(3)[0] == 0
    assert sum(server.billed.values()) == 5
