// A pending operation, and the values before the change, here, and on the server side by side.

import { make, shown } from "./dom.js";

/** Returns the line about an operation. */
export function operationLine(operation) {
  const parts = [`${operation.kind}, ${operation.state}, changed at ${operation.changedAt}`];
  if (operation.attempts) parts.push(`attempts: ${operation.attempts}`);
  if (operation.retryAt) parts.push(`next at ${operation.retryAt}`);
  return parts.join(", ");
}

/** Returns the line about an operation's error, or null. */
export function errorLine(error) {
  if (!error) return null;
  const status = error.status === null ? "" : `status ${error.status}, `;
  return make("p", { class: "error" }, `${error.message} (${status}${error.at})`);
}

/** Returns the table of the values, or null if none is changed. */
export function valuesTable(operation, title) {
  const rows = (operation.values ?? []).filter(
    (value) => value.isChanged || ("server" in value && value.server !== value.current),
  );
  if (!rows.length) return null;
  const cell = (value, name) => {
    const inner = name in value ? shown(value[name]) : make("span", { class: "nil" }, "–");
    return make("td", {}, inner);
  };
  const heads = ["Property", "Before", "Here", "On the server"];
  return make(
    "div",
    { class: "sides", tabindex: "0", role: "group", "aria-label": `Values of ${title}` },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
      make(
        "tbody",
        {},
        rows.map((value) =>
          make(
            "tr",
            { class: value.isDisputed ? "disputed" : null },
            make(
              "th",
              { scope: "row" },
              value.property,
              value.isDisputed ? make("span", { class: "mark" }, " both changed") : null,
            ),
            cell(value, "base"),
            cell(value, "current"),
            cell(value, "server"),
          ),
        ),
      ),
    ),
  );
}
