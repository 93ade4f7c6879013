// Elements. Texts of the store become text nodes, and are never parsed as HTML.

/** Creates an element with attributes, and with children that are elements or texts. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** Creates an element for a value, which may be nil. */
export function shown(value, name = "span") {
  return value === null || value === undefined
    ? make(name, { class: "nil" }, "nil")
    : make(name, { class: "value", dir: "auto" }, value);
}

/** Returns a number with separators. */
export const grouped = (number) => number.toLocaleString("en");

/** Returns a literal of the query language for a text. */
export const literal = (text) =>
  `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;

/** Replaces the children of an element, and keeps the focus on the element with the same key. */
export function replace(element, ...children) {
  const active = document.activeElement;
  const key = element.contains(active) ? active.dataset.key : null;
  const top = element.scrollTop;
  element.replaceChildren(...children.flat(Infinity));
  element.scrollTop = top;
  if (!key) return;
  const next = [...element.querySelectorAll("[data-key]")].find((candidate) => candidate.dataset.key === key);
  next?.focus({ preventScroll: true });
}
