import numpy as np
import pytest

from research.paper import formats


@pytest.mark.parametrize("prefix", ["X", "x"])
def test_digits_are_read_with_either_spelling_and_flattened(tmp_path, prefix):
    path = tmp_path / "mnist.npz"
    train, test = np.arange(24).reshape(2, 3, 4), np.arange(12).reshape(1, 3, 4)
    arrays = {f"{prefix}_train": train, f"{prefix}_test": test, "y_train": np.array([5, 7]), "y_test": np.array([1])}
    np.savez(path, **arrays)
    X, y = formats.digits([path])
    np.testing.assert_array_equal(X, train.reshape(2, 12))
    assert y.tolist() == [5, 7]
    X, y = formats.test_digits(path)
    assert X.shape == (1, 12)
    assert y.tolist() == [1]


def test_numbers_that_are_none_are_one_sentence(tmp_path):
    (tmp_path / "a.data").write_text("1 x\n")
    (tmp_path / "a.labels").write_text("1\n")
    with pytest.raises(ValueError, match=r"a\.data: cannot be read as rows of numbers"):
        formats.numbers_and_labels([tmp_path / "a.data", tmp_path / "a.labels"])
