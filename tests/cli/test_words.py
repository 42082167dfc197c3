"""Messages name options of the command line, and help shows what was typed."""

import re

import pytest

from tamis.cli.words import in_options

COMMANDS = [[], ["check"], ["select"], ["evaluate"], ["curve"], ["compare"], ["apply"], ["methods"]]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("n_features_to_select=4, but only 2 of the 5 features can be selected (0 in never; features with one value "
         "are left out). Ask for at most 2.",
         "-k 4, but only 2 of the 5 features can be selected (0 in --never; features with one value are left out). "
         "Ask for at most 2."),
        ("The 'max_epochs' parameter of LSCAE must be positive.", "--set max_epochs must be positive."),
        ("The 'n_init' parameter of LSCAE must be positive.", "--n-init must be positive."),
        ("max_epochs=3 is too few; try n_init=5.", "--set max_epochs=3 is too few; try --n-init 5."),
        ("a gap in feature 1", "a gap in feature 'b'"),
        ("It is never late.", "It is never late."),
    ],
)  # fmt: skip
def test_parameters_become_options(message, expected):
    assert in_options(message, ["max_epochs", "n_init"], ["a", "b"]) == expected


@pytest.mark.parametrize("arguments", COMMANDS)
def test_help_has_no_pictures_and_no_formulae(run, arguments):
    text = run(*arguments, "--help").stdout
    assert not re.search("[\U0001f000-\U0001ffff]", text)
    assert ":math:" not in text


def test_methods_are_told_in_words(run):
    text = run("methods").stdout
    assert "Rank features by their variance." in text
    assert not re.search(r"column|:math:|\\\\", text)


def test_messages_of_methods_name_options(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n4,5,3\n7,8,3\n2,2,3\n")
    result = run("select", "t.csv", "-k", 3, "-m", "variance")
    assert "-k 3, but only 2 of the 3 features can be selected" in result.stderr
