"""The charts beside training: staging data, and a shell with the file systems."""

from __future__ import annotations

from tests.charts.matrix import HELPER_VALUES, IMAGE
from tests.charts.rendering import only, pod_templates, refusal, render, run

STAGED = HELPER_VALUES["stage-data"]["told by the launcher"]


def test_staging_runs_the_program_that_copies_with_the_arguments_as_given() -> None:
    job = only("Job", render("stage-data", STAGED, release="stage-1"))

    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["image"] == IMAGE
    # $$ is how Kubernetes spells a $ that begins no variable.
    assert container["args"] == ["data", "stage", "--to", "fsx", "--path", "a b $$(HOME)"]
    assert "command" not in container
    assert job["metadata"]["name"] == "stage-1"
    assert job["metadata"]["namespace"] == "kubeflow"


def test_staging_reads_what_the_launcher_told_it() -> None:
    config = only("ConfigMap", render("stage-data", STAGED, release="stage-1"))

    assert config["metadata"]["name"] == "stage-1-job"
    assert config["data"]["hyperparameters.json"] == (
        '{"mounts":"{}","outputs":"{\\"StorageStack\\": {}}"}'
    )


def test_staging_writes_to_the_file_systems_that_there_are() -> None:
    for values, expected in ((STAGED, {"/efs", "/fsx"}), ({"volumes": {"fsx": False}}, {"/efs"})):
        ((_, template),) = pod_templates(render("stage-data", values))
        (container,) = template["spec"]["containers"]
        writable = {
            each["mountPath"] for each in container["volumeMounts"] if not each.get("readOnly")
        }
        assert writable == {*expected, "/tmp"}


def test_staging_is_tried_again_after_lost_nodes_but_not_after_wrong_usage() -> None:
    spec = only("Job", render("stage-data", STAGED))["spec"]

    assert (spec["backoffLimit"], spec["activeDeadlineSeconds"]) == (2, 400_000)
    assert spec["ttlSecondsAfterFinished"] == 60
    assert spec["template"]["spec"]["restartPolicy"] == "Never"
    assert spec["podFailurePolicy"]["rules"] == [
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [2, 3]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    ]


def test_a_staging_release_whose_pod_could_have_no_name_is_refused() -> None:
    assert "expected at most 52 characters" in refusal("stage-data", release="s" * 53)


def test_attach_has_the_pods_of_the_old_tutorial() -> None:
    pods = dict(pod_templates(render("attach")))

    mounted = {
        name: {each["mountPath"] for each in pod["spec"]["containers"][0]["volumeMounts"]}
        for name, pod in pods.items()
    }
    assert mounted == {
        "attach-pvc": {"/efs", "/fsx", "/tmp"},
        "attach-pvc-fsx": {"/fsx", "/tmp"},
    }
    assert {pod["metadata"]["namespace"] for pod in pods.values()} == {"kubeflow"}
    assert {pod["spec"]["containers"][0]["name"] for pod in pods.values()} == set(pods)


def test_attach_without_fsx_has_one_pod() -> None:
    assert set(dict(pod_templates(render("attach", {"volumes": {"fsx": False}})))) == {"attach-pvc"}


def test_attached_pods_end_by_themselves() -> None:
    for _, pod in pod_templates(render("attach", {"hours": 2})):
        assert pod["spec"]["activeDeadlineSeconds"] == 7200


def test_the_notes_show_how_to_attach() -> None:
    done = run(["install", "attach", "./charts/attach", "--dry-run=client"])

    assert "kubectl exec -it -n kubeflow attach-pvc -- /bin/bash" in done.stdout
