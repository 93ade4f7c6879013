// The table of a model's objects: it draws the visible rows, requests missing ones, and follows the store.

import { data, RequestError } from "./api.js";
import { grouped, make, replace, shown } from "./dom.js";
import { RowModel } from "./rows.js";

const ROW = 30;
/** The height of the titles of the columns, which stay above the rows. */
const HEAD = 32;
/** The number of rows that are drawn above and below the visible ones. */
const MARGIN = 8;
/** The number of rows that are requested around the visible ones. */
const AHEAD = 60;

export class ObjectTable {
  constructor({ choose, query, sort, failed, loaded }) {
    this.choose = choose;
    /** Returns the parameters of the query. */
    this.query = query;
    this.sort = sort;
    this.failed = failed;
    this.loaded = loaded;
    this.model = new RowModel(ROW);
    this.columns = [];
    this.drawn = new Map();
    this.chosen = null;
    /** The position of the row that gets the focus once it has been received. */
    this.target = -1;
    this.request = null;
    /** The missing rows of the last request, with their revision. */
    this.requested = null;
    this.isDirty = false;
    this.problem = make("p", { class: "problem", role: "alert", hidden: true });
    this.head = make("div", { class: "head", role: "row", "aria-rowindex": "1" });
    this.body = make("div", { class: "rows", role: "rowgroup" });
    this.empty = make("p", { class: "empty", hidden: true }, "No object matches.");
    this.grid = make(
      "div",
      { class: "grid", role: "grid", "aria-label": "Objects", "aria-busy": "true", tabindex: "-1" },
      make("div", { role: "rowgroup", class: "heads" }, this.head),
      this.body,
    );
    this.scroller = make("div", { class: "scroller", id: "scroller" }, this.grid);
    this.element = make("div", { class: "table" }, this.problem, this.scroller, this.empty);
    this.scroller.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    this.body.addEventListener("click", (event) => this.click(event));
    this.grid.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.drawSoon()).observe(this.scroller);
  }

  /** Shows other columns. */
  setColumns(columns) {
    this.columns = columns;
    this.grid.setAttribute("aria-colcount", columns.length);
    const widths = columns.map((column) => (column.isState ? "130px" : column.isNumber ? "120px" : "190px"));
    this.grid.style.setProperty("--columns", widths.join(" "));
    this.grid.style.setProperty("--width", `${widths.reduce((sum, width) => sum + parseInt(width, 10), 0)}px`);
    this.drawHead();
    this.reset();
  }

  /** Shows the first rows of another query. */
  reset() {
    this.request?.abort();
    this.request = null;
    this.model.clear();
    this.model.stale = null;
    for (const element of this.drawn.values()) element.remove();
    this.drawn.clear();
    this.scroller.scrollTop = 0;
    this.grid.setAttribute("aria-busy", "true");
    this.load(0, AHEAD * 2);
  }

  /** Requests the visible rows again, because the store has changed. */
  refresh() {
    if (this.request) {
      this.isDirty = true;
      return;
    }
    const { from, to } = this.range(AHEAD);
    this.load(from, Math.max(to, from + AHEAD));
  }

  async load(from, to, key = null) {
    const request = new AbortController();
    this.request = request;
    this.requested = key;
    try {
      const event = await data("rows", { ...this.query(), from, to }, request.signal);
      if (this.request !== request) return;
      this.request = null;
      this.model.store(event);
      this.showProblem(event.problem);
      this.grid.setAttribute("aria-rowcount", event.count + 1);
      this.grid.removeAttribute("aria-busy");
      this.empty.hidden = event.count > 0 || Boolean(event.problem);
      this.loaded();
      this.failed({});
      this.draw();
    } catch (error) {
      if (error.name === "AbortError" || this.request !== request) return;
      this.request = null;
      this.requested = null;
      this.grid.removeAttribute("aria-busy");
      if (!(error instanceof RequestError)) throw error;
      const isShown = this.failed(error.fields);
      this.showProblem(isShown ? null : error.message);
    }
    if (!this.isDirty) return;
    this.isDirty = false;
    this.refresh();
  }

  showProblem(text) {
    this.problem.hidden = !text;
    const line = text ? `Some rows can't be read. ${text}` : "";
    if (this.problem.textContent !== line) this.problem.textContent = line;
  }

  // Drawing

  drawHead() {
    const { name, isDescending } = this.order();
    replace(
      this.head,
      this.columns.map((column, index) => {
        const isSorted = column.name === name;
        const state = isSorted ? (isDescending ? "descending" : "ascending") : null;
        const arrow = isSorted ? make("span", { "aria-hidden": "true" }, isDescending ? " ▼" : " ▲") : null;
        const title = column.isSortable
          ? make(
              "button",
              { type: "button", onclick: () => this.toggle(column.name), "data-key": `sort-${column.name}` },
              column.name,
              arrow,
            )
          : make("span", {}, column.name);
        return make(
          "div",
          {
            role: "columnheader",
            class: column.isState ? "cell state-column" : "cell",
            "aria-colindex": index + 1,
            "aria-sort": state,
            title: column.isState ? "State" : column.kind,
          },
          title,
        );
      }),
    );
  }

  order() {
    const match = (this.query().sort ?? "").match(/^`([^`]+)`( desc)?$/);
    return { name: match?.[1], isDescending: Boolean(match?.[2]) };
  }

  toggle(name) {
    const order = this.order();
    const isDescending = order.name === name && !order.isDescending;
    this.sort(order.name === name && order.isDescending ? "" : `\`${name}\`${isDescending ? " desc" : ""}`);
  }

  /** The height of the visible rows. */
  get view() {
    return Math.max(ROW, this.scroller.clientHeight - HEAD);
  }

  range(margin) {
    const { view } = this;
    const first = this.model.positionAt(this.scroller.scrollTop, view);
    return {
      from: Math.max(0, Math.floor(first) - margin),
      to: Math.min(this.model.count, Math.ceil(first + view / ROW) + margin),
    };
  }

  drawSoon() {
    if (this.isFrameDue) return;
    this.isFrameDue = true;
    requestAnimationFrame(() => {
      this.isFrameDue = false;
      this.draw();
    });
  }

  draw() {
    this.body.style.height = `${this.model.height}px`;
    const { from, to } = this.range(MARGIN);
    const scroll = this.scroller.scrollTop;
    const first = this.model.positionAt(scroll, this.view);
    const focused = this.body.contains(document.activeElement) ? document.activeElement : null;
    for (const [position, element] of this.drawn) {
      if (position >= from && position < to) continue;
      if (element === focused) this.grid.focus({ preventScroll: true });
      element.remove();
      this.drawn.delete(position);
    }
    let before = null;
    for (let position = from; position < to; position++) {
      let element = this.drawn.get(position);
      if (!element) {
        element = make("div", { class: "row", role: "row", tabindex: "-1", "aria-rowindex": position + 2 });
        element.position = position;
        this.drawn.set(position, element);
        if (before) before.after(element);
        else this.body.prepend(element);
      }
      before = element;
      element.style.transform = `translateY(${scroll + (position - first) * ROW}px)`;
      this.fill(element, this.model.row(position));
    }
    const rows = [...this.drawn.values()];
    if (rows.length && !rows.some((row) => row.tabIndex === 0)) {
      const visible = this.drawn.get(Math.ceil(first)) ?? rows[0];
      visible.tabIndex = 0;
    }
    this.loadMissing();
  }

  fill(element, row) {
    const isChosen = Boolean(row) && row.id === this.chosen;
    if (isChosen) element.setAttribute("aria-selected", "true");
    else element.removeAttribute("aria-selected");
    if (row && element.row === row) return;
    element.row = row;
    element.classList.toggle("blank", !row);
    const cells = row ? row.cells : [];
    element.replaceChildren(
      ...this.columns.map((column, index) => {
        const cell = row ? shown(cells[column.index], "div") : make("div");
        cell.setAttribute("role", "gridcell");
        cell.setAttribute("aria-colindex", index + 1);
        cell.classList.add("cell");
        if (column.isNumber) cell.classList.add("number");
        if (column.isState) cell.classList.add("state-column");
        return cell;
      }),
    );
    const deleted = this.columns.find((column) => column.isState && column.name === "isDeleted");
    element.classList.toggle("deleted", cells[deleted?.index] === "true");
  }

  loadMissing() {
    const visible = this.range(MARGIN);
    const missing = this.model.missing(visible.from, visible.to);
    if (this.request || !missing) return;
    // A damaged file can have fewer rows than it counts: requesting them again would not end.
    const key = `${this.model.revision} ${missing.from} ${missing.to}`;
    if (key === this.requested) return;
    const { from, to } = this.range(AHEAD);
    this.load(from, to, key);
  }

  // Choosing

  show(id) {
    this.chosen = id;
    this.draw();
  }

  click(event) {
    const element = event.target.closest(".row");
    if (!element?.row) return;
    this.focusable(element);
    this.choose(element.row.id);
  }

  focusable(element) {
    for (const other of this.drawn.values()) other.tabIndex = other === element ? 0 : -1;
  }

  key(event) {
    const element = event.target.closest(".row");
    if (event.key === "Enter" && element?.row && !event.target.closest("button")) {
      event.preventDefault();
      return this.choose(element.row.id);
    }
    const page = Math.max(1, Math.floor(this.view / ROW) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined || event.target.closest("button")) return;
    event.preventDefault();
    const current = element ? element.position : Math.ceil(this.range(0).from);
    this.focus(Math.min(this.model.count - 1, Math.max(0, current + step)));
  }

  /** Moves the focus to the row at a position. */
  async focus(position) {
    if (position < 0 || position >= this.model.count) return;
    this.target = position;
    const { view } = this;
    const first = this.model.positionAt(this.scroller.scrollTop, view);
    const last = first + view / ROW - 1;
    let top = null;
    if (position < first) top = position;
    if (position > last) top = position - view / ROW + 1;
    if (top !== null) this.scroller.scrollTop = this.model.scrollFor(top, view);
    this.draw();
    for (let attempt = 0; attempt < 80 && !this.drawn.get(position)?.row; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      // A later key has another target, and the person may have left the table.
      if (this.target !== position || !this.grid.contains(document.activeElement)) return;
    }
    const element = this.drawn.get(position);
    if (!element) return;
    this.focusable(element);
    element.focus({ preventScroll: true });
  }

  /** The number of objects, in words. */
  get words() {
    return `${grouped(this.model.count)} ${this.model.count === 1 ? "object" : "objects"}`;
  }
}
