/** A page opened by double click. Browsers start no modules from files, so this plain script marks the page, and its
 * style sheet shows what to do instead of an empty plane. */
if (location.protocol === "file:") document.documentElement.dataset.opened = "file";
