"""Keys of a job."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from entrypoint.errors import EntrypointError
from entrypoint.ssh_key import checked_public_key, make_key, public_key


def test_a_key_is_new_each_time_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    ssh_keygen = shutil.which("ssh-keygen")
    assert ssh_keygen is not None
    first = make_key(str(tmp_path), "first", ssh_keygen)
    second = make_key(str(tmp_path), "second", ssh_keygen)
    assert Path(first).stat().st_mode & 0o777 == 0o600
    assert public_key(first) != public_key(second)
    assert public_key(first).startswith("ssh-ed25519 AAAA")
    # Neither the user nor the machine is named in it.
    assert len(public_key(first).split()) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ssh-rsa AAAA",
        "ssh-ed25519",
        "ssh-ed25519 AAAA\nssh-ed25519 BBBB",
        "ssh-ed25519 AAAA\n",
        'command="sh" ssh-ed25519 AAAA',
        "ssh-ed25519 AA,AA",
    ],
)
def test_what_is_no_key_goes_into_no_file_of_ssh(text: str) -> None:
    with pytest.raises(EntrypointError, match="what is no SSH key"):
        checked_public_key(text)
