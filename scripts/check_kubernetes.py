#!/usr/bin/env python3
"""The overlays for Kubernetes build, fit the schemas of Kubernetes, and confine every container.

Called by `make kubernetes`: KUSTOMIZE is that program, and the interpreter has the packages of deploy/kubernetes/requirements.txt. Nothing
is asked of a cluster.
"""

import os
import pathlib
import subprocess
import sys

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
OVERLAYS = sorted((ROOT / "deploy/kubernetes/overlays").iterdir())
# The oldest version that has every field, and the newest whose schemas there are.
VERSIONS = ["1.29", "1.37"]

# Who may connect: clients and what reads metrics. Peers, on their port alone, come from anywhere.
SOURCES = [
    {"podSelector": {"matchLabels": {"quorate/client": "true"}}},
    {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}},
]
FOR_EVERYBODY = [{"protocol": "TCP", "port": 9600}]
# Which container sees which secret. The node does not see the operator's key.
SECRETS = {("signer", "quorate-signer"), ("node", "quorate-node-payer")}


def pod_of(resource):
    return resource.get("spec", {}).get("template", {}).get("spec")


def containers(pod):
    return pod.get("initContainers", []) + pod["containers"]


def confined(pod):
    """What of a pod is not confined."""
    if pod.get("automountServiceAccountToken") is not False:
        yield "a token of the cluster is mounted"
    security = pod.get("securityContext", {})
    if security.get("runAsNonRoot") is not True or not security.get("runAsUser"):
        yield "it may run as root"
    if pod.get("hostNetwork") or pod.get("hostPID") or pod.get("shareProcessNamespace"):
        yield "it shares the machine's network or processes"
    for container in containers(pod):
        name, own = container["name"], container.get("securityContext", {})
        if own.get("readOnlyRootFilesystem") is not True:
            yield f"{name} writes to its image"
        if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{name} may get more rights"
        if "memory" not in container.get("resources", {}).get("limits", {}):
            yield f"{name} has no limit of memory"
        # One that runs before the others has none.
        if container in pod["containers"] and "readinessProbe" not in container:
            yield f"{name} has no probe"
        if ":" not in container["image"].rpartition("/")[2]:
            yield f"{name} has an image without a version"


def unselected(resources):
    """Whether each policy, budget and service is about the pods of the overlay."""
    labels = [resource["spec"]["template"]["metadata"]["labels"] for resource in resources if pod_of(resource)]
    for resource in resources:
        spec = resource.get("spec", {})
        kind, name = resource["kind"], resource["metadata"]["name"]
        chosen = {
            "NetworkPolicy": lambda: spec["podSelector"].get("matchLabels"),
            "PodDisruptionBudget": lambda: spec["selector"].get("matchLabels"),
            "Service": lambda: spec.get("selector"),
        }.get(kind, lambda: labels[0])()
        if not chosen or not any(chosen.items() <= each.items() for each in labels):
            yield f"{kind} {name} selects {chosen or 'everything'}"
        if kind == "NetworkPolicy":
            yield from (f"{kind} {name} lets in {source}" for source in strangers(spec))


def misdirected(resources):
    """By which name of a service a client is refused, because the program does not know it as its own."""
    for service in (resource for resource in resources if resource["kind"] == "Service"):
        name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
        names = [name] + [f"{name}.{namespace}{end}" for end in ("", ".svc", ".svc.cluster.local")]
        for resource in resources:
            pod = pod_of(resource)
            if pod is None or not service["spec"]["selector"].items() <= resource["spec"]["template"]["metadata"]["labels"].items():
                continue
            variables = [variable for container in containers(pod) for variable in container.get("env", [])]
            hosts = [host for variable in variables if variable["name"].endswith("_HOSTS") for host in variable["value"].split(",")]
            yield from (f"Service {name}: its pods do not answer to {each}" for each in names if each not in hosts)


def strangers(policy):
    """Who may connect by a network policy, and should not."""
    if "Ingress" not in policy.get("policyTypes", ["Ingress"]):
        yield "everybody: it has no rules of type Ingress"
    for rule in policy.get("ingress", []):
        sources = rule.get("from")
        # No source, and an empty list of them, are everybody; no port is all of them.
        if not sources and rule.get("ports") != FOR_EVERYBODY:
            yield f"everybody: {rule}"
        yield from (source for source in sources or [] if source not in SOURCES)


def secrets(pod):
    """Which container sees which secret: in its variables, or in a volume that it mounts."""
    volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
    for container in containers(pod):
        mounted = [volumes.get(mount["name"]) for mount in container.get("volumeMounts", [])]
        yield from ((container["name"], secret) for secret in named([container, mounted]))


def named(part):
    """The secrets that a part of a pod names, whatever kind of variable or volume has them."""
    if isinstance(part, list):
        for each in part:
            yield from named(each)
    elif isinstance(part, dict):
        for key, value in part.items():
            if "secret" not in key.lower():
                yield from named(value)
            elif isinstance(value, dict):
                yield value.get("secretName", value.get("name"))
            else:
                yield value


def overlooked():
    """What is wrong on purpose here, and is not found."""
    key = {"name": "quorate-signer"}
    selectors = [{}, {"matchExpressions": [{"key": "quorate/client", "operator": "Exists"}]}]
    sources = [{kind: selector} for kind in ("podSelector", "namespaceSelector") for selector in selectors]
    sources += [{"ipBlock": {"cidr": "0.0.0.0/0"}}, SOURCES[0] | {"namespaceSelector": {}}]
    rules = [{"from": [SOURCES[0], source]} for source in sources]
    rules += [{}, {"from": []}, {"ports": [{"protocol": "TCP", "port": 9601}]}, {"ports": [*FOR_EVERYBODY, {"port": 9601}]}]
    policies = [{"ingress": [rule]} for rule in rules] + [{"policyTypes": ["Egress"]}]
    yield from (f"a policy that lets in everybody: {policy}" for policy in policies if not list(strangers(policy)))

    volumes = [{"secret": {"secretName": "quorate-signer"}}, {"projected": {"sources": [{"secret": key}]}}]
    ways = [({"volumeMounts": [{"name": "keys"}]}, {"name": "keys"} | volume) for volume in volumes]
    ways.append(({"envFrom": [{"secretRef": key}]}, {"name": "none"}))
    ways.append(({"env": [{"name": "KEY", "valueFrom": {"secretKeyRef": key}}]}, {"name": "none"}))
    for container, volume in ways:
        for kind in ("containers", "initContainers"):
            pod = {"containers": [], "volumes": [volume]} | {kind: [{"name": "node"} | container]}
            if list(secrets(pod)) != [("node", "quorate-signer")]:
                yield f"a node that sees the operator's key: {pod}"


def main():
    wrong, count = [f"this script overlooks {what}" for what in overlooked()], 0
    for overlay in OVERLAYS:
        built = subprocess.run([os.environ["KUSTOMIZE"], "build", overlay], capture_output=True, text=True)
        if built.returncode or built.stderr:
            sys.exit(f"{overlay.name}: {built.stderr}")
        resources = list(yaml.safe_load_all(built.stdout))
        kinds = [resource["kind"] for resource in resources]
        wrong += [f"{overlay.name}: there is no {kind}" for kind in ("NetworkPolicy", "PodDisruptionBudget", "Service") if kind not in kinds]
        wrong += [f"{overlay.name}: {why}" for why in (*unselected(resources), *misdirected(resources))]
        for resource in resources:
            count += 1
            what = f"{overlay.name}: {resource['kind']} {resource['metadata']['name']}"
            for version in VERSIONS:
                try:
                    kubernetes_validate.validate(resource, version, strict=True)
                except kubernetes_validate.ValidationError as error:
                    wrong.append(f"{what}: in version {version}: {error.message} at {'.'.join(map(str, error.path))}")
            if (pod := pod_of(resource)) is not None:
                wrong += [f"{what}: {why}" for why in confined(pod)]
                wrong += [f"{what}: {name} sees {secret}" for name, secret in secrets(pod) if (name, secret) not in SECRETS]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"kubernetes: {count} resources of {len(OVERLAYS)} overlays, {len(wrong)} wrong")
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
