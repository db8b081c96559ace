/**
 * A small document for modules that draw parts of pages, which tests run without a browser: elements with attributes,
 * listeners and the selectors that the pages use. It has no layout, no styles and no HTML parser.
 */

/** Returns whether an element matches one compound selector such as `button[data-name="yes"]:not(:disabled)`. */
function matchesCompound(element, selector) {
  const parts = selector.match(/[*\w-]+|#[\w-]+|\.[\w-]+|\[[^\]]+\]|:not\([^)]*\)|:[\w-]+/g) ?? [];
  return parts.every((part) => {
    if (part.startsWith("#")) return element.id === part.slice(1);
    if (part.startsWith(".")) return element.classList.contains(part.slice(1));
    if (part.startsWith(":not(")) return !element.matches(part.slice(5, -1));
    if (part === ":disabled") return element.disabled;
    if (part === ":enabled") return !element.disabled;
    if (part.startsWith("[")) {
      const [, name, value] = /^\[([\w-]+)(?:="?([^"\]]*)"?)?\]$/.exec(part);
      return element.hasAttribute(name) && (value === undefined || element.getAttribute(name) === value);
    }
    return part === "*" || element.localName === part.toLowerCase();
  });
}

const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

class Element {
  attributes = new Map();
  childNodes = [];
  parentElement = null;

  constructor(document, name) {
    this.ownerDocument = document;
    this.localName = name;
    this.dataset = new Proxy(this, {
      get: (it, name) => it.getAttribute(`data-${kebab(String(name))}`) ?? undefined,
      set: (it, name, value) => (it.setAttribute(`data-${kebab(String(name))}`, value), true),
      deleteProperty: (it, name) => (it.removeAttribute(`data-${kebab(String(name))}`), true),
    });
    const classes = () => this.className.split(/\s+/).filter(Boolean);
    this.classList = {
      contains: (name) => classes().includes(name),
      add: (name) => this.classList.toggle(name, true),
      toggle: (name, on) =>
        (this.className = [...classes().filter((it) => it !== name), ...(on ? [name] : [])].join(" ")),
    };
  }

  getAttribute = (name) => this.attributes.get(name) ?? null;
  hasAttribute = (name) => this.attributes.has(name);
  removeAttribute = (name) => void this.attributes.delete(name);
  setAttribute(name, value) {
    this.attributes.set(name, String(value));
    if (name === "value") this.typed = undefined;
  }

  get value() {
    if (this.localName !== "select") return this.typed ?? this.getAttribute("value") ?? "";
    const options = this.querySelectorAll("option");
    return this.typed ?? (options.find((it) => it.hasAttribute("selected")) ?? options[0])?.value ?? "";
  }
  set value(value) {
    this.typed = String(value);
  }

  get children() {
    return this.childNodes.filter((it) => it instanceof Element);
  }
  get childElementCount() {
    return this.children.length;
  }
  get textContent() {
    return this.childNodes.map((it) => (it instanceof Element ? it.textContent : it)).join("");
  }
  set textContent(text) {
    this.replaceChildren(...(text ? [text] : []));
  }
  get isConnected() {
    return this.ownerDocument.documentElement === this || Boolean(this.parentElement?.isConnected);
  }

  #placed(nodes) {
    return nodes.map((it) => {
      if (!(it instanceof Element)) return String(it);
      it.remove();
      it.parentElement = this;
      return it;
    });
  }
  append(...nodes) {
    this.childNodes.push(...this.#placed(nodes));
  }
  prepend(...nodes) {
    this.childNodes.unshift(...this.#placed(nodes));
  }
  after(...nodes) {
    const parent = this.parentElement;
    const placed = parent.#placed(nodes);
    parent.childNodes.splice(parent.childNodes.indexOf(this) + 1, 0, ...placed);
  }
  replaceChildren(...nodes) {
    for (const it of this.children) it.remove();
    this.childNodes = this.#placed(nodes);
  }
  remove() {
    const parent = this.parentElement;
    if (parent) parent.childNodes = parent.childNodes.filter((it) => it !== this);
    this.parentElement = null;
  }

  matches(selector) {
    return selector.split(/,\s*/).some((one) => {
      const compounds = one.trim().split(/\s+/);
      if (!matchesCompound(this, compounds.pop())) return false;
      let ancestor = this.parentElement;
      while (compounds.length && ancestor) {
        if (matchesCompound(ancestor, compounds.at(-1))) compounds.pop();
        ancestor = ancestor.parentElement;
      }
      return compounds.length === 0;
    });
  }
  closest(selector) {
    return this.matches(selector) ? this : (this.parentElement?.closest(selector) ?? null);
  }
  querySelectorAll(selector) {
    return this.children.flatMap((it) => [...(it.matches(selector) ? [it] : []), ...it.querySelectorAll(selector)]);
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }

  /** Dispatches an event at this element, and then at its ancestors. */
  dispatchEvent(event) {
    for (let it = this; it; it = it.parentElement) {
      Object.defineProperty(event, "currentTarget", { value: it, configurable: true });
      for (const { heard, capture } of [...(it.listeners?.get(event.type) ?? [])].sort((a, b) => b.capture - a.capture))
        if (!event.stopped || capture) heard.call(it, event);
      if (event.stopped) break;
    }
    return !event.defaultPrevented;
  }
  addEventListener(type, heard, options = {}) {
    const { signal, capture = options === true } = options;
    if (signal?.aborted) return;
    this.listeners ??= new Map();
    const all = this.listeners.get(type) ?? [];
    if (!all.some((it) => it.heard === heard)) this.listeners.set(type, [...all, { heard, capture: Boolean(capture) }]);
    signal?.addEventListener("abort", () => this.removeEventListener(type, heard));
  }
  removeEventListener(type, heard) {
    this.listeners?.set(
      type,
      this.listeners.get(type).filter((it) => it.heard !== heard),
    );
  }

  click() {
    if (this.disabled) return;
    const event = new Event("click", { cancelable: true });
    event.stopImmediatePropagation = () => (event.stopped = true);
    this.dispatchEvent(event);
    if (!event.stopped && this.getAttribute("type") === "submit") this.closest("form")?.requestSubmit();
  }
  requestSubmit() {
    this.dispatchEvent(new Event("submit", { cancelable: true }));
  }
  focus() {
    this.ownerDocument.activeElement = this;
  }
  scrollIntoView() {}
  showModal() {
    this.open = true;
  }
}

// Properties that reflect attributes: as text, or as whether the attribute is there.
for (const [property, name] of Object.entries({
  id: "id",
  className: "class",
  lang: "lang",
  href: "href",
  name: "name",
}))
  Object.defineProperty(Element.prototype, property, {
    get() {
      return this.getAttribute(name) ?? "";
    },
    set(value) {
      this.setAttribute(name, value);
    },
  });
for (const name of ["disabled", "hidden", "checked", "open"])
  Object.defineProperty(Element.prototype, name, {
    get() {
      return this.hasAttribute(name);
    },
    set(on) {
      if (on) this.setAttribute(name, "");
      else this.removeAttribute(name);
    },
  });
Object.defineProperty(Element.prototype, "ariaDisabled", {
  get() {
    return this.getAttribute("aria-disabled");
  },
  set(value) {
    if (value === null) this.removeAttribute("aria-disabled");
    else this.setAttribute("aria-disabled", value);
  },
});

/** What the operator chose, which the service writes into its pages. */
const METAS = {
  "application-name": "Vault of Tests",
  "holdfast-address": "https://vault.example",
  "holdfast-usdc": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  "holdfast-chain": "84532",
  "holdfast-chain-name": "Base Sepolia",
};

/** A document whose body has what every page of the service has. */
class Document {
  title = "";
  referrer = "";
  documentElement = new Element(this, "html");
  head = new Element(this, "head");
  body = new Element(this, "body");
  activeElement = this.body;

  constructor() {
    this.documentElement.append(this.head, this.body);
    for (const [name, content] of Object.entries(METAS)) {
      const meta = this.createElement("meta");
      meta.name = name;
      meta.setAttribute("content", content);
      this.head.append(meta);
    }
    this.fill();
  }

  /** Empties the page: the parts of the service's pages and of the payment window. */
  fill() {
    const part = (name, id, ...nodes) => {
      const made = this.createElement(name);
      if (id) made.id = id;
      made.append(...nodes);
      return made;
    };
    const main = part("main", "", part("h1", "heading"), part("p", "test-network"), part("div", "screen"));
    main.append(part("div", "buttons"), part("p", "status"), part("p", "alert"));
    this.body.replaceChildren(main, part("footer", "footer"));
    this.documentElement.removeAttribute("lang");
    this.activeElement = this.body;
  }

  createElement = (name) => new Element(this, name);
  createElementNS = (_space, name) => new Element(this, name);
  getElementById = (id) => this.querySelector(`#${id}`);
  querySelector = (selector) => this.documentElement.querySelector(selector);
  querySelectorAll = (selector) => this.documentElement.querySelectorAll(selector);
  hasFocus = () => true;
  addEventListener() {}
  getAnimations = () => [];
}

/** Returns the only element that matches. */
export function one(selector, within = document) {
  const [found, more] = within.querySelectorAll(selector);
  if (!found || more) throw new Error(`${selector}: ${more ? "several" : "none"} in ${document.body.textContent}`);
  return found;
}

/** Clicks the button of this name. */
export const press = (name) => one(`[data-name="${name}"]`).click();

/** Returns the text of the part of the page with this ID. */
export const told = (id) => document.getElementById(id).textContent;

/** Types into the field of this name. */
export function type(name, value) {
  const field = one(`[name="${name}"]`);
  field.value = value;
  field.dispatchEvent(new Event("input"));
}

/** A condition that does not hold within this time, which no machine needs, never holds. Tests may mock the clocks. */
const PATIENCE_NS = 60_000_000_000n;

/** Waits until a condition holds. */
export async function until(condition) {
  const end = process.hrtime.bigint() + PATIENCE_NS;
  while (!(await condition())) {
    if (process.hrtime.bigint() > end) throw new Error(`never: ${condition}; page: ${document.body.textContent}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets the navigator have a property that Node's has not, or has otherwise. */
export function navigatorHas(name, value) {
  Object.defineProperty(navigator, name, { value, configurable: true, writable: true });
}

/** Storage such as localStorage. */
function storage() {
  const rows = new Map();
  return {
    getItem: (name) => rows.get(name) ?? null,
    setItem: (name, value) => void rows.set(name, String(value)),
    removeItem: (name) => void rows.delete(name),
    get length() {
      return rows.size;
    },
  };
}

globalThis.Node = Element;
globalThis.document = new Document();
globalThis.window = globalThis;
globalThis.top = globalThis;
globalThis.location = Object.assign(new URL("https://vault.example/"), { assign() {} });
globalThis.localStorage = storage();
// A page hears what happens to its window. Node's own global object hears nothing.
const events = new EventTarget();
for (const name of ["addEventListener", "removeEventListener", "dispatchEvent"])
  globalThis[name] = (...given) => events[name](...given);
globalThis.scrollTo = () => {};
globalThis.history = { state: null, pushState() {}, replaceState() {} };
navigatorHas("languages", ["en-US"]);
navigatorHas("onLine", true);
