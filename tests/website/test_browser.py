"""The site in a real browser: no errors, no request that leaves the machine, players that play, a search that finds."""

import hashlib
import re

import pytest

PAGES = (
    "index",
    "start",
    "gallery/index",
    "howto/index",
    "interactive",
    "theory",
    "errors",
    "reference_pages/bouligand.solve",
)


@pytest.fixture
def open_page(browser, site):
    """Opens a page as a file; at the end nothing must have been said on the console or asked of another machine."""
    wrong: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda r: wrong.append(r.url) if not r.url.startswith(("file:", "data:", "blob:")) else None)

    def open_it(name, width=1280):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((site / f"{name}.html").as_uri())
        return page

    yield open_it
    context.close()
    assert not wrong


def test_pages_fit_wide_and_narrow_screens(open_page):
    for name in PAGES:
        for width in (1280, 390):
            page = open_page(name, width)
            assert page.locator("h1").first.is_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)


def test_the_menu_opens_on_a_narrow_screen(open_page):
    page = open_page("index", 390)
    page.locator("button.pst-navbar-icon.sidebar-toggle.primary-toggle").click()
    assert page.locator("dialog#pst-primary-sidebar-modal").get_by_text("Tutorials").first.is_visible()


@pytest.mark.parametrize(("name", "landed"), [("plate", 0.31), ("solo", 0.25)])
def test_the_picture_changes_with_the_slider(name, landed, open_page):
    page = open_page("interactive")
    player = page.locator(f".player[data-recording={name}]")
    seen, lamps = [], []
    for part in (0.0, landed):
        player.locator("input[type=range]").evaluate(
            "(slider, part) => { slider.value = part * slider.max; slider.dispatchEvent(new Event('input')); }", part
        )
        picture = player.locator("canvas").evaluate("canvas => canvas.toDataURL()")
        seen.append(hashlib.sha256(picture.encode()).hexdigest())
        assert len(picture) > 5000  # (a blank one is compressed to less)
        lamps.append(int(re.match(r"\d+", player.locator(".player-count").inner_text())[0]))  # type: ignore[index]
    assert seen[0] != seen[1]
    assert lamps[0] == 0 < lamps[1]


def test_it_plays_and_pauses(open_page):
    page = open_page("interactive")
    player = page.locator(".player[data-recording=plate]")
    player.locator("button").click()
    page.wait_for_function("Number(document.querySelector('.player input[type=range]').value) > 0.01")
    player.locator("button").click()
    assert player.locator("button").inner_text() == "Play"


@pytest.mark.parametrize(
    ("dx", "start", "image"),
    [((-0.25, 0.0), "(-0.2500, 0.0000)", "(-0.2500, 0.0625)"), ((0.25, 0.0), "(0.2500, 0.0000)", "(0.1250, 0.0000)")],
)
def test_the_fan_can_be_dragged(dx, start, image, open_page):
    """The known values of this derivative (tests/derivative/test_derivative_known.py)."""
    page = open_page("interactive")
    plane = page.locator(".fan svg").first
    plane.scroll_into_view_if_needed()
    box = plane.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle[0], middle[1] - 60)
    page.mouse.down()
    page.mouse.move(middle[0] + dx[0] * box["width"], middle[1] - dx[1] * box["height"], steps=4)
    page.mouse.up()
    assert page.locator(".fan-start").inner_text() == start
    assert page.locator(".fan-image").inner_text() == image


def test_the_search_finds_a_word(open_page):
    page = open_page("search")
    page.goto(page.url + "?q=saltation")
    found = page.locator("ul.search li", has_text=re.compile("Terms|Theory"))  # results come one after the other
    found.first.wait_for(timeout=20_000)
    assert found.count() > 0
