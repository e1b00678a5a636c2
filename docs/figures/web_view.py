"""The page of the web viewer with Solo12, as a browser shows it: ``python docs/figures/web_view.py``.

Needs the extras view and mujoco, and playwright with a Chromium that is installed.
"""

import io
import pathlib
import shutil
import sys

from PIL import Image

import bouligand as bd
from bouligand.bridges import mujoco as mj

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))
import solo12  # noqa: E402


def main():
    from playwright.sync_api import sync_playwright

    robot = solo12.load(meshes=True)
    solution = bd.solve(robot, (0.0, 0.6), solo12.above_floor(robot, 0.05), rtol=1e-6)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with mj.pictures.serve(robot, solution, speed=0.2) as view, sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium, args=["--enable-unsafe-swiftshader"])
        page = browser.new_page(viewport={"width": 960, "height": 600})
        page.goto(view.url)
        view.pause(0.35)
        page.wait_for_timeout(12_000)  # (meshes are sent, and drawn without a graphics card)
        close = page.locator("button[aria-label='Close'], .mantine-Notification-closeButton")
        for _ in range(close.count()):
            close.first.click()
        page.wait_for_timeout(1_000)
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("RGB").quantize(128).save(HERE / "web_view.png", optimize=True)


if __name__ == "__main__":
    main()
