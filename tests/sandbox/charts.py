"""The fixture charts, rendered by Helm's own code: the helm_python package, or a helm binary on PATH or in $HELM."""

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

Object = dict[str, Any]
ROOT = Path(__file__).resolve().parents[2]
CHARTS = ROOT / "sandbox" / "charts"
SCHEMAS = ROOT.parent / "shared" / "schemas"

needs_published = pytest.mark.skipif(not SCHEMAS.is_dir(), reason="../shared/schemas is not here")


class RenderError(Exception):
    """What a template said in `fail`."""


def helm() -> str | None:
    return os.environ.get("HELM") or shutil.which("helm")


needs_renderer = pytest.mark.skipif(
    not (importlib.util.find_spec("helm_python") or helm()), reason="neither package helm-python-sdk nor helm is here"
)


def render(chart: str, values: Object, namespace: str = "there") -> list[Object]:
    """Return every object of a chart, hooks too, in no order; the release has the chart's name."""
    texts = _by_package(chart, values, namespace) if importlib.util.find_spec("helm_python") else None
    texts = _by_binary(chart, values, namespace) if texts is None else texts
    return [one for text in texts for one in yaml.safe_load_all(text) if one]


def one(found: list[Object], kind: str, name: str) -> Object:
    return next(each for each in found if each["kind"] == kind and each["metadata"]["name"] == name)


def defaults(chart: str) -> Object:
    return load(CHARTS / chart / "values.yaml")[0]


def load(file: Path) -> list[Object]:
    return [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]


def _by_package(chart: str, values: Object, namespace: str) -> list[str]:
    package = importlib.import_module("helm_python")
    try:
        with package.Chart.load(str(CHARTS / chart)) as loaded:
            return list(loaded.render(values, name=chart, namespace=namespace).values())
    except package.HelmError as error:
        raise RenderError(str(error)) from None


def _by_binary(chart: str, values: Object, namespace: str) -> list[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(values, file)
        file.flush()
        command = [helm() or "helm", "template", chart, str(CHARTS / chart), "--namespace", namespace, "-f", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RenderError(done.stderr)
    return [done.stdout]
