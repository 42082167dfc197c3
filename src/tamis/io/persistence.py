"""Fitted selectors as files: numbers as safetensors, everything else as JSON in the same file's header.

A file names its selector by class name, which is looked up in the registry, so that loading imports nothing that the
file asks for and executes no code of it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._version import __version__
from tamis.io.errors import first_line
from tamis.io.files import replacing

FORMAT = 1
"""Version of the layout; it changes when an older tamis could not read the file."""

HEADER = "tamis"
LEFT_OUT = ("callbacks", "checkpoint_dir")
"""Parameters that are code, or a place on the machine of the fit; a loaded selector has their defaults."""

RECORDS = {
    "Recipe": "tamis.lscae.recipe",
    "Structure": "tamis.structure.find",
    "Directions": "tamis.structure.directions",
    "Verdict": "tamis.verdict",
}
"""Frozen dataclasses that fitted attributes may be, and their modules; no file can ask for another class."""

Tensors = dict[str, NDArray[Any]]


class LoadError(ValueError):
    """A file is not a saved selector, or not one that this version reads."""


def save(selector: Any, path: str | PathLike[str]) -> Path:
    """Write the parameters and fitted attributes of a selector, atomically, and return the path."""
    from safetensors.numpy import save as to_bytes
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(selector)
    _ = selector.verdict_  # computed here at the latest: the rows that it needs are not saved
    tensors: Tensors = {}
    # A RandomState is a stream that has moved on; what it was at the beginning of the fit is not known any more.
    streams = (np.random.RandomState, np.random.Generator)
    given = {name: value for name, value in selector.get_params(deep=False).items() if name not in LEFT_OUT}
    parameters = {name: _encode(v, name, tensors) for name, v in given.items() if not isinstance(v, streams)}
    fitted = {name: _encode(v, name, tensors) for name, v in vars(selector).items() if _is_fitted_name(name)}
    document: dict[str, Any] = {"format": FORMAT, "tamis": __version__, "selector": type(selector).__name__}
    output = getattr(selector, "_sklearn_output_config", {}).get("transform")
    document |= {"parameters": parameters, "fitted": fitted, "output": output}
    content = to_bytes(tensors, metadata={HEADER: json.dumps(document)})
    with replacing(path) as temporary:
        temporary.write_bytes(content)
    return Path(path)


def load(path: str | PathLike[str], classes: Mapping[str, Callable[..., Any]]) -> Any:
    """Read a fitted selector that :func:`save` wrote, of one of the classes, which are given by name."""
    document, tensors = _open(Path(path))
    if document.get("format") != FORMAT:
        found = f"{path} is in format {document.get('format')!r} (written by tamis {document.get('tamis')})"
        own = f"this is tamis {__version__}, which reads format {FORMAT}"
        raise LoadError(f"{found}; {own}. Install the tamis that wrote it, or save it anew.")
    try:
        return _rebuild(document, tensors, classes)
    except MemoryError as error:
        raise LoadError(f"{path} is too large for the memory of this machine, or damaged; save it anew.") from error
    except Exception as error:
        # A class is made from what the file says; whatever it stumbles over is a fault of the file.
        raise LoadError(f"{path} is damaged or was changed by hand: {_reason(error)}; save it anew.") from error


def _open(path: Path) -> tuple[dict[str, Any], Tensors]:
    from safetensors import SafetensorError, safe_open

    if path.exists() and not path.is_file():
        raise LoadError(f"{path} is a folder, a pipe or a device, not a file; name the saved selector.")
    path.open("rb").close()  # safetensors words a missing or forbidden file in its own way; this is the usual OSError.
    try:
        with safe_open(path, framework="np") as opened:
            header = (opened.metadata() or {}).get(HEADER)
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (not a dict)
        document = None if header is None else json.loads(header)
    except (SafetensorError, OSError, ValueError, LookupError, TypeError, RuntimeError, MemoryError) as error:
        fault = f"is not a saved selector, or it is damaged ({_reason(error)})"
        raise LoadError(f"{path} {fault}; save it anew.") from error
    if not isinstance(document, dict):
        raise LoadError(f"{path} holds tensors, but was not written by tamis, or it is damaged; save it anew.")
    return document, tensors


def _rebuild(document: dict[str, Any], tensors: Tensors, classes: Mapping[str, Any]) -> Any:
    if (name := document["selector"]) not in classes:
        raise KeyError(f"there is no selector {name!r} in tamis {__version__}")
    selector = classes[name](**{key: _decode(value, tensors) for key, value in document["parameters"].items()})
    for key, value in document["fitted"].items():
        if not key.isidentifier() or not _is_fitted_name(key):
            raise ValueError(f"{key!r} is not the name of a fitted attribute")
        setattr(selector, key, _decode(value, tensors))
    if (container := document.get("output")) in ("default", "pandas", "polars"):
        selector.set_output(transform=container)
    if not _fits_together(selector):
        raise ValueError("its arrays do not fit together")
    return selector


def _fits_together(selector: Any) -> bool:
    """Return whether the attributes that all selectors share fit together."""
    d, k, structure = selector.n_features_in_, len(selector.selected_), vars(selector).get("structure_")
    columns = [selector.ranking_, selector.scores_]
    masks = [selector.support_]
    if structure is not None:
        masks += [structure.structured, structure.modal]
        columns += [structure.pvalues, structure.partner, structure.share, structure.n_copies]
    return (
        isinstance(d, int)
        and all(values.shape == (d,) for values in columns + masks)
        and all(mask.dtype == bool for mask in masks)
        and np.array_equal(np.sort(selector.selected_), np.flatnonzero(selector.support_))
        and np.array_equal(np.sort(selector.ranking_), np.arange(1, d + 1))
        and np.array_equal(selector.ranking_[selector.selected_], np.arange(1, k + 1))
        and len(getattr(selector, "feature_names_in_", range(d))) == d
        and type(vars(selector).get("verdict_")).__name__ == "Verdict"
    )


def _is_fitted_name(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _encode(value: Any, name: str, tensors: Tensors) -> Any:
    """Turn a value into JSON; arrays of numbers go into ``tensors``, other kinds are marked ``{"$kind": ...}``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, set | frozenset) or hasattr(value, "to_numpy"):
        value = list(value)  # as a Series or an Index of pandas, whose labels may be of several kinds
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray) and value.dtype.names is None:
        return _encode_array(value, name, tensors)
    if isinstance(value, list | tuple):
        found = [_encode(part, f"{name}.{i}", tensors) for i, part in enumerate(value)]
        return {"$tuple": found} if isinstance(value, tuple) else found
    kind, parts = _parts(value, name)
    found = [[_encode(key, name, tensors), _encode(part, f"{name}.{key}", tensors)] for key, part in parts.items()]
    return {kind: found}


def _parts(value: Any, name: str) -> tuple[str, Mapping[Any, Any]]:
    """Return what holds further values by name, and its kind: a table with named columns, a record or a mapping."""
    if isinstance(value, np.ndarray):
        return "$table", {field: value[field] for field in value.dtype.names or ()}
    if RECORDS.get(type(value).__name__) == type(value).__module__:
        return f"${type(value).__name__}", {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return "$dict", value
    raise TypeError(f"{name} cannot be saved: it is a {type(value).__name__}, not numbers, text or a list of them.")


def _encode_array(value: NDArray[Any], name: str, tensors: Tensors) -> Any:
    if value.dtype.kind in "OUST":
        return {"$strings": [str(cell) for cell in value.ravel()], "shape": list(value.shape)}
    if value.dtype.kind not in "biuf":
        raise TypeError(f"{name} cannot be saved: it is an array of {value.dtype}, not of numbers or text.")
    tensors[name] = np.ascontiguousarray(value)
    return {"$array": name, "shape": list(value.shape)}


def _decode(value: Any, tensors: Tensors) -> Any:
    """Turn JSON back into what :func:`_encode` was given."""
    if isinstance(value, list):
        return [_decode(part, tensors) for part in value]
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()))
    if kind == "$tuple":
        return tuple(_decode(content, tensors))
    if kind in ("$strings", "$array"):
        found = tensors[content] if kind == "$array" else np.array(content, dtype=object)
        return found.reshape(value["shape"])
    if kind not in ("$dict", "$table") and kind[1:] not in RECORDS:
        raise KeyError(f"there is no record {kind!r} in tamis {__version__}")
    parts = {_decode(key, tensors): _decode(part, tensors) for key, part in content}
    if kind == "$dict":
        return parts
    if kind == "$table":
        types = [(name, column.dtype) for name, column in parts.items()]
        return np.rec.fromarrays(list(parts.values()), dtype=types).view(np.ndarray)
    return getattr(import_module(RECORDS[kind[1:]]), kind[1:])(**parts)


def _reason(error: BaseException) -> str:
    """Return the first line of an error's text, without the quotes that KeyError adds."""
    return first_line(Exception(error.args[0])) if error.args else first_line(error)
