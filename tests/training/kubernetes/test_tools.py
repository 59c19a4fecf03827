from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stacks.settings.kubernetes_versions import VERSIONS
from training.errors import UsageError
from training.kubernetes import tools


def test_two_commands_at_once_unpack_the_programs_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: tools.kubectl(), range(2))
    assert first == second
    said = subprocess.run(
        [first, "version", "--client"], capture_output=True, text=True, check=True
    )
    assert said.stdout.startswith("Client Version: v1.35.")
    assert {each.name for each in first.parent.iterdir()} == {"helm", "kubectl"}
    assert len(list(first.parents[1].iterdir())) == 1  # nothing half unpacked


def test_a_cache_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        tools.helm()


def test_a_missing_package_is_told_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "PACKAGE", "not-installed")
    with pytest.raises(UsageError, match="pip install -r requirements"):
        tools.kubectl()


def test_elsewhere_the_programs_on_the_path_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools.platform, "machine", lambda: "arm64")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="helm: not found on PATH"):
        tools.helm()
    (tmp_path / "helm").touch(0o755)
    assert tools.helm() == tmp_path / "helm"


def test_the_users_own_settings_stay_out(tmp_path: Path) -> None:
    user = {"HELM_DRIVER": "sql", "AWS_PROFILE": "p", "XDG_CACHE_HOME": str(tmp_path)}
    made = tools.environment(user)
    assert "HELM_DRIVER" not in made
    assert made["AWS_PROFILE"] == "p"
    assert made["HELM_CONFIG_HOME"].startswith(str(tmp_path))


def test_kubectl_talks_to_every_version_that_the_stack_offers() -> None:
    minor = int(tools.PACKAGE.rpartition("v")[2])
    assert {abs(int(version.partition(".")[2]) - minor) for version in VERSIONS} <= {0, 1}


def test_a_program_that_cannot_be_run_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tools.helm().unlink()
    with pytest.raises(UsageError, match=r"helm: cannot be run. Remove that folder"):
        tools.helm()
