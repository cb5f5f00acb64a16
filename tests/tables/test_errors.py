"""A mistake of a user's is a message that a person can read: what, where, and what to do."""

import pickle

import pytest

from nbbias import tables


def test_a_message_shows_twenty_breaches_at_most_and_counts_the_rest() -> None:
    error = tables.DataError("mine.csv", ["a" * 200 + "b" * 900 + "c" * 200])
    assert error.breaches == ["a" * 200 + " … " + "c" * 200]
    error = tables.DataError("mine.csv", [f"breach {n}" for n in range(1, 31)])
    first, *lines, last = str(error).split("\n")
    assert first == "mine.csv: 30 problems"
    assert lines == [f"  - breach {n}" for n in range(1, 21)]
    assert last == "  … and 10 more"


def test_an_error_of_a_worker_arrives_whole() -> None:
    error = pickle.loads(pickle.dumps(tables.InputsError("mine.csv", ["one", "two"])))
    assert type(error) is tables.InputsError
    assert (error.where, error.breaches) == ("mine.csv", ["one", "two"])


def test_all_that_was_refused_is_raised_as_one_error() -> None:
    problems: list[tables.NbbiasError] = []
    assert tables.attempt(problems, int, "5") == 5
    assert tables.attempt(problems, tables.resolve, "$NOWHERE_AT_ALL/a.csv") is None
    with pytest.raises(tables.DataError, match="set the environment variable NOWHERE_AT_ALL"):
        tables.refuse(problems)  # one problem is raised as it is
    problems.append(tables.ContractError("b.csv", ["one", "two"]))
    with pytest.raises(tables.InputsError) as caught:
        tables.refuse(problems, where="nothing was run")
    assert isinstance(caught.value, tables.DataError)
    assert isinstance(caught.value, tables.ParameterError)
    assert caught.value.where == "nothing was run"
    assert caught.value.breaches[1:] == ["b.csv: one", "b.csv: two"]
    assert caught.value.located() == caught.value.breaches
    tables.refuse([])


@pytest.mark.parametrize(
    ("name", "choices", "message"),
    [
        ("Modle", ["text", "model"], "did you mean model?"),
        ("zzz", ["b", "a", "b"], "known: b, a"),
        ("zzz", [], "there is none"),
        ("zzz", [f"n{n}" for n in range(40)], ", … (40)"),
    ],
)
def test_an_unknown_name_comes_with_a_close_one(
    name: str, choices: list[str], message: str
) -> None:
    assert tables.closest_match(name, choices).endswith(message)
