import pytest

from tamis.selectors import SELECTORS, by_class_name


def test_every_entry_is_a_selector_known_by_its_class_name():
    from tamis.base import FeatureSelector

    for name, selector in SELECTORS.items():
        assert issubclass(selector, FeatureSelector)
        assert by_class_name()[selector.__name__] is selector is SELECTORS[name]


def test_an_unknown_method_is_named_with_the_nearest_one():
    with pytest.raises(KeyError, match=r"There is no selector 'lsace'\. Did you mean 'lscae'\? Known: lscae, "):
        SELECTORS["lsace"]


def test_it_reads_like_a_mapping():
    assert "cae" in SELECTORS
    assert len(SELECTORS) == len(list(SELECTORS))
    assert repr(SELECTORS).startswith("Registry(['lscae'")
