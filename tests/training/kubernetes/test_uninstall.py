from __future__ import annotations

from tests.training.kubernetes.in_cluster import InCluster


def test_uninstall_keeps_the_namespace_and_the_volumes_and_says_so(inside: InCluster) -> None:
    inside.install()
    assert inside.run("uninstall", "--yes")[0] == 0, inside.said
    server = inside.server
    assert "kept: namespace kubeflow" in inside.said
    assert "logs" in inside.said
    assert server.names("daemonsets") | server.names("deployments") == set()
    assert server.find("customresourcedefinitions", "mpijobs.kubeflow.org") is None
    assert server.names("persistentvolumes") == {"mask-rcnn-efs", "mask-rcnn-fsx"}
    assert server.names("persistentvolumeclaims") == {"mask-rcnn-efs", "mask-rcnn-fsx"}
    assert "kubeflow" in server.names("namespaces")
    # What was kept is taken over again.
    assert inside.install() == 0, inside.said


def test_uninstall_is_refused_while_there_are_jobs(inside: InCluster) -> None:
    inside.install()
    job = {"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "mine"}}
    inside.server.put(job)
    assert inside.run("uninstall", "--yes")[0] == 3
    assert "kubeflow/mine" in inside.said
    assert "cluster-autoscaler" in inside.server.names("deployments")


def test_uninstalling_nothing_is_no_error_and_is_told(inside: InCluster) -> None:
    code, text = inside.run("uninstall", "--yes")
    assert code == 0, inside.said
    assert text == "nothing to uninstall: cluster mask-rcnn has none of it\n"
    assert "kept:" not in inside.said


def test_what_is_left_of_a_removal_is_removed_by_the_next(inside: InCluster) -> None:
    inside.install()
    store = inside.server.store
    store.delete(store.kind("apps", "v1", "deployments"), ("mpi-operator", "mpi-operator"))
    code, text = inside.run("uninstall", "--yes")
    assert (code, text) == (0, "uninstalled from cluster mask-rcnn\n"), inside.said
    assert inside.server.find("customresourcedefinitions", "mpijobs.kubeflow.org") is None


def test_without_anybody_to_agree_nothing_is_removed(inside: InCluster) -> None:
    inside.install()
    assert inside.run("uninstall")[0] == 2
    assert "add --yes" in inside.said
    assert "cluster-autoscaler" in inside.server.names("deployments")
