"""What `nbbias lab` becomes; that JupyterLab opens is shown by tests/browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from nbbias.pages import share
from nbbias.running import kernel


@pytest.mark.skipif(sys.platform == "win32", reason="a process is not replaced there")
def test_lab_becomes_jupyterlab_at_the_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share.new(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine" / "notebooks")
    commands: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: commands.append(command))
    monkeypatch.setattr(kernel, "install", lambda: None)
    kernel.open_lab(["--no-browser"])
    (command,) = commands
    assert command[:4] == [sys.executable, "-P", "-m", "jupyterlab"]
    assert command[-2:] == [f"--ServerApp.root_dir={tmp_path / 'mine'}", "--no-browser"]
    assert Path.cwd() == tmp_path / "mine"
