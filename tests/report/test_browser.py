"""The page in a real browser: Chromium without a window, driven by Playwright, cut off from the network."""

import shutil

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
NASTY = "<script>alert(1)</script>"

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found; install the package chromium to run these tests"),
    # Playwright's own event loop and pipes are closed when the interpreter ends.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, page):
    """Open the page in a scheme; complaints, dialogs and requests of the page are collected."""
    contexts = []

    def open_page(scheme="light", path=page):
        context = browser.new_context(color_scheme=scheme, offline=True, viewport={"width": 1200, "height": 900})
        contexts.append(context)
        tab = context.new_page()
        tab.trouble = []
        tab.on("console", lambda m: tab.trouble.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: tab.trouble.append(str(error)))
        tab.on("dialog", lambda dialog: (tab.trouble.append("dialog"), dialog.dismiss()))
        tab.on(
            "request",
            lambda r: tab.trouble.append(r.url) if not r.url.startswith(("file:", "data:", "blob:")) else None,
        )
        tab.goto(path.as_uri())
        tab.wait_for_function("document.querySelectorAll('.plot .main-svg').length > 0")
        return tab

    yield open_page
    for context in contexts:
        context.close()


def names(tab):
    return tab.locator("#table tbody tr:not([hidden]) th").all_inner_texts()


def test_it_draws_without_complaint_or_request(opened):
    tab = opened()
    assert tab.locator(".plot").count() == 11
    for plot in tab.locator(".plot").all():
        assert plot.locator(".main-svg").count() > 0
        assert plot.bounding_box()["height"] > 100
    assert tab.locator(".plot .heatmaplayer image, .plot .heatmaplayer canvas").count() >= 3
    assert tab.trouble == []


def test_a_script_in_a_name_shows_as_text(opened):
    tab = opened()
    assert NASTY in names(tab)
    assert tab.locator(".chips li").first.is_visible()
    assert NASTY in tab.locator(".chips").inner_text()
    hovered = tab.evaluate("document.querySelector('[data-figure=scores]').data[0].text.join(' ')")
    assert "<script" not in hovered
    assert tab.locator("b", has_text="bold").count() == 0
    assert tab.trouble == []


def test_plots_show_names_as_text(opened):
    tab = opened()
    ticks = tab.locator("[data-figure=correlations] .xtick text").all_text_contents()
    assert NASTY in ticks


def test_the_table_sorts_in_both_directions_and_by_keyboard(opened):
    tab = opened()
    ranks = "#table tbody td:first-child"
    heading = tab.get_by_role("columnheader", name="rank")
    heading.get_by_role("button").click()
    assert tab.locator(ranks).first.inner_text() == "10"
    assert heading.get_attribute("aria-sort") == "descending"
    heading.get_by_role("button").focus()
    tab.keyboard.press("Enter")
    assert tab.locator(ranks).first.inner_text() == "1"
    tab.get_by_role("columnheader", name="predicted").get_by_role("button").click()
    shown = tab.locator("#table tbody td:nth-child(7)").all_inner_texts()
    numbers = [float(text) for text in shown if text != "–"]
    assert numbers == sorted(numbers)
    assert shown[-1] == "–"


def test_the_table_filters_and_says_how_many(opened):
    tab = opened()
    tab.get_by_label("Search").fill("<SCRIPT>")
    assert NASTY in names(tab)
    count = len(names(tab))
    assert tab.locator("#count").inner_text() == f"{count} of 10 features"
    tab.get_by_label("Search").fill("")
    tab.get_by_label("chosen only").check()
    assert len(names(tab)) == 4


def test_the_table_downloads_as_csv(opened, tmp_path):
    import csv

    tab = opened()
    tab.get_by_label("chosen only").check()
    with tab.expect_download() as download:
        tab.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "features.csv"
    download.value.save_as(tmp_path / "features.csv")
    with (tmp_path / "features.csv").open(newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0][:4] == ["rank", "feature", "chosen", "score"]
    assert len(lines) == 5
    assert NASTY in [line[1] for line in lines]


def test_dark_and_light(opened):
    def paper(tab):
        return tab.evaluate("getComputedStyle(document.body).backgroundColor")

    dark, light = opened("dark"), opened("light")
    assert paper(dark) != paper(light)
    light.get_by_role("button", name="Switch to dark colours").click()
    assert paper(light) == paper(dark)
    ink = light.evaluate("document.querySelector('.plot').layout.font.color")
    assert ink == dark.evaluate("document.querySelector('.plot').layout.font.color")
    assert dark.trouble + light.trouble == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(opened, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(opened(scheme)).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_it_prints_what_matters(opened, tmp_path):
    tab = opened("dark")
    tab.emulate_media(media="print")
    assert not tab.locator("#theme").is_visible()
    assert not tab.locator(".tools").is_visible()
    assert tab.locator("#table tbody tr").filter(visible=True).count() == 4


def test_on_a_narrow_screen_nothing_overflows(opened):
    tab = opened()
    tab.set_viewport_size({"width": 380, "height": 800})
    tab.wait_for_timeout(300)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 380


def test_the_page_of_several_methods(opened, tmp_path):
    from tamis.report import plots, write_scores

    figures = plots.score_bars(["lscae", "<b>"], [{"J": -1.0}, {"J": 0.5}])
    path = write_scores(tmp_path / "s.html", figures, ["method", "J"], [["<b>", "1"]], title="T", lead="L")
    tab = opened(path=path)
    assert "<b>" in tab.locator(".xtick text").all_text_contents()
    assert tab.trouble == []
