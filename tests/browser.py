"""One window for all pages of a test run: opening a window costs a browser as much as loading the
page that is tested. A page finds nothing that another one of its origin has stored."""

from urllib.parse import urlsplit


class Window:
    def __init__(self, browser) -> None:
        self._context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
        # A window closes with its last page.
        self._kept_open = self._context.new_page()
        self._storage = self._context.new_cdp_session(self._kept_open)

    def page(self, address, *, width, height, theme="light", motion="reduce"):
        """An empty page of this size, which is to be led to this address."""
        place = urlsplit(address)
        origin = f"{place.scheme}://{place.netloc}"
        stored = {"origin": origin, "storageTypes": "cookies,local_storage,indexeddb,cache_storage"}
        self._storage.send("Storage.clearDataForOrigin", stored)
        page = self._context.new_page()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=theme, reduced_motion=motion)
        return page
