"""Messages of the library in the words of the command line: options instead of parameters."""

import re
from collections.abc import Callable, Sequence

OPTIONS = {"n_features_to_select": "-k", "n_genes": "-k", "random_state": "--seed"}
OPTIONS |= {n: f"--{n.replace('_', '-')}" for n in ("must_keep", "never", "n_init", "batch_key", "gene_key")}
"""Parameters that have an option of their own; all others are set by --set."""

FOLLOWING = r" holds| names| takes| and | lists|\)|;|,|\.| must|$"
"""What comes after the name of a parameter where it is one; never, for example, is also a word."""

PHRASES: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"\bThe '(\w+)' parameter of \w+\b": lambda found: OPTIONS.get(found[1], f"--set {found[1]}"),
    r"\bPass more rows, or transpose X if its samples are in columns\b": (
        "Pass a table with more rows, or --transpose if its features are in rows"
    ),
    r"\bFill the gaps \(for example with sklearn\.impute\.SimpleImputer\)": "Fill the gaps with --missing median",
    r"\bPass a DataFrame or positions\b": "Name the features",
    r"\bCheck how X was read\b": "Look at what was read with tamis check",
    r"\bName them in must_keep to select them all the same\b": "Name them with --must-keep to select them all the same",
    r"\bCheck the parameter\b": "Check the option",
    r"\bthe (\d+) features of X holds\b": r"the \1 features holds",
    r"\bX has\b": "the table has",
    r"\bX holds\b": "The table holds",
    r"\b(of|in|as|Pass) X\b": r"\1 the table",
}


def in_options(message: str, parameters: Sequence[str] = (), names: Sequence[str] = ()) -> str:
    """Return a message with options where the library names parameters, and names where it has features' positions.

    Parameters of the method that have no option of their own are set by ``--set``.
    """
    message = re.sub(r"\bfeature (\d+)\b", lambda found: _named(found, names), message)
    for pattern, words in PHRASES.items():
        message = re.sub(pattern, words, message)
    for name, option in OPTIONS.items():
        message = re.sub(rf"\b{name}=(\S)", rf"{option} \1", message)
        message = re.sub(rf"(?<![\w-]){name}\b(?={FOLLOWING})", option, message)
    for name in parameters:
        if name not in OPTIONS:
            message = re.sub(rf"(?<![\w-]){name}=(\S)", rf"--set {name}=\1", message)
    return message


def _named(found: re.Match[str], names: Sequence[str]) -> str:
    return f"feature {names[int(found[1])]!r}" if int(found[1]) < len(names) else found[0]
