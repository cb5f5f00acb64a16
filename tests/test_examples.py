"""The examples in the docstrings of the shared rooms give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import nbbias.stats
import nbbias.tables

ROOMS = (nbbias.stats, nbbias.tables)
MODULES = [
    f"{room.__name__}.{one.name}" for room in ROOMS for one in pkgutil.iter_modules(room.__path__)
]


def examples(module: ModuleType) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder(exclude_empty=True).find(module)
    return [one for one in found if one.examples]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name: str) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in examples(importlib.import_module(name)):
        assert runner.run(example).failed == 0


@pytest.mark.parametrize("name", nbbias.stats.__all__)
def test_every_function_of_statistics_has_an_example(name: str) -> None:
    one = getattr(nbbias.stats, name)
    assert not callable(one) or ">>>" in (one.__doc__ or "")
