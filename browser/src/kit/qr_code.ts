/** The place of a QR code, whose drawing is loaded on demand. */

/**
 * Returns an element in which the QR code appears; if it cannot be loaded, the element stays empty, because whatever a
 * code says is also on the page as text.
 *
 * @param words at most 2953 bytes of UTF-8
 * @param large as wide as the page, for codes with many modules
 */
export function qrCode(words: string, label: string, large: boolean = false) {
  const container = document.createElement("div");
  import("./qr.ts").then(
    ({ drawn }) => container.append(drawn(words, label, large)),
    () => {}, // the text is enough
  );
  return container;
}
