"""The notebooks as files: they hold no results and no place of one account or machine."""

from __future__ import annotations

import ast
import json
import re

import nbformat
import pytest

from tests.notebooks.reading import CHOICES, FOLDER, NAMES, PROJECT, cell_of, code_of, read, text_of

every_notebook = pytest.mark.parametrize("name", NAMES)

CELLS = ["choose", "place", "data", "plan", "launch", "follow", "status", "result", "metrics"]


def test_there_are_no_other_notebooks() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}.ipynb" for name in NAMES}


@every_notebook
def test_it_is_valid_and_as_jupyter_would_write_it(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    text = (FOLDER / f"{name}.ipynb").read_text()
    # Saving it in Jupyter without a change leaves it as it is.
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    assert list(json.loads(text)) == ["cells", "metadata", "nbformat", "nbformat_minor"]


@every_notebook
def test_it_holds_no_results(name: str) -> None:
    cells = [cell for cell in read(name).cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in cells] == [[]] * len(cells)
    assert {cell.execution_count for cell in cells} == {None}
    assert all(cell.metadata == {} for cell in read(name).cells)


@every_notebook
def test_the_steps_have_the_same_names_in_the_same_order(name: str) -> None:
    ids = [cell.id for cell in read(name).cells]
    assert list(code_of(read(name))) == [*CELLS, "stop"]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z-]+", cell_id) for cell_id in ids)


@every_notebook
def test_its_kernel_is_the_one_that_the_notebook_instance_makes(name: str) -> None:
    setup = (PROJECT / "stacks/lifecycle/setup.sh").read_text()
    kernel = read(name).metadata.kernelspec
    assert f"readonly NAME={kernel.name}\n" in setup
    assert f'--display-name "{kernel.display_name}"' in setup
    assert '--name "$NAME"' in setup


@every_notebook
def test_it_names_no_account_region_address_or_place_of_a_machine(name: str) -> None:
    text = (FOLDER / f"{name}.ipynb").read_text()
    assert not re.findall(r"\d{12}", text)
    assert not re.findall(r"\b(?:us|eu|ap|sa|ca|af|me|il|mx|cn)(?:-gov)?-[a-z]+-\d\b", text)
    assert not re.findall(r"https?://|s3://|arn:|\b(?:vpc|subnet|sg|fs)-[0-9a-f]+", text)
    assert not re.findall(r"(?<![\w.])/(?:home|root|opt|tmp|Users|work|mnt)\b", text)


@every_notebook
def test_nothing_in_it_reaches_a_shell(name: str) -> None:
    for source in code_of(read(name)).values():
        ast.parse(source)  # So it has no line that begins with ! or %.
        assert not re.findall(r"subprocess|os\.system|popen|get_ipython", source)


@pytest.mark.parametrize(("name", "choice"), CHOICES)
def test_what_may_be_chosen_is_said(name: str, choice: dict[str, str]) -> None:
    for constant, value in choice.items():
        assert constant in cell_of(read(name), "choose").source
        assert f'"{value}"' in cell_of(read(name), "choose").source
        assert value in text_of(read(name)).lower()


@every_notebook
def test_it_is_short(name: str) -> None:
    notebook = read(name)
    assert len(text_of(notebook).split()) < 800
    assert sum(len(source.splitlines()) for source in code_of(notebook).values()) < 60
