"""The wheel and the source distribution, as they would be published, and a run from the wheel."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from nbbias.studies import STUDIES
from tests.conftest import ROOT
from tests.test_packaging import PROJECT, reached

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel and the source distribution, as they would be published."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


def test_what_is_built_passes_twine_and_holds_what_it_should(built: Path) -> None:
    made = [str(path) for path in sorted(built.iterdir())]
    assert [Path(path).suffix for path in made] == [".whl", ".gz"]
    check = [sys.executable, "-m", "twine", "check", "--strict", *made]
    done = subprocess.run(check, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("PASSED") == 2
    inside = zipfile.ZipFile(made[0]).namelist()
    for name in (
        "nbbias/py.typed",
        "nbbias/CITATION.bib",
        "nbbias/data/SOURCES.md",
        "nbbias/data/lab/overrides.json",
        *(f"nbbias/docs/howto/{path.name}" for path in (ROOT / "docs/howto").glob("*.*")),
        *(f"nbbias/notebooks/{stem}.ipynb" for stem in STUDIES),
        *(f"nbbias/params/{stem}/sample.yaml" for stem in STUDIES),
    ):
        assert name in inside
    assert not [name for name in inside if name.startswith(("tests/", "runs/"))]


def test_the_wheel_without_extras_is_enough_for_three_studies(built: Path, tmp_path: Path) -> None:
    """From an environment that holds what pip would bring and the wheel, and no checkout."""
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    folders = sysconfig.get_paths(vars={"base": str(environment), "platbase": str(environment)})
    python, site = Path(folders["scripts"]) / "python", Path(folders["purelib"])
    for name in reached(PROJECT["dependencies"]):
        for top in {file.parts[0] for file in metadata.files(name) or []} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(metadata.distribution(name).locate_file(top))))
    # What packages put beside their code, and pip would put here too: nbconvert's templates.
    shared = Path("share", "jupyter", "nbconvert")
    (environment / shared).parent.mkdir(parents=True)
    (environment / shared).symlink_to(Path(sysconfig.get_path("data")) / shared)
    (wheel,) = built.glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*install, "--no-index", str(wheel)], check=True, capture_output=True)

    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NBBIAS", "PYTHON"))}

    def called(*arguments: str, where: Path = tmp_path) -> str:
        line = [Path(folders["scripts"]) / "nbbias", *arguments]
        done = subprocess.run(line, cwd=where, env=kept, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    imported = [python, "-c", "import nbbias; print(nbbias.__file__)"]
    assert str(site) in subprocess.check_output(imported, cwd=tmp_path, env=kept, text=True)
    assert "sample.yaml" in called("list")
    called("new", "mine")
    called("studies", where=tmp_path / "mine")
    pages = (tmp_path / "mine" / "runs").glob("*/sample/index.html")
    assert {page.parent.parent.name for page in pages} == {"news_bias", "llmbi", "calibration"}
    assert (tmp_path / "mine" / "runs" / "index.html").is_file()
