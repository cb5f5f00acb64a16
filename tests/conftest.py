"""What all tests share."""

import gc
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]

# What a test measures is measured then and there.
os.environ["NBBIAS_CACHE"] = "off"
# Each worker has a core: threads of its own would only take turns with the other's.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A busy machine is no fault of a test.
settings.register_profile("free", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("seeded", settings.get_profile("free"), derandomize=True, max_examples=25)


GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --golden` rewrites the golden texts that the chosen tests compare with."""
    parser.addoption("--golden", action="store_true", help="rewrite tests/golden/*.txt")


def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples each time, but in `make test-all` and where a seed is given."""
    free = config.getoption("markexpr") == "" or config.getoption("hypothesis_seed", None)
    settings.load_profile("free" if free else "seeded")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage while modules are loaded."""
    gc.disable()
    collected = yield
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by mark
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whatever asks for the research data."""
    for item in items:
        if "data_folder" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


@pytest.fixture(scope="module", autouse=True)
def _quick_corrections() -> Iterator[None]:
    """Freeze what is loaded: multipletests of statsmodels collects all garbage at every call."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may write where a run writes, or depend on where it was started."""
    monkeypatch.delenv("NBBIAS_OUT", raising=False)
    monkeypatch.chdir(ROOT)


Golden = Callable[[str, str | Iterable[str] | Mapping[str, Iterable[str]]], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compare what people read with `tests/golden/<name>.txt`; a change is reviewed as a diff.

    A mapping is written as sections, each with its name as heading.
    """

    def compare(name: str, text: str | Iterable[str] | Mapping[str, Iterable[str]]) -> None:
        if isinstance(text, Mapping):
            text = [line for heading, lines in text.items() for line in (f"## {heading}", *lines)]
        lines = text if isinstance(text, str) else "\n".join(text)
        path = GOLDEN / f"{name}.txt"
        if request.config.getoption("--golden"):
            path.write_text(lines.rstrip() + "\n", encoding="utf-8")
        assert path.is_file(), f"no {path.name}: write it by pytest --golden"
        assert path.read_text(encoding="utf-8").rstrip() == lines.rstrip()

    return compare


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """The command line in this process, with all that it and what it starts say."""
    from nbbias import cli

    def run_it(*arguments: object) -> subprocess.CompletedProcess[str]:
        given = ["nbbias", *map(str, arguments)]
        capfd.readouterr()
        with monkeypatch.context() as here:
            here.setattr(sys, "argv", given)
            here.setenv("PYTHONSAFEPATH", "1")  # which it sets; here for as long as it runs
            here.setattr(logging.root, "handlers", [])  # its log goes to stderr, not to pytest
            with pytest.raises(SystemExit) as end:
                cli.main()
        return subprocess.CompletedProcess(given, int(end.value.code or 0), *capfd.readouterr())

    return run_it


@pytest.fixture
def style() -> Iterator[None]:
    """Figures in the project's style, without a screen; nothing of them stays."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    from nbbias.reading import figures

    with mpl.rc_context():
        mpl.use("Agg")
        figures.use_style()
        yield
    plt.close("all")


@pytest.fixture
def data_folder() -> Path:
    """The shared research data; a test that needs it is skipped without it, but fails in CI."""
    named = os.environ.get("NBBIAS_DATA")
    if named and Path(named).is_dir():
        return Path(named)
    message = "set NBBIAS_DATA to the folder of the research data"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
