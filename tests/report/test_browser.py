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

    def open_page(scheme="light", path=page, width=1200):
        context = browser.new_context(color_scheme=scheme, offline=True, viewport={"width": width, "height": 900})
        contexts.append(context)
        context.set_default_timeout(120_000)  # busy machines are slow
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
    for summary in tab.locator("summary").all():
        summary.click()
    tab.wait_for_function("[...document.querySelectorAll('.plot')].every((p) => p.querySelector('.main-svg'))")
    assert tab.locator(".plot").count() == 6
    for plot in tab.locator(".plot").all():
        assert plot.bounding_box()["height"] > 100
        assert plot.bounding_box()["width"] > 300
    assert tab.trouble == []


def test_details_are_folded_away(opened):
    tab = opened()
    assert not tab.locator("#figure-objective").is_visible()
    tab.get_by_text("for experts").click()
    assert tab.locator("#figure-objective").is_visible()


def test_a_script_in_a_name_shows_as_text(opened):
    tab = opened()
    assert NASTY in names(tab)
    assert NASTY in tab.locator("#chosen-table").inner_text()
    assert tab.locator("code").first.inner_text() == "tamis check 'a & b.csv'"
    assert tab.locator("b", has_text="bold").count() == 0
    assert tab.trouble == []


@pytest.mark.parametrize(("d", "k"), [(50, 5), (5000, 30)])
def test_the_map_names_features_at_the_pointer(opened, planted_page, d, k):
    tab = opened(path=planted_page(d, k))
    figure = tab.locator("[data-figure=map]")
    figure.scroll_into_view_if_needed()
    assert figure.locator(".annotation-text").count() == k
    drawn = tab.evaluate("document.querySelector('[data-figure=map]').data.reduce((sum, t) => sum + t.x.length, 0)")
    assert drawn == d
    for trace, text in ((0, "like gene_"), (k, "like none"), (k + 1, "chosen")):
        place = tab.evaluate(
            """(trace) => {
                const plot = document.querySelector('[data-figure=map]'), box = plot.getBoundingClientRect();
                const { xaxis, yaxis } = plot._fullLayout, { x, y } = plot.data[trace];
                return [box.x + xaxis._offset + xaxis.d2p(x[0]), box.y + yaxis._offset + yaxis.d2p(y[0])];
            }""",
            trace,
        )
        tab.mouse.move(*place)
        tab.wait_for_function(f"document.querySelector('.hoverlayer')?.textContent.includes('{text}')")
    assert tab.trouble == []


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
    shown = tab.locator("#table tbody td:nth-child(6)").all_inner_texts()
    numbers = [float(text) for text in shown if text != "–"]
    assert numbers == sorted(numbers)
    assert shown[-1] == "–"


def test_the_table_filters_and_says_how_many(opened):
    tab = opened()
    tab.get_by_label("Search").fill("<SCRIPT>")
    assert NASTY in names(tab)
    count = len(names(tab))
    assert tab.locator("#count").inner_text() == f"{count} of 10 rows"
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
    assert lines[0][:4] == ["rank", "feature", "chosen", "why"]
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
@pytest.mark.parametrize("which", ["page", "curve_page", "compare_page"])
@pytest.mark.parametrize("width", [1200, 380])
def test_axe_finds_no_serious_fault(opened, request, scheme, which, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    tab = opened(scheme, request.getfixturevalue(which), width)
    for summary in tab.locator("summary").all():
        summary.click()
    found = axe.Axe().run(tab).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []


def test_it_prints_what_matters(opened, curve_page):
    tab = opened("dark")
    tab.emulate_media(media="print")
    assert not tab.locator("#theme").is_visible()
    assert not tab.locator(".tools").is_visible()
    assert not tab.locator("details").first.is_visible()
    assert tab.locator("#table tbody tr").filter(visible=True).count() == 4
    tab = opened(path=curve_page)
    tab.emulate_media(media="print")
    assert tab.locator(".list").filter(visible=True).count() == 3


@pytest.mark.parametrize("which", ["page", "curve_page", "compare_page"])
def test_on_a_phone_nothing_overflows_and_no_toolbar_covers_legends(opened, request, which):
    tab = opened(path=request.getfixturevalue(which), width=380)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 380
    tab.locator(".plot").first.hover()
    assert tab.locator(".modebar-btn").count() == 0


def test_the_slider_shows_the_list_of_each_size_also_by_keyboard(opened, curve_page):
    tab = opened(path=curve_page)
    slider = tab.get_by_role("slider", name="Number of features")

    def shown():
        return tab.locator(".list").filter(visible=True).get_attribute("data-size")

    assert shown() == slider.get_attribute("aria-valuetext").split()[0] == "2"
    slider.focus()
    tab.keyboard.press("ArrowRight")
    assert shown() == tab.locator("#size-shown").inner_text() == "4"
    assert slider.get_attribute("aria-valuetext") == "4 features"
    assert "<i>e</i> new" in " ".join(tab.locator(".list").filter(visible=True).locator(".new").all_inner_texts())
    tab.keyboard.press("Home")
    assert shown() == "1"
    assert NASTY in tab.locator(".list").filter(visible=True).inner_text()
    assert tab.trouble == []


def test_the_page_of_several_methods(opened, compare_page):
    tab = opened(path=compare_page)
    assert "<b>" in tab.locator(".xtick text").all_text_contents()
    assert tab.locator(".marks tbody tr").first.inner_text().split() == ["b", "3", "of", "3", "●", "●", "●"]
    assert tab.trouble == []
