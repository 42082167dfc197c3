"""Noisy MNIST: one uniform noise pattern for all images, switched on pixel by pixel with probability 0.2."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from research.paper.datasets import dataset, load_images, locate
from research.paper.formats import test_digits

SWITCHED_ON = 0.2


class Digits(NamedTuple):
    """Images in rows, pixels from 0 to 1, with labels that serve scoring only."""

    X: NDArray[np.float32]
    labels: NDArray[Any]
    X_test: NDArray[np.float32]
    labels_test: NDArray[Any]

    @property
    def side(self) -> int:
        """Width and height of an image."""
        return round(self.X.shape[1] ** 0.5)


def add_noise(X: NDArray[Any], pattern: NDArray[Any], rng: np.random.Generator) -> NDArray[np.float32]:
    """Return ``min(255, max(0, x + pattern ∘ m))`` with a mask m of its own for every image.

    The paper prints the minimum with 0 and the maximum with 255, which would make every image black.
    """
    mask = rng.random(X.shape, dtype=np.float32) < SWITCHED_ON
    return np.clip(X + pattern * mask, 0, 255).astype(np.float32)


@lru_cache(maxsize=1)
def noisy_digits(seed: int, quick: bool = False, clean: bool = False) -> Digits:
    """Return the training and test images with the noise of a seed, or without noise.

    Quick ones are the 8 × 8 digits of scikit-learn.
    """
    X, labels, X_test, labels_test = _bundled() if quick else _mnist()
    if clean:
        X, X_test = (part.astype(np.float32) / np.float32(255) for part in (X, X_test))
        return Digits(X, labels, X_test, labels_test)
    rng = np.random.default_rng(seed)
    pattern = rng.integers(0, 256, size=X.shape[1]).astype(np.float32)
    noisy = [add_noise(part, pattern, rng) / np.float32(255) for part in (X, X_test)]
    return Digits(noisy[0], labels, noisy[1], labels_test)


def _mnist() -> tuple[Any, ...]:
    X, labels = load_images("MNIST")
    X_test, labels_test = test_digits(locate(dataset("MNIST"))[0])
    return X, labels, X_test, labels_test


def _bundled() -> tuple[Any, ...]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    X = X * (255 / 16)
    return X[:400], y[:400], X[400:600], y[400:600]
