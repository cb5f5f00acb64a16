"""The Jupyter kernel of this environment, and JupyterLab on its notebooks."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nbbias import studies, tables
from nbbias.tables import NbbiasError

NAME = "nbbias"

#: JupyterLab with settings of its own: it asks nobody for news or updates.
LAB = ("-m", "jupyterlab", f"--LabApp.app_settings_dir={tables.data_path('lab')}")


def install() -> None:
    """Install a Jupyter kernel for this interpreter, unless it has one."""
    from ipykernel.kernelspec import write_kernel_spec
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    with contextlib.suppress(NoSuchKernel):
        if KernelSpecManager().get_kernel_spec(NAME).argv[:2] == [sys.executable, "-P"]:
            return
    with tempfile.TemporaryDirectory() as folder:
        spec = write_kernel_spec(
            Path(folder) / NAME,
            overrides={"display_name": "nbbias"},
            # Modules in the current folder, beside received data, are not imported.
            python_arguments=["-P"],
            # The kernel's own warnings would stand between ours.
            extra_arguments=["--IPKernelApp.log_level=CRITICAL", "--IPKernelApp.ignore_cwd=True"],
        )
        KernelSpecManager().install_kernel_spec(spec, NAME, prefix=sys.prefix)


def open_lab(arguments: Sequence[str] = ()) -> int:
    """Become JupyterLab, open at the folder of notebooks, params and runs.

    JupyterLab replaces this process, so that whatever ends the one ends the other.

    Parameters
    ----------
    arguments
        Passed on to JupyterLab, such as ``--no-browser``.

    Returns
    -------
    int
        JupyterLab's exit status.
    """
    if (home := studies.home()) == studies.PACKAGE:
        raise NbbiasError("nbbias lab", "finds no notebooks here; `nbbias new DIR` creates them")
    tables.require_packages("jupyterlab", where="nbbias lab")
    install()
    command = [sys.executable, "-P", *LAB, f"--ServerApp.root_dir={home}", *arguments]
    print(f"notebooks: {home}", file=sys.stderr)
    os.chdir(home)
    os.execv(sys.executable, command)
