import joblib
import numpy as np
import pytest

from tamis import CAE, LSCAE, VarianceScore, fit_many, open_source


@pytest.fixture
def selectors(quick):
    return [LSCAE(2, **quick), LSCAE(3, **quick), CAE(2, **quick), VarianceScore(2)]


def same(found, expected):
    return [one.selected_.tolist() for one in found] == [other.selected_.tolist() for other in expected]


def test_fits_come_in_order_and_leave_the_selectors_alone(selectors, blobs):
    found = fit_many(selectors, blobs.X)
    assert [type(one).__name__ for one in found] == ["LSCAE", "LSCAE", "CAE", "VarianceScore"]
    assert same(found, [type(one)(**one.get_params()).fit(blobs.X) for one in selectors])
    assert not hasattr(selectors[0], "selected_")


def test_callbacks_stay_behind(blobs, quick):
    told = []
    fit_many([LSCAE(2, **quick, callbacks=told.append)], blobs.X)
    assert told == []


@pytest.mark.filterwarnings("ignore")  # Dask and its web server have warnings of their own
def test_fits_run_on_a_dask_cluster(selectors, blobs, tmp_path):
    distributed = pytest.importorskip("distributed")
    np.save(tmp_path / "blobs.npy", blobs.X)
    here = fit_many(selectors, blobs.X)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, local_directory=str(tmp_path)
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        assert len(client.scheduler_info()["workers"]) == 2
        assert same(fit_many(selectors, blobs.X, n_jobs=2), here)
        assert same(fit_many(selectors, open_source(tmp_path / "blobs.npy"), n_jobs=2), here)
