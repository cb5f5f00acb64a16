"""Tables in place of files: held to what files are held to, and named by what they are."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias import llmbi, params
from nbbias.llmbi.params import Llmbi
from nbbias.tables import ContractError, NbbiasError, ParameterError, data_path

ANSWERS = llmbi.scoring.read_answers("sample")


def test_a_table_is_read_as_its_file_would_be() -> None:
    with params.validate_inputs(Llmbi, {}, answers_path=ANSWERS) as chosen:
        path = Path(chosen.answers_path)
        read = llmbi.scoring.read_answers(chosen.answers_path)
    assert not path.exists()
    pd.testing.assert_frame_equal(read, ANSWERS)


def test_a_file_stays_a_file_and_nothing_stays_the_default() -> None:
    file = data_path("sample/llmbi_answers.jsonl")
    with params.validate_inputs(Llmbi, {}, answers_path=file, neutral_path=None) as chosen:
        assert (chosen.answers_path, chosen.neutral_path) == (str(file), "sample")


def test_what_is_refused_is_named_by_the_table() -> None:
    with (
        pytest.raises(NbbiasError) as caught,
        params.validate_inputs(Llmbi, {}, answers_path=ANSWERS.drop(columns="prompt")) as chosen,
    ):
        llmbi.scoring.read_answers(chosen.answers_path)
    assert str(caught.value).startswith("answers: ")
    assert "parquet" not in str(caught.value) and "/" not in caught.value.where


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        (pd.DataFrame({"a": [1, "x"]}), ContractError, "values of several kinds"),
        ([1, 2], ParameterError, "is list; give a table or the path of a file"),
        ("nowhere.csv", ParameterError, "no such file"),
    ],
)
def test_what_is_no_table_is_refused(given: object, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told), params.validate_inputs(Llmbi, {}, answers_path=given):  # type: ignore[arg-type]
        pass


def test_parameters_are_held_to_the_study_s_model() -> None:
    with pytest.raises(ParameterError, match="lambda_factor"):
        llmbi.measure(lamda_factor=1.0)
    with pytest.raises(ParameterError, match="given already"):
        llmbi.measure(ANSWERS, answers_path="sample")
