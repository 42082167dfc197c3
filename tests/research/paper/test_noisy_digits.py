import numpy as np

from research.paper.noisy_digits import add_noise, noisy_digits


def test_noise_is_one_pattern_switched_on_in_a_fifth_of_the_pixels():
    rng = np.random.default_rng(0)
    pattern = np.array([0, 100, 255], dtype=np.float32)
    noisy = add_noise(np.full((20_000, 3), 10.0), pattern, rng)
    assert set(np.unique(noisy[:, 1])) == {10, 110}
    assert set(np.unique(noisy[:, 2])) == {10, 255}  # Clipped.
    assert (noisy[:, 0] == 10).all()
    assert abs((noisy[:, 1] == 110).mean() - 0.2) < 0.01


def test_every_seed_has_its_pattern_and_pixels_lie_between_0_and_1():
    first, again, other = noisy_digits(0, quick=True), noisy_digits(0, quick=True), noisy_digits(1, quick=True)
    np.testing.assert_array_equal(first.X, again.X)
    assert (first.X != other.X).any()
    assert first.X.min() >= 0
    assert first.X.max() <= 1
    assert first.side == 8
    assert len(first.X_test) == len(first.labels_test)


def test_clean_images_have_no_noise():
    clean, other = noisy_digits(0, quick=True, clean=True), noisy_digits(1, quick=True, clean=True)
    np.testing.assert_array_equal(clean.X, other.X)
    assert clean.X.max() <= 1
    assert (clean.X <= noisy_digits(0, quick=True).X + 1e-6).all()
