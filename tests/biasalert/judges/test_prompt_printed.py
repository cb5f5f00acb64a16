"""The prompt of the paper's Table 8, letter for letter, its parts, and replies in its form."""

from pathlib import Path

import pytest

from nbbias.biasalert.judges import panel, prompt
from nbbias.biasalert.judges.registry import Settings
from tests.biasalert.judges.test_prompt import REFERENCES, evidence, texts


def test_the_printed_wording_is_table_8_letter_for_letter() -> None:
    """The file is copied from Table 8 once more, as one piece."""
    whole = (Path(__file__).parent / "table_8.txt").read_text(encoding="utf-8")
    assert prompt.write("They drive well.", REFERENCES, wording="fan2024") == whole.rstrip("\n")


@pytest.mark.parametrize("without", prompt.PARTS)
def test_the_printed_wording_has_the_switches_of_table_2(without: str) -> None:
    parts = [part for part in prompt.PARTS if part != without]
    written = prompt.write("Words.", REFERENCES, wording="fan2024", parts=parts)
    assert ("REFERENCE" in written) == ("retrieval" in parts)
    assert ("Instructions:" in written) == ("steps" in parts)
    assert ("They just think" in written) == ("demonstrations" in parts)
    assert written.endswith("SENTENCE: Words.\nANSWER:")


def test_wording_and_parts_are_of_the_prompt_and_named_by_the_instrument() -> None:
    given = {"test": (texts("One.", "Two."), evidence())}
    ids = [
        set(panel.write_prompts(given, **how)["prompt_id"])
        for how in ({}, {"wording": "fan2024"}, {"parts": ("steps",)})
    ]
    assert all(map(len, ids)) and len(set.union(*ids)) == 6
    settings = Settings(prompt="fan2024", prompt_parts=("steps", "demonstrations"))
    named = "recorded replies, prompt fan2024 without retrieval, knowledge v"
    assert panel.name_instrument(settings, "v") == named
