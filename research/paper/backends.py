"""Where the trials run: on this machine's cores, or on a Dask or Ray cluster."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

BACKENDS = ("local", "dask", "ray")


def cluster(name: str, address: str | None = None) -> Callable[[], AbstractContextManager[Any]] | None:
    """Return the context within which joblib sends its work to a cluster, None for this machine's cores.

    Parameters
    ----------
    name : {"local", "dask", "ray"}
        Kind of cluster.
    address : str, optional
        Of a running one; without it, one is started on this machine.
    """
    if name not in BACKENDS:
        raise ValueError(f"--backend takes one of {', '.join(BACKENDS)}; got {name!r}.")
    if name == "local":
        if address is not None:
            raise ValueError("--address belongs to --backend dask or ray.")
        return None
    _require(name)
    return lambda: {"dask": _dask, "ray": _ray}[name](address)


def _require(name: str) -> None:
    from importlib.util import find_spec

    module = {"dask": "distributed", "ray": "ray"}[name]
    if find_spec(module) is None:
        wanted = {"dask": '"tamis[all]"', "ray": "ray"}[name]
        raise ImportError(f"--backend {name} needs the package {module}; install it with pip install {wanted}.")


@contextmanager
def _dask(address: str | None) -> Iterator[None]:
    from distributed import Client
    from joblib import parallel_config

    # Without a dashboard and one thread a worker: fits of torch and BLAS bring their own threads.
    local: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    with Client(address) if address else Client(**local) as client, parallel_config("dask", client=client):
        yield


@contextmanager
def _ray(address: str | None) -> Iterator[None]:
    import ray
    from joblib import parallel_config
    from ray.util.joblib import register_ray

    ray.init(address=address, ignore_reinit_error=True)
    register_ray()
    try:
        with parallel_config("ray"):
            yield
    finally:
        ray.shutdown()
