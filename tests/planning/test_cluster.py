"""Which cluster a stack belongs to, and how it is reached."""

from __future__ import annotations

import pytest

from gpu_platform.planning.cluster import wrong_cluster
from gpu_platform.planning.model import Kubeconfig
from tests.stack_files import document, good

CLUSTER = {"name": "lab", "talosVersion": "v1.13.9"}
PASSING = {"secure": "v1:xyz"}


@pytest.mark.parametrize(
    ("keys", "kubeconfig"),
    [
        (document(cluster={**CLUSTER, "kubeconfigFrom": {"path": "lab"}}), Kubeconfig("path", "lab")),
        (
            document(cluster={**CLUSTER, "kubeconfigFrom": {"stackReference": "a/b/c", "output": "admin"}}),
            Kubeconfig("stackReference", "a/b/c", "admin"),
        ),
        (document(kubeconfig=PASSING), Kubeconfig("secret")),
        (document(), Kubeconfig("ambient")),
        (document(cluster={**CLUSTER, "phase": "image"}, kubeconfig=PASSING), Kubeconfig("none")),
    ],
)
def test_where_the_kubeconfig_comes_from(keys: dict[str, object], kubeconfig: Kubeconfig) -> None:
    assert good(keys).cluster.kubeconfig == kubeconfig


def test_a_cluster_with_another_uid_is_refused_in_a_sentence() -> None:
    stated, free = (good(document(cluster=cluster)).cluster for cluster in ({**CLUSTER, "uid": "right"}, CLUSTER))
    assert wrong_cluster(stated, "right") is None
    assert wrong_cluster(free, "any") is None
    assert "has UID wrong, the stack file says right (cluster.uid)" in str(wrong_cluster(stated, "wrong"))
