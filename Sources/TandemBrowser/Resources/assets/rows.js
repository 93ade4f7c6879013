// The rows of a table as the browser knows them: their number, and those that have been received. It has no part in
// the page, so that it can be tested alone.

/** The height in pixels to which browsers draw an element. Longer tables are scrolled in proportion. */
const TALLEST = 8_000_000;

export class RowModel {
  constructor(rowHeight) {
    this.rowHeight = rowHeight;
    this.clear();
  }

  clear() {
    this.count = 0;
    this.revision = -1;
    /** The rows by position. */
    this.rows = new Map();
  }

  /** Stores received rows. Rows of earlier revisions are dropped, but for those that are shown until others arrive. */
  store(event) {
    if (event.revision < this.revision) return false;
    if (event.revision > this.revision) this.stale = this.rows;
    if (event.revision > this.revision) this.rows = new Map();
    this.revision = event.revision;
    this.count = event.count;
    event.rows.forEach((row, index) => this.rows.set(event.first + index, row));
    // Memory stays flat while a million rows pass by.
    if (this.rows.size > 4000) {
      for (const position of [...this.rows.keys()].slice(0, this.rows.size - 2000)) this.rows.delete(position);
    }
    return true;
  }

  /** Returns a row, or the earlier one until the new one has arrived. */
  row(position) {
    return this.rows.get(position) ?? this.stale?.get(position);
  }

  /** The height of the scrolled element. */
  get height() {
    return Math.min(this.count * this.rowHeight, TALLEST);
  }

  /** Returns the number of pixels of rows for each pixel of scrolling. */
  scale(view) {
    const whole = this.count * this.rowHeight;
    return whole <= TALLEST || TALLEST <= view ? 1 : (whole - view) / (TALLEST - view);
  }

  /** Returns the first visible position, with a fraction, for a scroll offset. */
  positionAt(scroll, view) {
    return (scroll * this.scale(view)) / this.rowHeight;
  }

  /** Returns the scroll offset at which a position is the first one. */
  scrollFor(position, view) {
    return (position * this.rowHeight) / this.scale(view);
  }

  /** Returns the first range without rows within a range, or null. */
  missing(from, to) {
    let start = -1;
    let end = -1;
    for (let position = from; position < Math.min(to, this.count); position++) {
      if (this.rows.has(position)) continue;
      if (start < 0) start = position;
      end = position + 1;
    }
    return start < 0 ? null : { from: start, to: end };
  }
}
