// The queue of pending operations, and those with errors.

import { data } from "./api.js";
import { grouped, make, replace } from "./dom.js";
import { errorLine, operationLine, valuesTable } from "./operation.js";

export class QueueView {
  constructor({ choose, failed }) {
    this.choose = choose;
    this.failed = failed;
    this.element = make("div", { class: "queue" });
    this.isBusy = false;
    this.isDirty = false;
    this.received = "";
  }

  /** Shows the queue, or the operations with errors. */
  show(name) {
    this.name = name;
    this.received = "";
    this.element.replaceChildren(make("p", { class: "empty" }, "Loading"));
    this.refresh();
  }

  async refresh() {
    if (this.isBusy) {
      this.isDirty = true;
      return;
    }
    this.isBusy = true;
    const { name } = this;
    try {
      const page = await data(name);
      if (name === this.name) this.draw(page);
    } catch (error) {
      this.failed(error);
    } finally {
      this.isBusy = false;
    }
    if (!this.isDirty && name === this.name) return;
    this.isDirty = false;
    this.refresh();
  }

  draw(page) {
    const text = JSON.stringify(page);
    if (text === this.received) return;
    this.received = text;
    const errors = this.name === "errors";
    const title = make("h2", { tabindex: "-1", id: "view-title" }, errors ? "Errors" : "Queue");
    const count = errors ? page.operations.length : page.total;
    const words = `${grouped(count)} ${count === 1 ? "operation" : "operations"}${errors ? " with an error" : ""}`;
    const parts = [title, make("p", { class: "count", role: "status" }, words)];
    if (!page.isComplete) {
      parts.push(make("p", {}, `Only the first ${grouped(page.operations.length)} operations are shown.`));
    }
    if (!page.operations.length) {
      parts.push(make("p", { class: "empty" }, errors ? "No operation has an error." : "No operation is waiting."));
    }
    const items = page.operations.map((operation) => {
      const name = `${operation.model} ${operation.localID}`;
      const link = make(
        "button",
        {
          type: "button",
          class: "link",
          "data-key": `operation-${operation.id}`,
          onclick: () => this.choose(operation.model, operation.localID),
        },
        name,
      );
      const changed = operation.changed.length ? make("p", {}, `Changed: ${operation.changed.join(", ")}`) : null;
      return make(
        "li",
        { class: `operation is-${operation.state}` },
        make("h3", {}, link),
        make("p", {}, operationLine(operation)),
        changed,
        errorLine(operation.error),
        valuesTable(operation, name),
      );
    });
    parts.push(make("ol", { class: "operations" }, items));
    replace(this.element, parts);
  }
}
