"""The runner, on real kernels."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pandas as pd
import psutil
import pytest

from nbbias import studies as registry
from nbbias.pages import about, manifest
from nbbias.running import plan as run_plan, run
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import ROOT

SAMPLE = ROOT / "params/llmbi/sample.yaml"


def silent(*_: object) -> None:
    """Hear nothing."""


def nbbias(
    *arguments: str, cwd: Path = ROOT, **options: object
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "nbbias", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a notebook of one cell after the parameters, to be filled by the test."""
    (tmp_path / registry.MARK).touch()
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "params/llmbi").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(project: Path, *cells: str, name: str = "sample", yaml: str = "seed: 1\n") -> Path:
    """Write the project's notebook and a params file."""
    parameters = nbformat.v4.new_code_cell(registry.cell_source("llmbi"))
    parameters.metadata["tags"] = ["parameters"]
    code = [nbformat.v4.new_code_cell(source) for source in cells]
    notebook = nbformat.v4.new_notebook(cells=[parameters, *code])
    nbformat.write(notebook, project / "notebooks/llmbi.ipynb")
    path = project / f"params/llmbi/{name}.yaml"
    path.write_text(yaml)
    return path


def start(path: Path, out: Path) -> dict[str, str]:
    """Plan and run one params file."""
    return run.run(run_plan.plan([path], out=out), out=out, jobs=1, listen=silent)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert time.monotonic() < deadline, "the notebook never started"
        time.sleep(0.1)


# --- planning: everything is checked before a kernel starts ---------------------------------


def test_every_problem_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("study: llmbi\nlamda_factor: 1.0\n")
    second.write_text("study: llmbi\ndraws: 5\nanswers_path: nowhere.json\n")
    with pytest.raises(ParameterError) as caught:
        run_plan.plan([first, second, tmp_path / "c.yaml"], overrides=["penalty"])
    told = str(caught.value)
    for expected in ("lambda_factor?", "draws", "nowhere.json", "c.yaml", "name=value"):
        assert expected in told


def test_a_cache_that_others_can_write_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    with pytest.raises(NbbiasError, match=r"chmod go-w .*or name one by NBBIAS_CACHE"):
        run_plan.plan([SAMPLE])


def test_overrides_win_and_are_validated() -> None:
    (one,) = run_plan.plan([SAMPLE], overrides=["lambda_factor=1e-3"])
    assert one.parameters.lambda_factor == 0.001
    with pytest.raises(ParameterError, match="lambda_factor"):
        run_plan.plan([SAMPLE], overrides=["lambda_factor=much"])


def test_two_files_for_one_folder_are_refused(tmp_path: Path) -> None:
    twin = tmp_path / "sample.yaml"
    twin.write_text("study: llmbi\n")
    with pytest.raises(ParameterError, match="one folder"):
        run_plan.plan([SAMPLE, twin])


def test_the_folder_names_the_study_when_the_file_does_not(tmp_path: Path) -> None:
    (tmp_path / "llmbi").mkdir()
    path = tmp_path / "llmbi/mine.yaml"
    path.write_text("")
    (one,) = run_plan.plan([path])
    assert (one.stem, one.name) == ("llmbi", "mine")


def test_what_a_run_left_behind_repeats_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "other"):
        folder = tmp_path / "runs" / "llmbi" / name
        manifest.write(folder, {"study": "llmbi", "run": name}, status="ok")
        (folder / "params.yaml").write_text("study: llmbi\n")
    both = [tmp_path / "runs" / "llmbi" / name / "params.yaml" for name in ("mine", "other")]
    assert [one.label for one in run_plan.plan(both)] == ["llmbi/mine", "llmbi/other"]
    monkeypatch.chdir(both[0].parent)
    assert run_plan.plan([Path("params.yaml")])[0].label == "llmbi/mine"
    (both[0].parent / manifest.NAME).unlink()  # a file of that name alone is like any other
    assert run_plan.plan([Path("params.yaml")])[0].label == "llmbi/params"


@pytest.mark.slow
def test_the_command_on_a_page_repeats_a_run_with_changed_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert nbbias("new", str(tmp_path / "mine")).returncode == 0
    monkeypatch.chdir(tmp_path / "mine")
    own = Path("own.yaml")
    own.write_text("study: llmbi\n")
    plan = run_plan.plan([own], overrides=["draws=200"])
    name = "own-draws=200"
    assert run.run(plan, out=Path("runs"), jobs=1, listen=silent) == {f"llmbi/{name}": "ok"}
    folder = Path("runs/llmbi") / name

    def kept() -> dict[str, bytes]:
        # The page and the notebook say which parameters were given: now all of them.
        names = ("params.yaml", "finding.json", "tables/*", "figures/*")
        return {str(path): path.read_bytes() for name in names for path in folder.glob(name)}

    first = kept()
    assert {str(folder / "params.yaml"), str(folder / "tables/estimates.csv")} <= set(first)
    told = about.command(folder)
    assert told is not None
    assert told in (folder / "index.html").read_text()
    own.unlink()
    (folder / "tables/estimates.csv").unlink()
    (_, _, path) = shlex.split(told)
    (again,) = run_plan.plan([Path(path)])
    assert again.parameters.draws == 200
    assert run.run([again], out=Path("runs"), jobs=1, listen=silent) == {f"llmbi/{name}": "ok"}
    assert kept() == first


# --- running --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.ci
def test_a_run_leaves_all_that_it_promises(project: Path) -> None:
    path = fill(
        project,
        "import pandas as pd\n"
        "import matplotlib.pyplot as plt\n"
        "from nbbias import tables\n"
        "out = tables.folder('llmbi')\n"
        "table = pd.DataFrame({'x': [0.1 + 0.2, None]})\n"
        "tables.save_table(table, 'scores', out=out)\n"
        "tables.save_finding({'sentence': 'Seed {}.'.format(seed), 'figure': 'f'}, out=out)\n"
        "fig, ax = plt.subplots()\n"
        "tables.save_figure(fig, 'f', data=table, words={'alt': 'a'}, out=out)",
    )
    out = project / "runs"
    assert start(path, out) == {"llmbi/sample": "ok"}
    folder = out / "llmbi/sample"
    described = manifest.read(folder)
    assert described is not None
    assert described["status"] == "ok"
    assert described["error"] is None
    assert described["parameters"]["seed"] == described["seed"] == 1
    assert pd.read_parquet(folder / "tables/scores.parquet")["x"][0] == 0.1 + 0.2
    assert pd.read_csv(folder / "tables/scores.csv")["x"][0] == 0.1 + 0.2
    assert {p.name for p in (folder / "figures").iterdir()} == {
        *("f.svg", "f.png", "f.pdf", "f.csv", "f.json")
    }
    assert "Seed 1." in (out / "index.html").read_text()
    page = (folder / "index.html").read_text()
    assert 'alt="a"' in page


@pytest.mark.slow
@pytest.mark.ci
def test_a_failing_cell_is_told_and_the_others_still_run(project: Path) -> None:
    cells = ("before = 1", "1 / (seed - 1)", "after = 1")
    broken = fill(project, *cells)
    whole = fill(project, *cells, name="whole", yaml="seed: 3\n")
    done = nbbias("run", str(broken), str(whole), cwd=project)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for expected in ("failed", "llmbi/sample", "cell 3", "ZeroDivisionError", "1 / (seed - 1)"):
        assert expected in done.stderr
    folder = project / "runs/llmbi/sample"
    described = manifest.read(folder)
    assert described is not None
    assert described["status"] == "failed"
    assert described["error"]["error"] == "ZeroDivisionError"
    assert nbformat.read(folder / "notebook.ipynb", as_version=4).cells[-1].outputs == []
    other = manifest.read(project / "runs/llmbi/whole")
    assert other is not None
    assert other["status"] == "ok"


@pytest.mark.slow
def test_a_kernel_that_dies_is_a_failure(project: Path) -> None:
    path = fill(project, "import os; os._exit(1)")
    assert start(path, project / "runs") == {"llmbi/sample": "failed"}
    described = manifest.read(project / "runs/llmbi/sample")
    assert described is not None
    assert "died" in described["error"]["message"].lower()


def left(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow
def test_a_failed_run_leaves_the_last_good_one_and_says_so(project: Path) -> None:
    path = fill(
        project,
        "from nbbias import tables\n"
        "tables.save_finding({'sentence': 'x'}, out=tables.folder('llmbi'))",
    )
    assert start(path, project / "runs") == {"llmbi/sample": "ok"}
    folder, failed = project / "runs/llmbi/sample", project / "runs/llmbi/sample.failed"
    (folder / "my_picks.csv").write_text("mine")
    before = left(folder)
    fill(project, "raise ValueError('no')")
    done = nbbias("run", str(path), cwd=project)
    assert done.returncode == 1
    told = " ".join(done.stderr.split())
    assert f"the last good run stays in {folder}; this one is kept in {failed}" in told
    assert f"what was done until then: {failed / 'notebook.ipynb'}" in told
    assert left(folder) == before
    described = manifest.read(failed)
    assert described is not None
    assert described["status"] == "failed"
    assert "nbbias run runs/llmbi/sample/params.yaml" in (failed / "index.html").read_text()
    assert not (failed / "finding.json").exists()
    listed = nbbias("list", cwd=project).stdout
    assert "ok          llmbi/sample " in listed and "failed      llmbi/sample.failed" in listed
    # What repeats the run, its mistake mended, takes the place, and the failure goes.
    fill(project, "1")
    assert start(failed / "params.yaml", project / "runs") == {"llmbi/sample": "ok"}
    assert not failed.exists()
    assert (folder / "my_picks.csv").read_text() == "mine"


@pytest.mark.slow
def test_two_runs_of_one_name_at_once(project: Path) -> None:
    path = fill(
        project,
        "open('started', 'w').close()\nimport os, time",
        "while not os.path.exists('go'):\n    time.sleep(0.1)",
    )
    command = [sys.executable, "-m", "nbbias", "run", str(path)]
    first = subprocess.Popen(command, cwd=project, stderr=subprocess.PIPE, text=True)
    wait_for(project / "started")
    (project / "started").unlink()
    second = nbbias("run", str(path), cwd=project)
    assert second.returncode == 2
    assert "runs/llmbi/sample: is being made by another nbbias run" in second.stderr
    assert not (project / "started").exists()  # no kernel was started
    (project / "go").touch()
    assert nbbias("run", str(path), "--name", "other", cwd=project).returncode == 0
    assert first.communicate(timeout=120) and first.returncode == 0
    listed = nbbias("list", cwd=project).stdout
    assert "ok          llmbi/sample " in listed and "ok          llmbi/other " in listed


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
def test_a_notebook_whose_runner_was_killed_ends(project: Path) -> None:
    path = fill(project, "open('started', 'w').close()\nimport time; time.sleep(120)")
    process = subprocess.Popen([sys.executable, "-m", "nbbias", "run", str(path)], cwd=project)
    wait_for(project / "started")
    family = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(family, timeout=30)
    assert alive == []
    fill(project, "1")
    assert start(path, project / "runs") == {"llmbi/sample": "ok"}
    assert [p.name for p in (project / "runs/llmbi").iterdir() if p.is_dir()] == ["sample"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")
@pytest.mark.parametrize(
    "signal_number", [pytest.param(signal.SIGINT, marks=pytest.mark.ci), signal.SIGTERM]
)
def test_an_interrupted_run_says_so_and_leaves_no_kernel(
    project: Path, signal_number: signal.Signals
) -> None:
    path = fill(project, "open('started', 'w').close()\nimport time; time.sleep(120)")
    process = subprocess.Popen(
        [sys.executable, "-m", "nbbias", "run", str(path)],
        cwd=project,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell's background job ignores Ctrl-C and hands that on; a terminal's does not
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_for(project / "started")
    family = psutil.Process(process.pid).children(recursive=True)
    assert any("ipykernel" in " ".join(p.cmdline()) for p in family)
    if signal_number is signal.SIGINT:
        os.killpg(process.pid, signal_number)  # as the terminal does: the whole group
    else:
        process.send_signal(signal_number)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    described = manifest.read(project / "runs/llmbi/sample")
    assert described is not None
    assert described["status"] == "interrupted"
    _, alive = psutil.wait_procs(family, timeout=15)
    assert alive == []


#: The one block in which the pages of two runs differ: when, how long, which commit.
PROVENANCE = re.compile(rb'<dl class="provenance">.*?</dl>', re.DOTALL)


@pytest.mark.slow
def test_two_runs_are_equal_byte_by_byte(tmp_path: Path) -> None:
    contents = []
    for name in ("first", "second"):
        out = tmp_path / name
        assert start(SAMPLE, out) == {"llmbi/sample": "ok"}
        folder = out / "llmbi/sample"
        contents.append(
            {
                p.relative_to(folder).as_posix(): PROVENANCE.sub(b"", p.read_bytes())
                for p in sorted(folder.rglob("*"))
                if p.is_file() and p.name != manifest.NAME
            }
        )
    first, second = contents
    assert first.keys() == second.keys()
    assert any(name.endswith(".svg") for name in first)
    assert [name for name in first if first[name] != second[name]] == []
    assert json.dumps(manifest.read(tmp_path / "first/llmbi/sample")) != ""
