from research.paper.experiments import tuning
from research.paper.fits import WAYS
from tamis.lscae.recipe import PAPER, PUBLIC_CODE


def row(data, setting, k, accuracy):
    scores = dict.fromkeys(WAYS, accuracy) | {"accuracy": accuracy + 0.1}
    return {"trial": {"data": data, "setting": setting, "k": k}, **scores}


def test_the_best_k_of_every_setting_is_listed_beside_print():
    rows = [
        row("Yale", "defaults", 50, 0.40),
        row("Yale", "defaults", 100, 0.35),
        row("Yale", "bandwidth 0.2", 50, 0.3),
    ]
    table = tuning.tables(rows)[0]
    assert table.headings == ["data set", "defaults", "bandwidth 0.2", "best of all, any way", "printed"]
    assert table.rows == [["Yale", "40.0", "30.0", "50.0", "48.0"]]


def test_the_verdict_names_what_stays_short():
    text = tuning.verdict([row("Yale", "defaults", 50, 0.40), row("ALLAML", "defaults", 50, 0.50)])
    assert "on 1 of 2 sets; it stays short on ALLAML (-16.5)" in text
    assert "nothing to compare" in tuning.verdict([row("goolam", "defaults", 50, 0.5)])


def test_a_setting_reaches_the_fit():
    trial = {"data": tuning.trials(True)[0]["data"], "setting": "bandwidth 0.2", "k": 3, "quick": True}
    found = tuning.work(trial, None)
    assert tuple(found["settings"]["bandwidth"]) == ("mean", 0.2)
    assert len(found["selected"]) == 3
    assert found.keys() >= WAYS.keys()


def test_recipes_are_the_presets():
    trial = {"data": tuning.trials(True)[0]["data"], "k": 3, "quick": True}
    settings = [tuning.work(trial | {"setting": recipe}, None)["settings"] for recipe in tuning.RECIPES]
    for kept, preset in zip(settings, (PAPER, PUBLIC_CODE), strict=True):
        assert (kept["bandwidth"], kept["self_loops"]) == (preset.bandwidth, preset.self_loops)
    assert settings[0]["temperature"] != settings[1]["temperature"]


def test_the_verdict_counts_what_each_recipe_reaches():
    letter, public = tuning.RECIPES
    rows = [row("Yale", letter, 50, 0.40), row("ALLAML", letter, 50, 0.50), row("Yale", public, 50, 0.30)]
    text = tuning.verdict(rows)
    assert f"By {letter}, in the best way of clustering and k, print is reached on 1 of 2." in text
    assert f"By {public}, in the best way of clustering and k, print is reached on 0 of 1." in text
