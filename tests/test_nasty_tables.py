"""Every method on tables that nobody would pass on purpose: a sensible selection, or one plain sentence."""

import warnings

import numpy as np
import pytest
from quick_selectors import make
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from tamis import SELECTORS
from tamis.features import TiedScoresWarning


def blobs(n=30, d=8):
    X = np.random.default_rng(1).normal(size=(n, d))
    X[: n // 2, [1, 4]] += 6
    return X


def replaced(X, feature, values):
    X = X.copy()
    X[:, feature] = values
    return X


def read_only(X):
    X.flags.writeable = False
    return X


def with_explicit_zeros(X):
    X.data[::3] = 0
    return X


B = blobs()
COUNTS = np.random.default_rng(2).poisson(0.5, size=(30, 8))

TABLES = {
    "a constant feature": replaced(B, 0, 3.0),
    "one feature that varies": replaced(np.ones((30, 8)), slice(0, 3), B[:, :3]),
    "features twice": np.hstack([B[:, :4]] * 2),
    "one feature eight times": np.repeat(B[:, 1:2], 8, axis=1),
    "one huge value": np.where(np.arange(240).reshape(30, 8) == 0, 1e300, B),
    "1e300": B * 1e300,
    "1e150": B * 1e150,
    "1e-150": B * 1e-150,
    "1e-280": B * 1e-280,
    "scales from 1e-280 to 1e300": B * np.logspace(-280, 300, 8),
    "sparse 1e300": csr_array(np.where(B > 0, B, 0) * 1e300),
    "shifted by 1e12": B + 1e12,
    "shifted by 1e16": B + 1e16,
    "integers": (B * 10).astype(int),
    "all of int64": np.random.default_rng(2).integers(-(2**63), 2**63 - 1, size=(30, 8)),
    "uint8": np.abs(B * 10).astype(np.uint8),
    "bool": B > 0,
    "float16": B.astype(np.float16),
    "float32": B.astype(np.float32),
    "long double": B.astype(np.longdouble),
    "objects": B.astype(object),
    "Fortran order": np.asfortranarray(B),
    "strided": np.repeat(B, 2, axis=1)[:, ::2],
    "read-only": read_only(blobs()),
    "three rows": blobs(3),
    "four rows": blobs(4),
    "wide": blobs(6, 60),
    "k is d": B,
    "fewer rows than k": blobs(4, 12),
    "an outlier": np.vstack([B, np.full((1, 8), 1e9)]),
    "rows equal but one": np.vstack([np.ones((29, 8)), np.full((1, 8), 2.0)]),
    "rows six times": np.vstack([blobs(5)] * 6),
    "two distinct rows": np.repeat(blobs(2), 15, axis=0),
    "one feature": B[:, :1],
    "one-hot": np.eye(8)[np.arange(30) % 8],
    "negative zeros": np.where(B > 0, -0.0, B),
    "int8 sparse": csr_array(COUNTS.astype(np.int8)),
    "explicit zeros": with_explicit_zeros(csr_array(COUNTS.astype(float))),
}

REFUSED = {
    "all rows equal": np.ones((30, 8)),
    "subnormal numbers": B * 1.5e-323,
    "a subnormal feature": replaced(B, 1, B[:, 1] * 1e-320),
    "beyond 1e307": replaced(B, 0, np.where(B[:, 0] > 0, 1.7e308, -1.7e308)),
    "two rows": blobs(2),
    "an infinite value": replaced(B, 3, np.inf),
    "nothing but never": B,
}


def fitted(selector, X):
    """Fit, and return the categories of all warnings, which must be meant for the user."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        selector.fit(X)
    told = {warning.category for warning in heard}
    assert {category.__module__.partition(".")[0] for category in told - {ConvergenceWarning}} <= {"tamis"}
    return told


def is_plain(message):
    return "\n" not in message and len(message) < 450 and message.endswith(".") and " " in message


every_method = pytest.mark.parametrize("method", SELECTORS)


@every_method
@pytest.mark.parametrize("name", TABLES)
def test_a_sensible_selection(method, name):
    X = TABLES[name]
    k = {"k is d": 8, "fewer rows than k": 6}.get(name, min(3, X.shape[1]))
    selector = make(method, k)
    told = fitted(selector, X)
    assert len(set(selector.selected_.tolist())) == k
    assert sorted(selector.ranking_) == list(range(1, X.shape[1] + 1))
    assert not np.isnan(selector.scores_).any()
    if TiedScoresWarning not in told:
        assert np.isfinite(selector.scores_[selector.selected_]).all()
        assert X.shape[1] == k or np.ptp(selector.scores_[np.isfinite(selector.scores_)]) > 0


@every_method
@pytest.mark.parametrize("name", REFUSED)
def test_a_plain_sentence(method, name):
    never = range(8) if name == "nothing but never" else ()
    with pytest.raises(ValueError, match=r"feature|column|row") as refusal:
        fitted(make(method, 3, never=never), REFUSED[name])
    assert is_plain(str(refusal.value))


@pytest.mark.parametrize("method", [name for name in SELECTORS if "scale" in SELECTORS[name]().get_params()])
@pytest.mark.parametrize("scale", ["center", None])
def test_what_is_not_scaled_must_be_of_a_size_to_compute_with(method, scale):
    with pytest.raises(ValueError, match=r"values beyond 1e\+15, .* Use scale='standard'"):
        make(method, 3, scale=scale).fit(B * 1e16)
    fitted(make(method, 3, scale=scale), TABLES["an outlier"])


@every_method
def test_features_that_cannot_be_scaled_are_named(method):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(REFUSED["a subnormal feature"], columns=list("abcdefgh"))
    with pytest.raises(ValueError, match=r"'b'.* cannot be scaled in double precision"):
        make(method, 3).fit(X)
