"""Makes the five pictures of the guide to the lab: python docs/images/lab.py"""

import os
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from headwright.lab.serve import serving

HERE = Path(__file__).parent
JUDGE = """() => {
  document.getElementById('example').click();
  document.getElementById('judge').click();
}"""
THIRD_ACT = """async () => {
  document.getElementById('opening').click();
  while (!document.querySelector('#opening-dialog .dot')) await new Promise(requestAnimationFrame);
  document.querySelectorAll('#opening-dialog .dot')[2].click();
}"""
# name: (address, width, height, theme, script, what to wait for)
PICTURES = {
    "lab-plane": (
        "#preset=plane&q=0.9,0.55&beta=4&noise=0.03&radial=a:0.2&station=1",
        1280,
        860,
        "light",
        "",
        "#exact-table td",
    ),
    "lab-heads": (
        "#preset=heads&q=a;b&beta=30&station=12",
        1280,
        860,
        "dark",
        "",
        "#exact-table td",
    ),
    "lab-opening": ("#preset=plane", 1000, 640, "light", THIRD_ACT, "#opening-dialog .turned"),
    "lab-check": ("check.html", 1280, 800, "light", JUDGE, ".verdict"),
    "lab-phone": (
        "#preset=coin&q=a%2Bb&beta=10&station=7",
        390,
        844,
        "light",
        "",
        "#exact-table td",
    ),
}


def main() -> None:
    with serving() as address, sync_playwright() as driver:
        args = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=args)
        for name, (path, width, height, theme, script, ready) in PICTURES.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=theme,
                reduced_motion="reduce",
            )
            page.goto(address + path)
            page.wait_for_selector("body[data-ready]")
            if script:
                page.evaluate(script)
            page.wait_for_selector(ready, state="attached")
            page.wait_for_timeout(400)
            file = HERE / f"{name}.png"
            page.screenshot(path=file)
            page.close()
            # Flat pictures need few colours; k-means keeps the small marks in theirs.
            Image.open(file).convert("RGB").quantize(128, kmeans=4).save(file, optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
