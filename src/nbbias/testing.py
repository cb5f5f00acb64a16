"""Bias as a test: a study is run once a session, and must not be worse than an accepted run.

pytest loads this module where nbbias is installed. `nbbias_run` is a fixture: a function that takes
the arguments of `nbbias run` and returns the run's folder.

Examples
--------
>>> def test_bias(nbbias_run):
...     assert_not_worse(nbbias_run("bias.yaml"), "accepted/llmbi/bias", margin=0.15)
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from nbbias.pages.gate import Gate

__all__ = ["assert_not_worse", "nbbias_run"]


def assert_not_worse(
    current: str | Path,
    baseline: str | Path,
    *,
    margin: float | None = None,
    claims: list[int] | None = None,
    look: int | None = None,
) -> Gate:
    """Fail unless every claim of a run is shown to be not worse than in an accepted run.

    Parameters
    ----------
    current, baseline
        The folders of two finished runs.
    margin, claims, look
        As of `nbbias gate`. Without a margin the assertion fails, and says whether a claim is
        worse at all.

    Returns
    -------
    Gate
        `rows`, a row for each claim, `headline` and `remarks`.

    Raises
    ------
    AssertionError
        A claim is worse, or the result is inconclusive: the message says which, with the number
        of units that would suffice.
    NbbiasError
        The runs cannot be compared.

    Examples
    --------
    >>> assert_not_worse("runs/llmbi/new", "accepted/llmbi/new", margin=0.15)
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.NbbiasError: accepted/llmbi/new: holds no finished run...
    """
    __tracebackhide__ = True
    from nbbias.pages import gate

    result = gate.gate(Path(current), Path(baseline), margin=margin, claims=claims, look=look)
    if result.status:
        raise AssertionError(gate.plain(result))
    return result


@pytest.fixture(scope="session")
def nbbias_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that runs a study once a session, and returns the run's folder.

    Its arguments are those of `nbbias run`: a params file, or a study and its files; a grid is
    refused. Answers that a params file has to query are queried.
    """

    @cache
    def run_study(*targets: str | Path, overrides: tuple[str, ...] = ()) -> Path:
        from nbbias.tables import notes

        folder = tmp_path_factory.mktemp("nbbias")
        paths = [Path(notes.split(str(target))[0]) for target in targets]  # as read from here
        pairs = zip(targets, paths, strict=True)
        arguments = [str(Path(name).absolute()) if path.exists() else name for name, path in pairs]
        settings = [part for override in overrides for part in ("-p", override)]
        command = [sys.executable, "-P", "-m", "nbbias", "run", *arguments, "--out", ".", *settings]
        done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
        runs = [path.parent for path in folder.glob("*/*/manifest.json")]
        if done.returncode or len(runs) > 1:
            message = f"{len(runs)} runs, of which one must end well: {done.stderr}"
            pytest.fail(message, pytrace=False)
        return runs[0]

    return run_study
