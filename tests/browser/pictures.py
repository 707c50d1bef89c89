"""The pictures of the status page that the papers show."""
from chromium import Page
from traffic import Scene


def show(page, scene):
    """Opens the page and waits until a minute's beginning is in its charts."""
    page.open(scene.url)
    page.expect("document.querySelectorAll('#stories-list > li').length >= 12", "a dozen stories")
    page.expect("page.tiles.recent.samples.length >= 25", "half a minute of numbers")


def renew(browser, folder):
    with Scene() as scene, Page(browser, width=1180, height=960) as page:
        show(page, scene)
        page.picture(folder / "status-page.png", whole=False)
