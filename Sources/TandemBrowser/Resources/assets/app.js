// The page: it connects the models, the table, the queue and the object with the server's events.

import { address, data, send } from "./api.js";
import { grouped, make, replace } from "./dom.js";
import { ObjectView } from "./object.js";
import { QueueView } from "./queue.js";
import { ObjectTable } from "./table.js";

const element = (id) => document.getElementById(id);
const isWritable = document.body.dataset.writable === "yes";

/** The state of the page, which is in its address too. */
let place = read();
let summary = null;
/** The columns by model. */
const columns = new Map();

// Views

const view = element("view");
const object = new ObjectView(element("object"), {
  isWritable,
  choose: (model, id) => navigate({ ...place, objectModel: model, id }),
  close: () => {
    navigate({ ...place, objectModel: null, id: null });
    focusTable();
  },
  list: (model, where) => navigate({ model, where, objectModel: place.objectModel, id: place.id }),
  toast,
});
const table = new ObjectTable({
  choose: (id) => navigate({ ...place, objectModel: place.model, id }),
  query: () => ({
    model: place.model,
    where: place.where,
    search: place.search,
    sort: place.sort,
    deleted: place.deleted,
  }),
  sort: (sort) => {
    navigate({ ...place, sort });
    element("head-status").textContent = sort ? `Sorted by ${sort}` : "Not sorted";
  },
  failed: showFieldErrors,
  loaded: () => {
    const line = element("count");
    if (line && line.textContent !== table.words) line.textContent = table.words;
  },
});
const queue = new QueueView({
  choose: (model, id) => navigate({ ...place, objectModel: model, id }),
  failed: (error) => showProblem(error.message),
});

const where = make("input", {
  id: "where",
  type: "text",
  autocomplete: "off",
  spellcheck: "false",
  maxlength: "4000",
  placeholder: "points > 10 and shop beginsWith 'a'",
  "aria-describedby": "error-where",
});
const search = make("input", {
  id: "search",
  type: "search",
  autocomplete: "off",
  spellcheck: "false",
  maxlength: "400",
  "aria-describedby": "error-search",
});
const deleted = make(
  "select",
  { id: "deleted" },
  make("option", { value: "" }, "Live objects"),
  make("option", { value: "with" }, "With deleted ones"),
  make("option", { value: "only" }, "Deleted ones only"),
);
const title = make("h2", { id: "view-title", tabindex: "-1" });
const add = isWritable ? make("button", { type: "button", id: "add", onclick: addObject }, "New object") : null;
const tableView = make(
  "div",
  { class: "table-view" },
  make("div", { class: "title" }, title, make("p", { id: "count", class: "count", role: "status" }), add),
  make(
    "form",
    { class: "filters", role: "search", novalidate: true },
    make("div", { class: "field" }, make("label", { for: "search" }, "Search"), search, make("p", { class: "error", id: "error-search" })),
    make("div", { class: "field wide" }, make("label", { for: "where" }, "Where"), where, make("p", { class: "error", id: "error-where" })),
    make("div", { class: "field" }, make("label", { for: "deleted" }, "Objects"), deleted),
  ),
  make("p", { class: "error", id: "error-sort" }),
  make("p", { class: "hidden-words", id: "head-status", role: "status" }),
  table.element,
);

let timer = null;
tableView.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  applyFilters();
});
for (const input of [where, search]) {
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(applyFilters, 250);
  });
}
deleted.addEventListener("change", applyFilters);

function applyFilters() {
  clearTimeout(timer);
  navigate({ ...place, where: where.value, search: search.value, deleted: deleted.value }, { replaces: true });
}

/** Shows errors at their fields. Returns whether there is a field for each. */
function showFieldErrors(fields) {
  let isShown = Object.keys(fields).length > 0;
  for (const name of Object.keys(fields)) if (!["where", "search", "sort"].includes(name)) isShown = false;
  for (const name of ["where", "search", "sort"]) {
    const line = tableView.querySelector(`#error-${name}`);
    const text = fields[name] ?? "";
    if (line.textContent !== text) line.textContent = text;
    const input = { where, search }[name];
    if (text) input?.setAttribute("aria-invalid", "true");
    else input?.removeAttribute("aria-invalid");
  }
  return isShown;
}

function addObject() {
  const { model } = place;
  navigate({ ...place, objectModel: null, id: null });
  object.add(model, columns.get(model) ?? []);
}

function focusTable() {
  view.querySelector('.row[tabindex="0"]')?.focus({ preventScroll: true });
}

// Addresses

function read() {
  const parameters = new URLSearchParams(location.search);
  const value = (name) => parameters.get(name) ?? "";
  return {
    view: value("view"),
    model: value("model"),
    where: value("where"),
    search: value("search"),
    sort: value("sort"),
    deleted: value("deleted"),
    objectModel: value("of") || null,
    id: value("id") || null,
  };
}

function navigate(next, { replaces = false } = {}) {
  const { view: name, model, where: condition, search: words, sort, deleted: kind, objectModel, id } = next;
  const path = address("/", {
    view: name,
    model,
    where: condition,
    search: words,
    sort,
    deleted: kind,
    of: id ? objectModel : null,
    id,
  });
  if (replaces) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  show(read());
}

window.addEventListener("popstate", () => show(read()));

async function show(next, isFirst = false) {
  const before = isFirst ? {} : place;
  place = next;
  const changed = (...names) => names.some((name) => before[name] !== next[name]);
  drawModels();
  // A later call of this function sees only later changes, so that this does not wait for the columns.
  if (changed("objectModel", "id")) object.show(next.objectModel, next.id, { focus: !isFirst });
  if (next.view) {
    if (changed("view") || !view.contains(queue.element)) {
      view.replaceChildren(queue.element);
      queue.show(next.view === "errors" ? "errors" : "queue");
    }
  } else if (next.model) {
    if (!view.contains(tableView)) view.replaceChildren(tableView);
    if (document.activeElement !== where) where.value = next.where;
    if (document.activeElement !== search) search.value = next.search;
    deleted.value = next.deleted;
    if (changed("model", "view")) await showModel(next.model);
    else if (changed("where", "search", "deleted", "sort")) {
      table.drawHead();
      table.reset();
    }
  } else {
    view.replaceChildren(make("p", { class: "empty" }, "Choose a model."));
  }
  if (place !== next) return;
  table.show(next.objectModel === next.model ? next.id : null);
}

async function showModel(model) {
  title.textContent = model;
  element("count").textContent = "Loading";
  showFieldErrors({});
  try {
    if (!columns.has(model)) {
      const known = (await data("model", { model })).columns;
      // The cells of a row have the server's order.
      columns.set(model, known.map((column, index) => ({ ...column, index })));
    }
  } catch (error) {
    return showProblem(error.message);
  }
  // The properties come first, after the ID.
  const all = columns.get(model);
  const [id, ...states] = all.filter((column) => column.isState);
  if (place.model === model) table.setColumns([id, ...all.filter((column) => !column.isState), ...states]);
}

// Models

async function loadSummary() {
  try {
    const event = await data("summary");
    summary = event;
    drawModels();
    const { size, isEncrypted, schemaVersion } = event.summary;
    const facts = `${grouped(size)} bytes, ${isEncrypted ? "encrypted" : "not encrypted"}, schema version ${schemaVersion}`;
    if (element("facts").textContent !== facts) element("facts").textContent = facts;
    showProblem(damage(event));
  } catch (error) {
    showProblem(error.message);
  }
}

/** Returns a sentence about the parts of the store that can't be read. */
function damage({ isDamaged, summary: { models, queueError } }) {
  if (!isDamaged) return null;
  const parts = models.filter((model) => model.error).map((model) => `${model.name}: ${model.error}`);
  if (queueError) parts.push(`The queue: ${queueError}`);
  return `Parts of this store can't be read. ${parts.join(" ")} "Check the file" says how many objects are readable.`;
}

function drawModels() {
  if (!summary) return;
  const { models, operations } = summary.summary;
  const entry = (key, isCurrent, next, name, count, extra) =>
    make(
      "li",
      {},
      make(
        "a",
        {
          href: address("/", next),
          "data-key": key,
          "aria-current": isCurrent ? "page" : null,
          onclick: (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            navigate({ ...next, objectModel: place.objectModel, id: place.id });
          },
        },
        make("span", { class: "name" }, name),
        make("span", { class: "number" }, count),
        extra ? make("small", {}, extra) : null,
      ),
    );
  const notes = (model) =>
    [
      model.deleted ? `${grouped(model.deleted)} deleted` : "",
      model.notSynced ? `${grouped(model.notSynced)} not synced` : "",
    ]
      .filter(Boolean)
      .join(", ");
  const waiting = Object.values(operations).reduce((sum, count) => sum + count, 0);
  replace(
    element("models"),
    make("h2", {}, "Models"),
    make(
      "ul",
      {},
      models.map((model) =>
        entry(
          `model-${model.name}`,
          !place.view && place.model === model.name,
          { model: model.name },
          model.name,
          model.error ? "unreadable" : grouped(model.objects),
          model.error ? null : notes(model),
        ),
      ),
    ),
    make("h2", {}, "Sync"),
    make(
      "ul",
      {},
      entry("queue", place.view === "queue", { view: "queue" }, "Queue", grouped(waiting)),
      entry("errors", place.view === "errors", { view: "errors" }, "Errors", grouped(operations.failed ?? 0)),
    ),
  );
}

// Events

let source = null;
let refreshing = false;
let isDirty = false;

function connect() {
  source?.close();
  const events = new EventSource("/events");
  source = events;
  events.addEventListener("change", () => {
    if (source === events) refresh();
  });
  events.onopen = () => showOffline(false);
  events.onerror = () => {
    if (source !== events) return;
    showOffline(true);
    if (events.readyState !== EventSource.CLOSED) return;
    setTimeout(() => source === events && check(), 1000);
  };
}

/** Connects again. If the session has ended, the page is loaded again, and asks for the password. */
async function check() {
  const response = await fetch("/data/summary", { headers: { Accept: "application/json" } }).catch(() => null);
  if (response?.status === 401) return location.reload();
  connect();
}

/** Reads all that is shown again. A change that arrives meanwhile is read after that. */
async function refresh() {
  if (refreshing) {
    isDirty = true;
    return;
  }
  refreshing = true;
  if (view.contains(tableView)) table.refresh();
  if (view.contains(queue.element)) queue.refresh();
  object.refresh();
  await loadSummary();
  refreshing = false;
  if (!isDirty) return;
  isDirty = false;
  refresh();
}

// Browsers allow few connections to a server: a hidden page closes its own.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") {
    if (!source) connect();
    return;
  }
  setTimeout(() => {
    if (document.visibilityState !== "hidden") return;
    source?.close();
    source = null;
  }, 20000);
});

// Messages

let problem = null;
let isOffline = false;

function showOffline(value) {
  isOffline = value;
  showProblem(problem);
}

function showProblem(text) {
  problem = text;
  const line = element("problem");
  const words = isOffline ? "The server can't be reached. Is `tandem browse` still running?" : problem;
  if (words && line.textContent !== words) line.textContent = words;
  line.hidden = !words;
}

let toastTimer = null;

function toast(text, undo) {
  const box = element("toast");
  const button = element("toast-undo");
  box.hidden = false;
  element("toast-words").textContent = text;
  button.hidden = !undo;
  button.onclick = async () => {
    box.hidden = true;
    try {
      const { model, id } = await send("POST", `/undo/${encodeURIComponent(undo)}`);
      toast("Undone.");
      if (object.id === id && object.model === model) object.show(model, id);
    } catch (error) {
      toast(error.message);
    }
  };
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (box.hidden = true), undo ? 30000 : 6000);
}

element("check").addEventListener("click", async () => {
  const report = element("report");
  const button = element("check");
  button.disabled = true;
  report.hidden = false;
  report.replaceChildren(make("p", { role: "status" }, "Checking"));
  try {
    const { problems, isDamaged, readable } = await send("POST", "/data/check");
    const close = make("button", { type: "button", onclick: () => (report.hidden = true) }, "Close the report");
    const heads = ["Model", "Readable objects", "Then"];
    const rows = readable.map((model) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, model.model),
        make("td", {}, grouped(model.objects)),
        make("td", {}, model.error ?? "all were read"),
      ),
    );
    report.replaceChildren(
      make("h2", {}, problems.length ? "Problems" : "No problems"),
      make("ul", {}, problems.map((text) => make("li", {}, text))),
      isDamaged
        ? make(
            "table",
            {},
            make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
            make("tbody", {}, rows),
          )
        : "",
      isDamaged
        ? make("p", {}, "Restore a backup, or copy what is readable: `tandem salvage` if the store is encrypted, else `tandem export` for each model.")
        : "",
      close,
    );
  } catch (error) {
    report.replaceChildren(make("p", { class: "problem" }, error.message));
  }
  button.disabled = false;
  report.focus();
});

element("leave")?.addEventListener("click", async () => {
  await send("POST", "/leave");
  location.assign("/");
});

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "/" && !isTyping && view.contains(tableView)) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === "Escape" && !isTyping && place.id) object.close();
});

await loadSummary();
if (!place.view && !place.model && summary?.summary.models.length) {
  history.replaceState(null, "", address("/", { model: summary.summary.models[0].name }));
}
await show(read(), true);
connect();
