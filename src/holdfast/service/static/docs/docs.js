/** Lets a reader of /docs send each request with other values, and shows the response. */

for (const form of document.querySelectorAll("form")) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(form);
  });
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const shown = form.querySelector("output");
  shown.textContent = "…";
  try {
    const response = await fetch(...requestOf(form));
    const text = await response.text();
    shown.textContent = `${response.status} ${response.headers.get("content-type") ?? ""}\n${readable(text)}`;
  } catch (error) {
    shown.textContent = error.message;
  }
}

/** @param {HTMLFormElement} form @returns {[string, RequestInit]} */
function requestOf({ dataset, elements }) {
  const query = new URLSearchParams();
  const headers = dataset.takes ? { "content-type": dataset.takes } : {};
  let path = dataset.path;
  for (const { name, value, dataset: of } of elements) {
    if (of.in === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (of.in === "query" && value) query.set(name, value);
    if (of.in === "header" && value) headers[name] = value;
  }
  const body = elements.namedItem("body")?.value;
  return [`${path}${query.size ? `?${query}` : ""}`, { method: dataset.method, headers, body }];
}

/** @param {string} text */
function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
