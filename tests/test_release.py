"""Files of a release agree with pyproject.toml and with the version."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

from tamis import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def floors(requirements):
    found = (re.fullmatch(r"([A-Za-z0-9-]+)>=([0-9.]+)", requirement) for requirement in requirements)
    return {match[1]: match[2] for match in found if match}


def test_the_lowest_versions_are_those_that_are_supported():
    extras = PROJECT["optional-dependencies"]
    wanted = floors([*PROJECT["dependencies"], *extras["cli"], *extras["single-cell"], *extras["all"]])
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line)
    assert {name: pinned[name] for name in wanted if not pinned[name].startswith(wanted[name])} == {}


def test_the_pins_allow_what_the_extras_ask_for():
    pinned = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    asked = floors(sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"]))
    assert {name.lower().replace("-", "_") for name in asked} <= {name.replace("-", "_") for name in pinned}


def test_the_conda_recipe_asks_for_what_the_wheel_does():
    text = re.sub(r"{%.*?%}", "", (ROOT / "conda/meta.yaml").read_text()).replace("{{", "x #")
    run = yaml.safe_load(text)["requirements"]["run"]
    asked = {name.replace("pytorch", "torch"): floor for name, floor in (entry.split(" >=") for entry in run)}
    assert asked == floors(PROJECT["dependencies"]) | {"python": PROJECT["requires-python"].removeprefix(">=")}


@pytest.mark.parametrize("name", ["CITATION.cff", "codemeta.json", "conda/meta.yaml", "CHANGELOG.md"])
def test_files_name_the_version(name):
    assert __version__ in (ROOT / name).read_text()


def test_codemeta_names_the_dependencies():
    named = json.loads((ROOT / "codemeta.json").read_text())["softwareRequirements"]
    assert set(named[1:]) == set(floors(PROJECT["dependencies"]))
