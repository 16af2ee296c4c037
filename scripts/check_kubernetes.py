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


def pod_of(resource):
    return resource.get("spec", {}).get("template", {}).get("spec")


def confined(pod):
    """What of a pod is not confined."""
    if pod.get("automountServiceAccountToken") is not False:
        yield "a token of the cluster is mounted"
    security = pod.get("securityContext", {})
    if security.get("runAsNonRoot") is not True or not security.get("runAsUser"):
        yield "it may run as root"
    if pod.get("hostNetwork") or pod.get("hostPID") or pod.get("shareProcessNamespace"):
        yield "it shares the machine's network or processes"
    for container in pod["containers"]:
        name, own = container["name"], container.get("securityContext", {})
        if own.get("readOnlyRootFilesystem") is not True:
            yield f"{name} writes to its image"
        if own.get("allowPrivilegeEscalation") is not False or own.get("capabilities", {}).get("drop") != ["ALL"]:
            yield f"{name} may get more rights"
        if "memory" not in container.get("resources", {}).get("limits", {}):
            yield f"{name} has no limit of memory"
        if "readinessProbe" not in container:
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
        for rule in spec.get("ingress", []) if kind == "NetworkPolicy" else []:
            for source in rule.get("from", []):
                if source.get("podSelector", {}).get("matchLabels", {"quorate/client": "true"}) != {"quorate/client": "true"}:
                    yield f"{kind} {name} lets in {source}"


def secrets(pod):
    """Where keys are mounted: by container."""
    of_keys = {volume["name"]: volume["secret"]["secretName"] for volume in pod.get("volumes", []) if "secret" in volume}
    for container in pod["containers"]:
        for mount in container.get("volumeMounts", []):
            if mount["name"] in of_keys:
                yield container["name"], of_keys[mount["name"]]


def main():
    wrong, count = [], 0
    for overlay in OVERLAYS:
        built = subprocess.run([os.environ["KUSTOMIZE"], "build", overlay], capture_output=True, text=True)
        if built.returncode or built.stderr:
            sys.exit(f"{overlay.name}: {built.stderr}")
        resources = list(yaml.safe_load_all(built.stdout))
        kinds = [resource["kind"] for resource in resources]
        wrong += [f"{overlay.name}: there is no {kind}" for kind in ("NetworkPolicy", "PodDisruptionBudget", "Service") if kind not in kinds]
        wrong += [f"{overlay.name}: {why}" for why in unselected(resources)]
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
                # The node does not see the operator's key.
                allowed = {("signer", "quorate-signer"), ("node", "quorate-node-payer")}
                wrong += [f"{what}: {name} sees {secret}" for name, secret in secrets(pod) if (name, secret) not in allowed]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"kubernetes: {count} resources of {len(OVERLAYS)} overlays, {len(wrong)} wrong")
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
