/** Takes the place of a page without the operator's choices, for modules that read them when they are loaded. */

globalThis.document = /** @type {any} */ ({ querySelector: () => null });
