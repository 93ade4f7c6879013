// The page: it connects the search, the list, the part beside it and the sync with the server's events.

import { cardPath, send } from "./api.js";
import { CardList } from "./list.js";
import { PartColumn } from "./part.js";

const element = (id) => document.getElementById(id);
const search = element("search");

const list = new CardList(
  { list: element("list"), scroller: element("scroller"), floating: element("heading"), empty: element("empty") },
  {
    rows: async (stream, from, to) => {
      const response = await fetch(`/rows?stream=${encodeURIComponent(stream)}&from=${from}&to=${to}`);
      return response.ok ? response.json() : null;
    },
    choose: (id) => navigate(cardPath(id)),
  },
);

const part = new PartColumn(element("part"), {
  stream: () => list.stream,
  shown: (path) => {
    list.show(part.card);
    const titles = { "/sync": "Sync – Cards", "/login": "Log in – Cards", "/new": "New card – Cards" };
    document.title = titles[path] ?? "Cards";
  },
  toast,
  navigate,
});

// Addresses

function navigate(path) {
  if (path !== location.pathname) history.pushState(null, "", path);
  part.show(path).then(() => {
    // On a phone, the list was hidden.
    list.draw();
    if (path === "/") focusList();
  });
}

function focusList() {
  const link = element("list").querySelector('a[tabindex="0"]');
  if (link && document.activeElement === document.body) link.focus({ preventScroll: true });
}

window.addEventListener("popstate", () => part.show(location.pathname));
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-part]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  navigate(link.dataset.part);
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, select, textarea");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === "Escape" && !isTyping && part.path !== "/") navigate("/");
  const undo = element("toast-undo");
  // On a keyboard of another script, only the place of the key is that of Z.
  const isZ = event.key === "z" || (event.key > "\x7f" && event.code === "KeyZ");
  if (isZ && (event.ctrlKey || event.metaKey) && !isTyping && undo.checkVisibility()) {
    event.preventDefault();
    undo.click();
  }
  if (event.key === "ArrowDown" && event.target === search) {
    event.preventDefault();
    list.focus(0);
  }
});

// Events

let source = null;
let words = null;

function connect() {
  source?.close();
  const isSameSearch = words === search.value;
  words = search.value;
  let query = `q=${encodeURIComponent(words)}`;
  const watched = part.livePath;
  if (watched) query += `&part=${encodeURIComponent(watched)}`;
  const events = new EventSource(`/events?${query}`);
  source = events;
  element("list").setAttribute("aria-busy", "true");
  let isFirst = true;
  on(events, "list", (event) => {
    if (event.stream !== list.stream) part.number = 0;
    list.reset(event, isSameSearch || !isFirst);
    isFirst = false;
    showCount(event.count);
    element("list").removeAttribute("aria-busy");
    // The part was changed while the stream was opened: the server must know which one to watch.
    if (part.livePath && part.livePath !== watched) part.show(part.path, { focus: false });
  });
  on(events, "change", (event) => {
    if (event.revision !== list.model.revision + 1) return connect();
    list.change(event);
    showCount(event.count);
  });
  on(events, "states", (rows) => list.states(rows));
  on(events, "sync", showSync);
  on(events, "part", (event) => part.update(event));
  events.onopen = () => showOffline(false);
  events.onerror = () => {
    if (source !== events) return;
    showOffline(true);
    if (events.readyState !== EventSource.CLOSED) return;
    // The session may have ended: the page then asks for the password.
    setTimeout(() => source === events && check(), 1000);
  };
}

async function check() {
  const response = await fetch("/parts/none").catch(() => null);
  if (response?.status === 401) return location.reload();
  connect();
}

function on(events, name, receive) {
  events.addEventListener(name, (event) => {
    if (source === events) receive(JSON.parse(event.data));
  });
}

search.addEventListener("input", () => {
  if (search.value !== words) connect();
});

// Browsers allow few connections to a server: a hidden page closes its own.
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") {
    setTimeout(() => {
      if (document.visibilityState !== "hidden") return;
      source?.close();
      source = null;
    }, 20000);
  } else if (!source) {
    connect();
  }
});

// Messages

function showCount(count) {
  const cards = `${count.toLocaleString("en")} ${count === 1 ? "card" : "cards"}`;
  const text = words ? `${cards} found` : cards;
  const line = element("count");
  if (line.textContent !== text) line.textContent = text;
  element("empty").textContent = words ? "No card has these words in its shop or owner." : "There are no cards yet.";
}

let problem = null;
let isOffline = false;

function showOffline(value) {
  isOffline = value;
  showProblem();
}

function showProblem() {
  const line = element("problem");
  const text = isOffline ? "The app's server can't be reached. Changes are shown again when it responds." : problem;
  if (text && line.textContent !== text) line.textContent = text;
  line.hidden = !text;
}

function showSync(event) {
  element("sync-words").textContent =
    event.uploaded === undefined ? event.sentence : `${event.sentence} (${event.uploaded} %)`;
  element("sync-now").hidden = !event.account;
  element("sync-now").disabled = event.isSyncing;
  problem = event.problem ?? null;
  showProblem();
  const person = element("person");
  if (person.textContent === event.person) return;
  // Another person's favorites are another list.
  person.textContent = event.person;
  connect();
}

element("sync-now").addEventListener("click", async () => {
  try {
    await send("POST", "/sync");
  } catch (error) {
    toast(error.message);
  }
});
element("leave")?.addEventListener("click", async () => {
  await send("POST", "/leave");
  location.assign("/");
});

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
      await undo();
    } catch (error) {
      toast(error.message);
    }
  };
  clearTimeout(toastTimer);
  toastTimer = setTimeout(hideToast, undo ? 20000 : 5000);
}

function hideToast() {
  const box = element("toast");
  // It stays while a person points at it, or has the focus in it.
  if (box.matches(":hover") || box.contains(document.activeElement)) toastTimer = setTimeout(hideToast, 2000);
  else box.hidden = true;
}

part.show(location.pathname, { focus: false });
connect();
