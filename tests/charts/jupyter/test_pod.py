"""The whole pod: real Jupyter, TensorBoard and nginx, and a real browser that logs in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.charts.jupyter.asking import PASSWORD, VALUES, ask, login
from tests.charts.jupyter.environment import jupyter_environment
from tests.charts.jupyter.page import Page
from tests.charts.jupyter.stand import Stand, standing
from tests.charts.rendering import PROJECT
from tests.training.maskrcnn.tiny_job import TINY
from tests.training.report.conftest import Browser
from training.data.progress import SILENT
from training.data.shapes import ShapesSet, make_shapes

pytestmark = [pytest.mark.soak, pytest.mark.xdist_group("jupyter-pod")]

JUPYTER, TENSORBOARD = 8443, 6443
LOG = VALUES["global"]["log_dir"]
NOTEBOOK = "mask-rcnn-trained-model.ipynb"


@pytest.fixture(scope="module")
def file_system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An FSx with a data set and the logs of a job that has trained for a few steps."""
    root = tmp_path_factory.mktemp("fsx")
    data, log = root / "data/mask-rcnn/sagemaker/input/train", root / LOG
    data.parent.mkdir(parents=True)
    log.mkdir()
    make_shapes(data, ShapesSet(train=8, val=4, seed=1, size=64), SILENT)
    hyperparameters = {**TINY, "images_per_epoch": 8, "lr_epoch_schedule": [[2, None]]}
    file = root / "hyperparameters.json"
    file.write_text(json.dumps(hyperparameters))
    subprocess.run(
        [
            *(sys.executable, "-m", "training.maskrcnn.train", "--engine", "torch"),
            *("--data", data, "--log-dir", log, "--hyperparameters", file),
        ],
        cwd=PROJECT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
    )
    return root


@pytest.fixture(scope="module")
def stand(file_system: Path) -> Iterator[Stand]:
    with TemporaryDirectory(prefix="mask-rcnn-pod-") as folder:
        # pytest's folders are root's alone: the pod's user could not write below them.
        Path(folder).chmod(0o755)
        with standing(
            "maskrcnn-jupyter",
            VALUES,
            Path(folder, "stand"),
            claims={"mask-rcnn-fsx": file_system},
            programs=jupyter_environment() / "bin",
        ) as running:
            running.start()
            yield running


def token(stand: Stand) -> str:
    return stand.secret("-token")["token"]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/api/contents", {}),
        ("/api/contents?token=wrong", {}),
        ("/api/contents", {"Authorization": "token wrong"}),
        ("/api/contents", {"Authorization": "token "}),
        ("/api/contents", login(PASSWORD)),
        ("/api/terminals", {}),
        (
            "/terminals/websocket/1",
            {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg=="},
        ),
    ],
)  # fmt: skip
def test_jupyter_without_the_token_is_refused(
    stand: Stand, path: str, headers: dict[str, str]
) -> None:
    answer = ask(stand, JUPYTER, path, headers=headers)
    assert answer.status == 403
    assert '"content"' not in answer.body


def test_jupyter_without_the_token_shows_where_to_give_it(stand: Stand) -> None:
    answer = ask(stand, JUPYTER, "/lab")
    assert answer.status == 302
    assert answer.headers["Location"].startswith("/login?next=")


def test_jupyter_with_the_token_has_the_notebook(stand: Stand) -> None:
    answer = ask(
        stand, JUPYTER, "/api/contents", headers={"Authorization": f"token {token(stand)}"}
    )
    assert answer.status == 200
    [found] = json.loads(answer.body)["content"]
    assert (found["name"], found["writable"]) == (NOTEBOOK, True)


def test_a_login_lasts_in_a_cookie_that_only_https_carries(stand: Stand) -> None:
    answer = ask(stand, JUPYTER, f"/lab?token={token(stand)}")
    assert answer.status == 200
    [cookie] = [each for each in answer.cookies if each.startswith("username-")]
    assert "; Secure" in cookie
    assert "; HttpOnly" in cookie


def test_jupyter_does_not_start_without_a_token(stand: Stand, tmp_path: Path) -> None:
    for text in ("", "\n", "short"):
        empty = tmp_path / "token"
        empty.write_text(text)
        done = subprocess.run(
            [jupyter_environment() / "bin/jupyter-lab", "--allow-root"],
            env={
                "PATH": "/usr/bin:/bin",
                "HOME": str(tmp_path),
                "JUPYTER_CONFIG_PATH": str(PROJECT / "docker/notebook"),
                "MASK_RCNN_TOKEN_FILE": str(empty),
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert "a token needs 32 characters" in done.stderr


def test_tensorboard_with_the_password_shows_the_job(stand: Stand) -> None:
    assert ask(stand, TENSORBOARD, "/data/runs").status == 401
    answer = ask(stand, TENSORBOARD, "/data/runs", headers=login(PASSWORD))
    assert answer.status == 200
    assert json.loads(answer.body) == ["events"]


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """A browser of its own: JupyterLab asks before it is left."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    browser = Browser(program, tmp_path / "chromium")
    yield Page(browser)
    browser.close()


@pytest.mark.browser
@pytest.mark.timeout(900)
def test_a_browser_logs_in_to_jupyter_and_runs_the_notebook(
    stand: Stand, page: Page, tmp_path: Path
) -> None:
    page.visit(f"https://localhost:{stand.ports[JUPYTER]}/")
    page.click("#password_input")
    page.type("wrong")
    page.click("#login_submit")
    page.wait_for("document.body.innerText.includes('Invalid credentials')")
    page.click("#password_input")
    page.type(token(stand))
    page.click("#login_submit")
    page.wait_for("document.body.innerText.includes('A trained model beside its logs')")
    # What is run before the kernel has answered is lost.
    page.wait_for("document.body.innerText.includes('Python 3 (ipykernel) | Idle')")

    page.click(".lm-MenuBar-item", "Run")
    page.click('.lm-Menu-item[data-command="runmenu:run-all"]')

    # The frame of the metrics, and a picture for each of the four with objects.
    page.wait_for("document.querySelectorAll('.jp-OutputArea iframe').length === 1")
    page.wait_for(
        "[...document.querySelectorAll('.jp-OutputArea figure img')]"
        ".filter(one => one.naturalWidth > 0).length === 4"
    )
    assert "step-00000004.pt" in page.text()
    page.picture(tmp_path / "jupyter.png")


@pytest.mark.browser
@pytest.mark.timeout(900)
def test_a_browser_sees_tensorboard_with_the_password(
    stand: Stand, page: Page, tmp_path: Path
) -> None:
    place = f"localhost:{stand.ports[TENSORBOARD]}"
    # Without it the browser asks, in a window of its own that no test can type into.
    page.visit(f"https://tensorboard:{PASSWORD.replace(' ', '%20')}@{place}/")
    page.wait_for("document.querySelector('tb-webapp') !== null")
    page.wait_for("document.body.innerText.includes('total_loss')")
    page.picture(tmp_path / "tensorboard.png")


def test_no_program_has_written_down_what_is_secret(stand: Stand) -> None:
    ask(stand, JUPYTER, f"/api/contents?token={token(stand)}")
    ask(stand, JUPYTER, f"/no-such-thing?token={token(stand)}")
    for container in ("jupyter", "tensorboard", "proxy"):
        assert token(stand) not in stand.log(container)
        assert PASSWORD not in stand.log(container)
