"""Every selector, so that it fits in milliseconds."""

from tamis import SELECTORS

QUICK = {
    "lscae": {"max_epochs": 2},
    "cae": {"max_epochs": 2},
    "concrete-laplacian": {"max_epochs": 2},
    "aefs": {"max_epochs": 2},
    "dufs": {"max_epochs": 2},
    "srcfs": {"n_subspaces": 3, "n_partitions": 2},
}


def make(method, k=None, **parameters):
    selector = SELECTORS[method](k, **QUICK.get(method, {}) | parameters)
    return selector.set_params(random_state=0) if "random_state" in selector.get_params() else selector
