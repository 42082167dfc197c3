import pytest

from tamis.selectors import SELECTORS, class_names


def test_every_entry_is_a_selector_known_by_its_class_name():
    from tamis.base import FeatureSelector

    for name, selector in SELECTORS.items():
        assert issubclass(selector, FeatureSelector)
        assert class_names()[selector.__name__] == name


def test_an_unknown_method_is_named_with_the_nearest_one():
    with pytest.raises(KeyError, match=r"There is no selector 'lsace'\. Did you mean 'lscae'\? Known: lscae, "):
        SELECTORS["lsace"]


def test_it_reads_like_a_mapping():
    assert "cae" in SELECTORS
    assert len(SELECTORS) == len(list(SELECTORS))
    assert repr(SELECTORS).startswith("Registry(['lscae'")
