/**
 * Starts an exported page. Browsers load neither modules nor data from files, so `headwright lab --export` writes both
 * into the page, as JSON: {modules, documents, start}. Here every module gets an address of its own, and an import map
 * tells the others.
 */
{
  const packed = JSON.parse(document.getElementById("packed")?.textContent ?? "{}");
  /** @type {any} */ (globalThis).headwrightDocuments = packed.documents;

  /** @type {{[name: string]: string}} */
  const imports = {};
  for (const [name, text] of Object.entries(packed.modules)) {
    imports[name] = URL.createObjectURL(new Blob([/** @type {string} */ (text)], { type: "text/javascript" }));
  }
  const map = document.createElement("script");
  map.type = "importmap";
  map.textContent = JSON.stringify({ imports });
  document.head.append(map);
  void import(packed.start);
}
