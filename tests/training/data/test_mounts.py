from __future__ import annotations

from pathlib import Path

import pytest

from training.data.mounts import MOUNTS_VARIABLE, find_folder, find_mount

EFS = "fs-0123456789abcdef0"
FSX = "fs-0fedcba9876543210"
OTHERS = """\
proc /proc proc rw,nosuid 0 0
/dev/nvme0n1p1 / ext4 rw,relatime 0 0
fs-0aaaaaaaaaaaaaaaa.efs.eu-west-1.amazonaws.com:/ /mnt/other nfs4 rw 0 0
"""


@pytest.fixture
def proc_mounts(tmp_path: Path) -> Path:
    return tmp_path / "mounts"


def find(
    text: str, proc_mounts: Path, file_system_id: str = EFS, aliases: tuple[str, ...] = ()
) -> Path | None:
    proc_mounts.write_text(OTHERS + text)
    return find_mount(
        file_system_id,
        environ={},
        proc_mounts=proc_mounts,
        mount_info=proc_mounts.parent / "mountinfo",
        efs_state=proc_mounts.parent / "efs-state",
        aliases=aliases,
    )


@pytest.mark.parametrize(
    "source",
    [
        f"{EFS}.efs.eu-west-1.amazonaws.com:/",
        f"eu-west-1a.{EFS}.efs.eu-west-1.amazonaws.com:/",
        f"{EFS}.efs.cn-north-1.amazonaws.com.cn:/",
        f"{EFS}:/",
        EFS,
    ],
)
@pytest.mark.parametrize("kind", ["nfs4", "efs"])
def test_efs_is_found_by_every_name_of_its_source(
    source: str, kind: str, proc_mounts: Path
) -> None:
    line = f"{source} /mnt/efs {kind} rw,vers=4.1 0 0\n"
    assert find(line, proc_mounts) == Path("/mnt/efs")


@pytest.mark.parametrize(
    "line",
    [
        "",
        f"{EFS}.efs.eu-west-1.amazonaws.com:/projects /mnt/projects nfs4 rw 0 0\n",
        f"{EFS}0.efs.eu-west-1.amazonaws.com:/ /mnt/longer nfs4 rw 0 0\n",
        f"/home/{EFS} /mnt/local ext4 rw 0 0\n",
        "127.0.0.1:/ /mnt/tunnel nfs4 rw,port=20049 0 0\n",
        "172.30.0.40:/ /mnt/address nfs4 rw 0 0\n",
        "broken line\n",
    ],
    ids=["none", "subfolder", "longer id", "local disk", "foreign tunnel", "address", "broken"],
)
def test_what_is_not_the_root_of_that_file_system_is_not_taken_for_it(
    line: str, proc_mounts: Path
) -> None:
    assert find(line, proc_mounts) is None


def test_efs_behind_the_mount_helpers_tunnel_is_found_by_its_port(proc_mounts: Path) -> None:
    state = proc_mounts.parent / "efs-state"
    state.mkdir()
    (state / f"{EFS}.mnt.efs.20050").write_text("{}")
    (state / "fs-0aaaaaaaaaaaaaaaa.mnt.other.20049").write_text("{}")
    (state / "stunnel-config").write_text("")
    lines = (
        "127.0.0.1:/ /mnt/other nfs4 rw,port=20049,addr=127.0.0.1 0 0\n"
        "127.0.0.1:/ /mnt/efs nfs4 rw,port=20050,addr=127.0.0.1 0 0\n"
    )
    assert find(lines, proc_mounts) == Path("/mnt/efs")


@pytest.mark.parametrize(
    ("source", "aliases"),
    [
        (f"{FSX}.fsx.eu-west-1.amazonaws.com@tcp:/abcdefgh", ()),
        ("172.30.0.77@tcp:/abcdefgh", ("abcdefgh",)),
        ("172.30.0.77@tcp:/abcdefgh", ("172.30.0.77",)),
    ],
)
def test_lustre_is_found_by_dns_name_mount_name_or_address(
    source: str, aliases: tuple[str, ...], proc_mounts: Path
) -> None:
    line = f"{source} /fsx lustre rw,flock,lazystatfs 0 0\n"
    assert find(line, proc_mounts, FSX, aliases) == Path("/fsx")


@pytest.mark.parametrize("source", ["172.30.0.77@tcp:/abcdefgh", "172.30.0.77@tcp:/other"])
def test_lustre_of_another_name_is_not_taken(source: str, proc_mounts: Path) -> None:
    line = f"{source} /fsx lustre rw 0 0\n"
    assert find(line, proc_mounts, FSX, ("zyxwvuts",)) is None


def test_a_folder_of_a_lustre_file_system_is_not_its_root(proc_mounts: Path) -> None:
    line = f"{FSX}.fsx.eu-west-1.amazonaws.com@tcp:/abcdefgh/data /fsx lustre rw 0 0\n"
    assert find(line, proc_mounts, FSX) is None


LUSTRE = f"{FSX}.fsx.eu-west-1.amazonaws.com@tcp:/abcdefgh"


def test_a_folder_that_is_bound_elsewhere_is_not_the_root(proc_mounts: Path) -> None:
    """A container with `-v /fsx/data:/data` sees that mount alone, with the source of the whole."""
    bound = f"{LUSTRE} /my\\040data lustre rw 0 0\n"
    (proc_mounts.parent / "mountinfo").write_text(
        f"36 35 0:40 /data /my\\040data rw master:1 - lustre {LUSTRE} rw\n"
        f"37 35 0:40 / /fsx rw - lustre {LUSTRE} rw\n"
        "38 35 0:41\n"
    )
    assert find(bound, proc_mounts, FSX) is None
    assert find(bound + f"{LUSTRE} /fsx lustre rw 0 0\n", proc_mounts, FSX) == Path("/fsx")


def test_the_last_of_several_mounts_at_a_point_is_what_is_there(proc_mounts: Path) -> None:
    hidden = f"{LUSTRE} /mnt lustre rw 0 0\ntmpfs /mnt tmpfs rw 0 0\n"
    assert find(hidden, proc_mounts, FSX) is None
    assert find(hidden + f"{LUSTRE} /mnt lustre rw 0 0\n", proc_mounts, FSX) == Path("/mnt")
    by_automount = f"systemd-1 /fsx autofs rw,fd=30 0 0\n{LUSTRE} /fsx lustre rw 0 0\n"
    assert find(by_automount, proc_mounts, FSX) == Path("/fsx")


def test_a_mount_name_that_several_have_is_not_taken_for_another_file_system(
    proc_mounts: Path,
) -> None:
    """Every SCRATCH_1 file system is called `fsx`."""
    other = "fs-0aaaaaaaaaaaaaaaa.fsx.eu-west-1.amazonaws.com@tcp:/fsx /other lustre rw 0 0\n"
    own = f"{FSX}.fsx.eu-west-1.amazonaws.com@tcp:/fsx /own lustre rw 0 0\n"
    alias = "data.example.com@tcp:/fsx /alias lustre rw 0 0\n"
    assert find(other, proc_mounts, FSX, ("fsx",)) is None
    assert find(other + own, proc_mounts, FSX, ("fsx",)) == Path("/own")
    assert find(other + alias, proc_mounts, FSX, ("fsx",)) == Path("/alias")


def test_a_lustre_source_with_two_servers_is_found(proc_mounts: Path) -> None:
    line = "172.30.0.77@tcp:172.30.0.78@tcp:/abcdefgh /fsx lustre rw 0 0\n"
    assert find(line, proc_mounts, FSX, ("abcdefgh",)) == Path("/fsx")


def test_a_strange_character_in_a_mount_point_does_not_part_the_line(proc_mounts: Path) -> None:
    line = f"{LUSTRE} /mnt/a\u2028b lustre rw 0 0\n"
    assert find(line, proc_mounts, FSX) == Path("/mnt/a\u2028b")


def test_efs_mounted_by_address_is_found_by_an_alias(proc_mounts: Path) -> None:
    line = "172.30.0.40:/ /mnt/efs nfs4 rw 0 0\n"
    assert find(line, proc_mounts, aliases=("172.30.0.40",)) == Path("/mnt/efs")


def test_the_kernels_escapes_in_a_mount_point_are_undone(proc_mounts: Path) -> None:
    line = f"{EFS}.efs.eu-west-1.amazonaws.com:/ /mnt/my\\040data nfs4 rw 0 0\n"
    assert find(line, proc_mounts) == Path("/mnt/my data")


def test_the_folder_of_local_aws_comes_first(tmp_path: Path, proc_mounts: Path) -> None:
    (tmp_path / "systems" / EFS).mkdir(parents=True)
    proc_mounts.write_text(f"{EFS}:/ /mnt/efs nfs4 rw 0 0\n")
    environ = {"MASK_RCNN_MOUNTS": str(tmp_path / "systems")}
    found = find_mount(EFS, environ=environ, proc_mounts=proc_mounts)
    assert found == tmp_path / "systems" / EFS


def test_a_file_system_that_local_aws_lacks_is_looked_for_among_the_mounts(
    tmp_path: Path, proc_mounts: Path
) -> None:
    proc_mounts.write_text(f"{EFS}:/ /mnt/efs nfs4 rw 0 0\n")
    environ = {"MASK_RCNN_MOUNTS": str(tmp_path)}
    assert find_mount(EFS, environ=environ, proc_mounts=proc_mounts) == Path("/mnt/efs")


@pytest.mark.parametrize("file_system_id", ["", "..", "fs-../x", "fs-0g", "/etc"])
def test_what_is_no_id_is_never_found(file_system_id: str, tmp_path: Path) -> None:
    assert find_mount(file_system_id, environ={"MASK_RCNN_MOUNTS": str(tmp_path)}) is None


def test_a_machine_without_a_list_of_mounts_has_none(tmp_path: Path) -> None:
    assert find_mount(EFS, environ={}, proc_mounts=tmp_path / "absent") is None


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("fs-0123:/output/log-a", "output/log-a"),
        # On Lustre the mount name stands for the root.
        ("fs-0123:/abcdefgh/output/log-a", "output/log-a"),
        ("fs-0123:/top", "top"),
        ("fs-0123:/output/log-b", None),
        ("fs-0123:/gone", None),
        (f"fs-0123:/output/{'x' * 300}", None),
        ("fs-0124:/output/log-a", None),
        ("s3://bucket/output/log-a", None),
        ("", None),
    ],
)
def test_a_folder_is_found_by_its_file_system_and_path(
    tmp_path: Path, place: str, found: str | None
) -> None:
    root = tmp_path / "fs-0123"
    (root / "output/log-a").mkdir(parents=True)
    (root / "top").mkdir()
    folder = find_folder(place, environ={MOUNTS_VARIABLE: str(tmp_path)})
    assert folder == (root / found if found else None)
