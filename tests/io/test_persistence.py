import json
import pickle
import sys
from dataclasses import dataclass, fields
from importlib import import_module

import numpy as np
import pytest
from safetensors.numpy import save as to_bytes

import tamis
from tamis import SELECTORS, Recipe
from tamis.io.persistence import LoadError, _decode, _encode
from tamis.structure import Structure
from tamis.verdict import Verdict as TrueVerdict


def fitted(name, X, quick, **further):
    cls = SELECTORS[name]
    known = cls._get_param_names()
    return cls(n_features_to_select=3, **{k: v for k, v in (quick | further).items() if k in known}).fit(X)


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_comes_back_as_it_was(name, blobs, quick, tmp_path):
    selector = fitted(name, blobs.X, quick)
    again = tamis.load(selector.save(tmp_path / "s.tamis"))
    assert type(again) is type(selector)
    np.testing.assert_array_equal(again.transform(blobs.X), selector.transform(blobs.X))
    assert vars(again).keys() == vars(selector).keys() - {"_kept_rows"}
    assert again.verdict_ == selector.verdict_
    np.testing.assert_array_equal(again.filler_, selector.filler_)
    if hasattr(selector, "reconstruct"):
        codes = selector.transform(blobs.X)
        np.testing.assert_array_equal(again.reconstruct(codes), selector.reconstruct(codes))
    copy = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(copy.transform(blobs.X), selector.transform(blobs.X))


def test_names_parameters_and_history_are_kept_but_not_code(blobs, quick, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs.X, columns=blobs.names)
    selector = fitted(
        "lscae", frame, quick, must_keep=["signal_0"], callbacks=[print_nothing], recipe=Recipe(hidden_units=(8,))
    )
    again = tamis.load(selector.save(tmp_path / "s.tamis"))
    assert again.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    assert again.callbacks == ()
    assert again.recipe == selector.recipe == Recipe(hidden_units=(8,))
    assert again.must_keep == ["signal_0"]
    assert again.history_.dtype == selector.history_.dtype
    np.testing.assert_array_equal(again.history_, selector.history_)


@pytest.mark.parametrize("container", [None, "default", "pandas"])
def test_what_transform_returns_is_kept(container, blobs, quick, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs.X, columns=blobs.names)
    selector = fitted("variance", frame, quick).set_output(transform=container)
    again = tamis.load(selector.save(tmp_path / "s.tamis"))
    assert type(again.transform(frame)) is type(selector.transform(frame))
    assert isinstance(again.transform(frame), pandas.DataFrame if container == "pandas" else np.ndarray)


@pytest.mark.parametrize("name", ["lscae", "structure-pursuit"])
def test_the_structure_comes_back(name, blobs, quick, tmp_path):
    selector = fitted(name, blobs.X, quick)
    again = tamis.load(selector.save(tmp_path / "s.tamis"))
    found, expected = again.structure_, selector.structure_
    assert type(found) is Structure
    for field in fields(Structure):
        if field.name != "directions":
            np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name))
    np.testing.assert_array_equal(found.directions.features, expected.directions.features)
    np.testing.assert_array_equal(found.directions.loadings, expected.directions.loadings)
    assert repr(found) == repr(expected)


def test_a_structure_that_was_not_tested_stays_unknown(blobs, quick, tmp_path):
    again = tamis.load(fitted("lscae", blobs.X, quick, recipe=Recipe(structure_first=False)).save(tmp_path / "s.tamis"))
    assert again.structure_ is None
    assert not again.filler_.any()


def test_the_verdict_is_reached_before_the_rows_are_left_behind(blobs, quick, tmp_path):
    selector = fitted("variance", blobs.X, quick)
    assert "verdict_" not in vars(selector)
    path = selector.save(tmp_path / "s.tamis")
    again = tamis.load(path)
    assert not hasattr(again, "_kept_rows")
    assert isinstance(again.verdict_, TrueVerdict)
    assert tamis.load(again.save(tmp_path / "again.tamis")).verdict_ == again.verdict_
    assert path.stat().st_size < 0.5 * blobs.X.nbytes


def print_nothing(epoch):
    return None


def test_a_selector_must_be_fitted(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        tamis.LSCAE().save(tmp_path / "s.tamis")
    assert not list(tmp_path.iterdir())


def test_values_of_all_kinds_survive():
    value = {
        "text": ("a", None, True, 1, 2.5, float("inf"), float("-inf")),
        "arrays": [np.arange(6).reshape(2, 3), np.array([]), np.array(3.0), np.array([True, False])],
        "words": np.array([["x", "y"]], dtype=object),
        "number": np.float32(0.5),
    }
    tensors = {}
    text = json.dumps(_encode(value, "v", tensors))
    again = _decode(json.loads(text), tensors)
    assert again["text"] == value["text"]
    for a, b in zip(again["arrays"], value["arrays"], strict=True):
        np.testing.assert_array_equal(a, b)
    assert again["words"].tolist() == [["x", "y"]]


def test_what_cannot_be_saved_is_named(blobs, quick, tmp_path):
    selector = fitted("lscae", blobs.X, quick)
    selector.odd_ = object()
    with pytest.raises(TypeError, match=r"odd_ cannot be saved: it is a object"):
        selector.save(tmp_path / "s.tamis")
    selector.odd_ = np.array([1j])
    with pytest.raises(TypeError, match=r"odd_ cannot be saved: it is an array of complex128"):
        selector.save(tmp_path / "s.tamis")
    assert not list(tmp_path.iterdir())


@dataclass(frozen=True)
class Verdict:
    """A class with the name of a record that is none."""

    trusted: bool


def test_other_dataclasses_are_not_saved():
    with pytest.raises(TypeError, match=r"odd_ cannot be saved: it is a Verdict"):
        _encode(Verdict(True), "odd_", {})


@pytest.fixture
def saved(blobs, quick, tmp_path):
    return fitted("lscae", blobs.X, quick).save(tmp_path / "s.tamis")


def changed(path, change):
    """Write the file again with another header."""
    from safetensors import safe_open

    with safe_open(path, framework="np") as opened:
        document = json.loads(opened.metadata()["tamis"])
        tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    change(document, tensors)
    path.write_bytes(to_bytes(tensors, metadata={"tamis": json.dumps(document)}))
    return path


def shorten(document, tensors, name):
    """Leave out the last value of an array of the structure."""
    tensors[name] = tensors[name][:-1]
    dict(document["fitted"]["structure_"]["$Structure"])[name.partition(".")[2]]["shape"] = [len(tensors[name])]


def nested(depth):
    """Return lists within lists."""
    found = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d, t: d.update(format=2), r"is in format 2 \(written by tamis .*which reads format 1"),
        (lambda d, t: d.update(selector="Popen"), r"there is no selector 'Popen'"),
        (lambda d, t: d["parameters"].update(strange=1), r"unexpected keyword argument 'strange'"),
        (lambda d, t: d["fitted"].update(fit=1), r"'fit' is not the name of a fitted attribute"),
        (lambda d, t: d["fitted"].update(__class__=1), r"'__class__' is not the name of a fitted attribute"),
        (lambda d, t: d["fitted"].pop("support_"), r"support_"),
        (lambda d, t: d["fitted"].update(n_features_in_=99), r"its arrays do not fit together"),
        (lambda d, t: d["fitted"].update(x_={"$run": 1}), r"there is no record .\$run"),
        (lambda d, t: d["fitted"].update(x_={"$Popen": {}}), r"there is no record '.Popen'"),
        (lambda d, t: d["fitted"].update(x_={"$Verdict": [["odd", 1]]}), r"keyword argument 'odd'"),
        (lambda d, t: d["fitted"].pop("verdict_"), r"its arrays do not fit together"),
        (lambda d, t: t.update({"structure_.structured": np.array([True])}), r"cannot reshape"),
        (lambda d, t: shorten(d, t, "structure_.pvalues"), r"its arrays do not fit together"),
        (lambda d, t: t.pop("scores_"), r"scores_"),
        (lambda d, t: t.update(selected_=t["selected_"] * 0), r"its arrays do not fit together"),
        (lambda d, t: d.pop("fitted"), r"fitted"),
        (lambda d, t: d.update(fitted=[1]), r"damaged"),
        (lambda d, t: d["fitted"].update(x_=nested(sys.getrecursionlimit() - 100)), r"s\.tamis is damaged .*recursion"),
    ],
)
def test_damaged_and_foreign_files_get_a_sentence(saved, change, sentence):
    with pytest.raises(LoadError, match=sentence):
        tamis.load(changed(saved, change))


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 7, b"hello", b"\xff" * 100, to_bytes({"a": np.zeros(2)}), to_bytes({}, metadata={"tamis": "["}),
     to_bytes({}, metadata={"tamis": "[]"}), to_bytes({}, metadata={"tamis": "[" * 100_000})],
)  # fmt: skip
def test_other_files_get_a_sentence(content, tmp_path):
    path = tmp_path / "s.tamis"
    path.write_bytes(content)
    with pytest.raises(LoadError, match=r"s\.tamis (is|holds)"):
        tamis.load(path)


def test_a_cut_file_gets_a_sentence(saved):
    saved.write_bytes(saved.read_bytes()[:-10])
    with pytest.raises(LoadError, match=r"damaged"):
        tamis.load(saved)


class Bomb:
    def __reduce__(self):
        return import_module("pathlib").Path.touch, (Bomb.target,)


@pytest.mark.parametrize("wrap", [pickle.dumps, lambda bomb: b"\x80\x04" + pickle.dumps(bomb)])
def test_a_malicious_pickle_is_never_run(tmp_path, wrap):
    Bomb.target = tmp_path / "exploded"
    path = tmp_path / "selector.tamis"
    path.write_bytes(wrap(Bomb()))
    with pytest.raises(LoadError):
        tamis.load(path)
    assert not Bomb.target.exists()
    pickle.loads(pickle.dumps(Bomb()))
    assert Bomb.target.exists()


def test_a_missing_file_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        tamis.load(tmp_path / "none.tamis")
