"""How ``python -m tests.cuda_report`` responds to invalid arguments, before it compiles anything."""

import re

import pytest

from tests.cuda_report.__main__ import main

REFUSED = {
    "--kernels softmax_row": r"there is no kernel softmax_row\. Try .*softmax_rows\.",
    "--kernels zzz": r"there is no kernel zzz\. Try it without --kernels",
    "--kernels add_chunks --write page.md": "a page of all kernels and targets",
    "--targets sm_80 --write page.md": "a page of all kernels and targets",
    "--targets sm_70": "invalid choice: .?sm_70",
    "--json nowhere/figures.json": "there is no folder nowhere",
}


@pytest.mark.parametrize("line", REFUSED)
def test_arguments_that_would_be_lost_are_refused(
    line: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    """A page of a few kernels would replace that of all, and figures without a folder cost a minute first."""
    monkeypatch.chdir(str(tmp_path))
    monkeypatch.setattr("tests.cuda_report.report.unavailable", lambda: "")
    with pytest.raises(SystemExit) as left:
        main(line.split())
    assert left.value.code == 2
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(REFUSED[line], said), said
