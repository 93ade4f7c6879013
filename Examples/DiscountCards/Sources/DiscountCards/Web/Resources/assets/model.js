// The list as the browser knows it: the number of cards, the headings, and the rows that have been received. It has no
// part in the page, so that it can be tested alone.

export class ListModel {
  constructor() {
    this.count = 0;
    this.revision = 0;
    this.headings = [];
    /** The rows by position. Rows that were not received are undefined. */
    this.rows = [];
  }

  /** Replaces the whole list. */
  reset(event) {
    this.count = event.count;
    this.revision = event.revision;
    this.headings = event.headings;
    this.rows = new Array(event.count);
    event.rows.forEach((row, index) => (this.rows[event.first + index] = row));
  }

  /** Applies insertions, deletions, moves and modifications. Returns the IDs of moved rows. */
  apply(event) {
    const removed = new Map();
    const gone = new Set(event.deletions);
    for (const position of event.deletions) {
      const row = this.rows[position];
      if (row) removed.set(row.id, row);
    }
    // `filter` would drop the holes too.
    const rows = gone.size ? withHoles(this.rows, gone) : this.rows;
    const moved = [];
    if (event.insertions.length) {
      const next = new Array(event.count);
      const added = new Set(event.insertions);
      let source = 0;
      for (let position = 0; position < event.count; position++) {
        if (!added.has(position)) {
          if (rows[source] !== undefined) next[position] = rows[source];
          source++;
          continue;
        }
        const id = event.ids[position];
        const row = event.rows[position];
        if (row) next[position] = row;
        if (removed.has(id)) moved.push(id);
      }
      this.rows = next;
    } else {
      rows.length = event.count;
      this.rows = rows;
    }
    for (const position of event.modifications) {
      const row = event.rows[position];
      if (row) this.rows[position] = row;
      else delete this.rows[position];
    }
    if (event.isReread) {
      this.rows = new Array(event.count);
      for (const [position, row] of Object.entries(event.rows)) this.rows[position] = row;
    }
    this.count = event.count;
    this.revision = event.revision;
    if (event.headings) this.headings = event.headings;
    return moved;
  }

  /** Stores requested rows, if they belong to the current revision. Returns whether they do. */
  store(event) {
    if (event.revision !== this.revision) return false;
    event.rows.forEach((row, index) => (this.rows[event.first + index] = row));
    return true;
  }

  /** Replaces rows with the same IDs. */
  replace(rowsByID, range) {
    for (let position = range.from; position < range.to; position++) {
      const row = this.rows[position];
      if (row && rowsByID[row.id]) this.rows[position] = rowsByID[row.id];
    }
  }

  /** Returns the number of headings up to and including the one of a position. */
  headingsThrough(position) {
    let low = 0;
    let high = this.headings.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.headings[middle].start <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the position that follows the last row before an offset, for given heights. */
  positionAt(offset, rowHeight, headHeight) {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.top(middle, rowHeight, headHeight) + rowHeight <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the offset of a row's upper edge. */
  top(position, rowHeight, headHeight) {
    return position * rowHeight + this.headingsThrough(position) * headHeight;
  }

  /** Returns the height of the list. */
  height(rowHeight, headHeight) {
    return this.count * rowHeight + this.headings.length * headHeight;
  }

  /** Returns whether a row of a range was not received. */
  isMissing(from, to) {
    for (let position = from; position < Math.min(to, this.count); position++) {
      if (!this.rows[position]) return true;
    }
    return false;
  }
}

function withHoles(rows, gone) {
  const kept = new Array(rows.length - gone.size);
  let target = 0;
  for (let position = 0; position < rows.length; position++) {
    if (gone.has(position)) continue;
    if (rows[position] !== undefined) kept[target] = rows[position];
    target++;
  }
  return kept;
}
