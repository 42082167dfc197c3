import importlib.util

import pytest

from research.paper.backends import cluster
from research.paper.run import Run


def test_local_needs_no_context():
    assert cluster("local") is None


def test_unknown_backends_are_named():
    with pytest.raises(ValueError, match="--backend takes one of local, dask, ray; got 'slurm'"):
        cluster("slurm")


def test_an_address_belongs_to_a_cluster():
    with pytest.raises(ValueError, match="--address belongs to --backend dask or ray"):
        cluster("local", "tcp://head:8786")


@pytest.mark.parametrize(("name", "sentence"), [("dask", r"pip install \"tamis\[all\]\""), ("ray", "pip install ray")])
def test_a_missing_package_is_named(monkeypatch, name, sentence):
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None)
    with pytest.raises(ImportError, match=f"--backend {name} needs the package .*{sentence}"):
        cluster(name)


@pytest.mark.filterwarnings(
    "ignore"
)  # The shutdown of a Dask cluster warns of what it leaves to the garbage collector.
def test_a_local_dask_cluster_does_the_trials(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, processes=True) as made:
        run = Run("bound", tmp_path, quick=True, cluster=cluster("dask", made.scheduler_address))
        outcomes = list(run.go())
    assert [outcome.problem for outcome in outcomes] == [""] * 6
    assert len(run.ledger.rows()) == 6
