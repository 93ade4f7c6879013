// The list of cards: it draws the visible rows, requests missing ones, and follows the changes of the server.

import { cardPath } from "./api.js";
import { ListModel } from "./model.js";

/** The number of rows that are drawn above and below the visible ones. */
const MARGIN = 12;
/** The number of rows that are requested around the visible ones. */
const AHEAD = 60;

export class CardList {
  constructor(elements, { rows, choose }) {
    this.elements = elements;
    this.requestRows = rows;
    this.choose = choose;
    this.model = new ListModel();
    /** The elements of drawn rows, by the cards' IDs. */
    this.drawn = new Map();
    this.heads = new Map();
    this.stream = null;
    this.chosen = null;
    this.pending = false;
    this.isFrameDue = false;
    this.measure();
    elements.scroller.addEventListener("scroll", () => this.drawSoon(), { passive: true });
    window.addEventListener("resize", () => this.drawSoon());
    elements.list.addEventListener("keydown", (event) => this.key(event));
    elements.list.addEventListener("click", (event) => this.click(event));
  }

  measure() {
    const style = getComputedStyle(document.documentElement);
    this.row = parseFloat(style.getPropertyValue("--row"));
    this.head = parseFloat(style.getPropertyValue("--head"));
  }

  // Events

  reset(event, isSameSearch) {
    this.stream = event.stream;
    this.model.reset(event);
    if (!isSameSearch) this.elements.scroller.scrollTop = 0;
    this.draw();
  }

  change(event) {
    if (event.revision !== this.model.revision + 1) return;
    const anchor = this.anchor();
    const moved = this.model.apply(event);
    this.keep(anchor);
    this.draw(new Set(moved));
  }

  states(rows) {
    this.model.replace(rows, this.range(AHEAD));
    this.draw();
  }

  /** Returns the first visible row and its distance from the upper edge, unless the list is at its beginning. */
  anchor() {
    const scroll = this.elements.scroller.scrollTop;
    if (scroll <= 0) return null;
    for (let position = this.model.positionAt(scroll, this.row, this.head); position < this.model.count; position++) {
      const row = this.model.rows[position];
      if (row) return { id: row.id, distance: this.model.top(position, this.row, this.head) - scroll };
      if (position > this.range(0).to) return null;
    }
    return null;
  }

  /** Scrolls so that the anchor stays where it was. */
  keep(anchor) {
    this.elements.list.style.height = `${this.model.height(this.row, this.head)}px`;
    if (!anchor) return;
    const position = this.model.rows.findIndex((row) => row && row.id === anchor.id);
    if (position < 0) return;
    const scroll = this.model.top(position, this.row, this.head) - anchor.distance;
    if (Math.abs(scroll - this.elements.scroller.scrollTop) >= 1) this.elements.scroller.scrollTop = scroll;
  }

  // Drawing

  range(margin) {
    const { scrollTop, clientHeight } = this.elements.scroller;
    const from = this.model.positionAt(scrollTop, this.row, this.head);
    const to = this.model.positionAt(scrollTop + clientHeight, this.row, this.head) + 1;
    return { from: Math.max(0, from - margin), to: Math.min(this.model.count, to + margin) };
  }

  drawSoon() {
    if (this.isFrameDue) return;
    this.isFrameDue = true;
    requestAnimationFrame(() => {
      this.isFrameDue = false;
      this.draw();
    });
  }

  draw(moved = new Set()) {
    const { list, floating, empty } = this.elements;
    const { model } = this;
    list.style.height = `${model.height(this.row, this.head)}px`;
    empty.hidden = model.count > 0;
    const { from, to } = this.range(MARGIN);
    const used = new Set();
    for (let position = from; position < to; position++) {
      const row = model.rows[position];
      const key = row ? row.id : `blank-${position}`;
      used.add(key);
      let element = this.drawn.get(key);
      if (!element) {
        element = makeRow();
        this.drawn.set(key, element);
        list.append(element);
      }
      element.classList.toggle("moving", moved.has(key));
      element.style.transform = `translateY(${model.top(position, this.row, this.head)}px)`;
      fill(element, row, position, model.count, row && row.id === this.chosen);
    }
    for (const [key, element] of this.drawn) {
      if (used.has(key)) continue;
      // A row with the focus stays until the focus leaves it.
      if (element.contains(document.activeElement) && model.rows.some((row) => row && row.id === key)) continue;
      if (element.contains(document.activeElement)) list.focus({ preventScroll: true });
      element.remove();
      this.drawn.delete(key);
    }
    this.drawHeads(from, to);
    this.drawFloating(floating);
    this.order(list, from, to);
    this.request();
  }

  /** Puts the rows into the order of the list, for the keyboard and screen readers. */
  order(list, from, to) {
    let before = null;
    for (let position = to - 1; position >= from; position--) {
      const row = this.model.rows[position];
      const element = this.drawn.get(row ? row.id : `blank-${position}`);
      if (element.nextSibling !== before && !element.contains(document.activeElement)) list.insertBefore(element, before);
      before = element;
      const head = this.heads.get(position);
      if (head) {
        if (head.nextSibling !== before) list.insertBefore(head, before);
        before = head;
      }
    }
    const shown = this.drawn.get(this.chosen);
    const first = this.model.rows[from];
    for (const element of this.drawn.values()) {
      const link = element.firstChild;
      const isEntry = element === shown || (!shown && first && element === this.drawn.get(first.id));
      if (link !== document.activeElement) link.tabIndex = isEntry ? 0 : -1;
    }
  }

  drawHeads(from, to) {
    const used = new Set();
    for (const heading of this.model.headings) {
      if (heading.start < from || heading.start >= to) continue;
      used.add(heading.start);
      let element = this.heads.get(heading.start);
      if (!element) {
        element = document.createElement("li");
        element.className = "head";
        element.append(document.createElement("h2"));
        this.heads.set(heading.start, element);
        this.elements.list.append(element);
      }
      element.firstChild.textContent = headingText(heading);
      element.style.transform = `translateY(${this.model.top(heading.start, this.row, this.head) - this.head}px)`;
    }
    for (const [start, element] of this.heads) {
      if (used.has(start)) continue;
      element.remove();
      this.heads.delete(start);
    }
  }

  /** Shows the heading of the first visible row above the list. */
  drawFloating(floating) {
    const { scroller } = this.elements;
    const index = this.model.headingsThrough(this.model.positionAt(scroller.scrollTop, this.row, this.head)) - 1;
    floating.hidden = index < 0 || this.model.count === 0 || scroller.scrollTop <= 0;
    if (floating.hidden) return;
    floating.textContent = headingText(this.model.headings[index]);
    floating.style.top = `${scroller.offsetTop}px`;
  }

  /** Requests the missing rows around the visible ones. */
  async request() {
    if (this.pending || !this.stream) return;
    const visible = this.range(MARGIN);
    if (!this.model.isMissing(visible.from, visible.to)) return;
    const { from, to } = this.range(AHEAD);
    this.pending = true;
    try {
      const event = await this.requestRows(this.stream, from, to);
      if (event) {
        this.model.store(event);
        this.pending = false;
        this.draw();
      }
    } catch {
      // The stream connects again, and sends the list.
    } finally {
      this.pending = false;
    }
    if (this.model.isMissing(visible.from, visible.to)) setTimeout(() => this.drawSoon(), 60);
  }

  // Choosing

  show(id) {
    this.chosen = id;
    this.draw();
  }

  click(event) {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    if (link.dataset.id) this.choose(link.dataset.id);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    const link = event.target.closest("a");
    if (step === undefined || !link) return;
    event.preventDefault();
    const current = Number(link.dataset.position);
    this.focus(Math.min(this.model.count - 1, Math.max(0, current + step)));
  }

  /** Moves the focus to the row at a position. */
  async focus(position) {
    if (position < 0 || position >= this.model.count) return;
    const { scroller } = this.elements;
    const top = this.model.top(position, this.row, this.head);
    if (top - this.head < scroller.scrollTop) scroller.scrollTop = top - this.head;
    if (top + this.row > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = top + this.row - scroller.clientHeight;
    }
    this.draw();
    for (let attempt = 0; attempt < 40 && !this.model.rows[position]; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    const row = this.model.rows[position];
    const link = row && this.drawn.get(row.id)?.firstChild;
    if (!link) return;
    link.tabIndex = 0;
    link.focus({ preventScroll: true });
    this.draw();
  }
}

function headingText(heading) {
  return heading.title === "★" ? "★ Favorites" : heading.title;
}

function makeRow() {
  const element = document.createElement("li");
  element.className = "row";
  const link = document.createElement("a");
  const mark = span("mark");
  const names = span("names");
  const shop = span("shop");
  const owner = span("owner");
  names.append(shop, owner);
  const right = span("right");
  const [points, unit, state] = [span("points"), span("unit"), span("state")];
  // The number is clear to see. A screen reader reads it alone.
  unit.textContent = "points";
  right.append(points, unit, state);
  link.append(mark, names, right);
  element.append(link);
  element.parts = { link, mark, shop, owner, points, state };
  return element;
}

function span(name) {
  const element = document.createElement("span");
  element.className = name;
  return element;
}

/** Writes a row's values. Texts are never parsed as HTML. */
function fill(element, row, position, count, isChosen) {
  const { link, mark, shop, owner, points, state } = element.parts;
  element.setAttribute("aria-posinset", position + 1);
  element.setAttribute("aria-setsize", count);
  link.dataset.position = position;
  if (isChosen) link.setAttribute("aria-current", "true");
  else link.removeAttribute("aria-current");
  if (element.row === row && row) return;
  element.row = row;
  element.classList.toggle("blank", !row);
  if (!row) {
    link.removeAttribute("href");
    shop.textContent = "…";
    return;
  }
  link.href = cardPath(row.id);
  link.dataset.id = row.id;
  mark.textContent = row.isStarred ? "★" : "";
  setSignLabel(mark, row.isStarred ? "Favorite" : null);
  shop.textContent = row.shop;
  owner.textContent = row.owner;
  points.textContent = row.points;
  state.textContent = row.state === "synced" ? "✓" : row.stateWords;
  state.className = `state is-${row.state}`;
  setSignLabel(state, row.state === "synced" ? row.stateWords : null);
}

/** Labels an element whose text is a sign, or removes the label. */
function setSignLabel(element, label) {
  if (label === null) {
    element.removeAttribute("role");
    element.removeAttribute("aria-label");
  } else {
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", label);
  }
}
