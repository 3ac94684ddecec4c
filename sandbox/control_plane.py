"""Command lines of etcd, the three Kubernetes commands and kwok, on 127.0.0.1 alone."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.build import binary
from sandbox.kube import Kube, until

if TYPE_CHECKING:
    from sandbox.state import State

PORTS = ("etcd", "etcd-peer", "api", "controller-manager", "scheduler", "kwok")

# Without a kubelet, volumes or a cloud these controllers only log errors. EndpointSlices are left to hand-made ones, so
# that the API server can reach no address but loopback; endpoints stay: the provider waits for Services by them.
WITHOUT_CONTROLLERS = (
    "bootstrap-signer-controller",
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "podcertificaterequest-cleaner-controller",
    "token-cleaner-controller",
    "node-ipam-controller",
    "node-route-controller",
    "ttl-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-expander-controller",
    "ephemeral-volume-controller",
    "volumeattributesclass-protection-controller",
    "legacy-serviceaccount-token-cleaner-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "service-lb-controller",
    "cloud-node-lifecycle-controller",
)

# Half the memory for a little more CPU; nothing in here may be sent to a proxy.
ENVIRONMENT = {"GOGC": "50", "NO_PROXY": "*"}


def write_kubeconfig(state: State, user: str) -> None:
    """Write the kubeconfig of one user of the PKI, readable by the owner alone."""

    def encoded(name: str) -> str:
        return base64.b64encode((state.pki / name).read_bytes()).decode()

    server = {"server": f"https://127.0.0.1:{state.ports['api']}", "certificate-authority-data": encoded("ca.crt")}
    keys = {"client-certificate-data": encoded(f"{user}.crt"), "client-key-data": encoded(f"{user}.key")}
    content: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "sandbox",
        "clusters": [{"name": "sandbox", "cluster": server}],
        "users": [{"name": user, "user": keys}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": user}}],
    }
    path = state.directory / f"{user}.kubeconfig"
    path.touch(mode=0o600)
    path.write_text(json.dumps(content, indent=1))


def start_etcd(state: State) -> None:
    """Start etcd; its data need not survive the machine, so it never waits for the disk."""
    client, peer = (f"http://127.0.0.1:{state.ports[name]}" for name in ("etcd", "etcd-peer"))
    state.spawn(
        "etcd",
        binary("etcd"),
        "--name=sandbox",
        f"--data-dir={state.directory / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=sandbox={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
        "--auto-compaction-mode=revision",
        "--auto-compaction-retention=1000",
        env=ENVIRONMENT,
    )


def start_api_server(state: State) -> None:
    """Start the API server; it waits for etcd by itself."""
    pki = state.pki
    state.spawn(
        "kube-apiserver",
        binary("kube-apiserver"),
        f"--etcd-servers=http://127.0.0.1:{state.ports['etcd']}",
        "--bind-address=127.0.0.1",
        f"--secure-port={state.ports['api']}",
        "--advertise-address=127.0.0.1",
        # Endpoints of a loopback address are invalid: the reconciler would only log errors.
        "--endpoint-reconciler-type=none",
        "--enable-aggregator-routing=true",
        "--service-cluster-ip-range=10.96.0.0/24",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={pki / 'sa.key'}",
        f"--service-account-key-file={pki / 'sa.pub'}",
        f"--requestheader-client-ca-file={pki / 'front-ca.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki / 'front-client.crt'}",
        f"--proxy-client-key-file={pki / 'front-client.key'}",
        "--allow-privileged=true",
        "--profiling=false",
        "--enable-priority-and-fairness=false",
        "--event-ttl=30m",
        env=ENVIRONMENT,
    )


def wait_for_api_server(state: State, timeout: float = 60.0) -> Kube:
    """Return a client once the API server says that it is ready; raises SandboxError when it ends or takes too long."""
    kube = Kube.of(state)

    def ready() -> bool:
        state.check("etcd")
        state.check("kube-apiserver")
        return bool(kube.request("GET", "/readyz", timeout=3) == "ok")

    until("the API server", ready, timeout, every=0.05)
    return kube


def start_controllers(state: State) -> None:
    """Start controller manager, scheduler and kwok, which all talk to a ready API server."""
    start_controller_manager(state)
    start_scheduler(state)
    start_kwok(state)


def start_controller_manager(state: State) -> None:
    """Start the controller manager with every controller that does something here."""
    kubeconfig = state.directory / "controller-manager.kubeconfig"
    state.spawn(
        "kube-controller-manager",
        binary("kube-controller-manager"),
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={state.ports['controller-manager']}",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={state.pki / 'sa.key'}",
        f"--root-ca-file={state.pki / 'ca.crt'}",
        "--kube-api-qps=200",
        "--kube-api-burst=400",
        "--horizontal-pod-autoscaler-sync-period=2s",
        "--profiling=false",
        "--controllers=*," + ",".join(f"-{name}" for name in WITHOUT_CONTROLLERS),
        env=ENVIRONMENT,
    )


def start_scheduler(state: State) -> None:
    """Start the scheduler."""
    kubeconfig = state.directory / "scheduler.kubeconfig"
    config = state.directory / "scheduler.json"
    content = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 200, "burst": 400},
        "leaderElection": {"leaderElect": False},
        "enableProfiling": False,
    }
    config.write_text(json.dumps(content))
    state.spawn(
        "kube-scheduler",
        binary("kube-scheduler"),
        f"--config={config}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={state.ports['scheduler']}",
        env=ENVIRONMENT,
    )


def start_kwok(state: State) -> None:
    """Start kwok, which plays all kubelets; pods get addresses of the benchmark range, which nothing dials."""
    state.spawn(
        "kwok",
        binary("kwok"),
        f"--kubeconfig={state.kubeconfig}",
        "--manage-all-nodes=true",
        f"--config={Path(__file__).parent / 'stages.yaml'}",
        "--node-ip=127.0.0.1",
        "--node-port=0",
        "--cidr=198.18.0.0/16",
        f"--server-address=127.0.0.1:{state.ports['kwok']}",
        "--node-lease-duration-seconds=40",
        env=ENVIRONMENT,
    )
