// One object: its values, references, inverse links, files, and pending operation.

import { address, data, send } from "./api.js";
import { grouped, literal, make, replace, shown } from "./dom.js";
import { ObjectForm } from "./form.js";
import { errorLine, operationLine, valuesTable } from "./operation.js";

export class ObjectView {
  constructor(element, { isWritable, choose, close, list, toast }) {
    this.element = element;
    this.isWritable = isWritable;
    this.choose = choose;
    this.close = close;
    this.list = list;
    this.toast = toast;
    this.model = null;
    this.id = null;
    this.isEditing = false;
    this.received = "";
    this.request = null;
  }

  /** Shows an object, or nothing if the ID is null. */
  async show(model, id, { focus = true } = {}) {
    this.model = model;
    this.id = id;
    this.isEditing = false;
    this.received = "";
    this.element.hidden = !id;
    this.request?.abort();
    this.request = null;
    if (!id) return this.element.replaceChildren();
    await this.load();
    if (focus) this.element.querySelector("#object-title")?.focus({ preventScroll: true });
  }

  /** Reads the object again, because the store has changed. A form stays as it is. */
  refresh() {
    if (!this.id || this.isEditing) return;
    if (this.request) this.isDirty = true;
    else this.load();
  }

  async load() {
    const request = new AbortController();
    this.request = request;
    try {
      const object = await data("object", { model: this.model, id: this.id }, request.signal);
      if (this.request === request && !this.isEditing) this.draw(object);
    } catch (error) {
      if (error.name === "AbortError" || this.request !== request) return;
      this.received = "";
      replace(this.element, this.closeButton(), make("p", { class: "problem", role: "alert" }, error.message));
    } finally {
      if (this.request === request) this.request = null;
    }
    if (!this.isDirty) return;
    this.isDirty = false;
    this.refresh();
  }

  closeButton() {
    return make("button", { type: "button", class: "close", "data-key": "close", onclick: () => this.close() }, "Close");
  }

  draw(object) {
    const text = JSON.stringify(object);
    if (text === this.received) return;
    this.received = text;
    this.object = object;
    const deleted = object.isDeleted ? make("p", { class: "mark" }, "Deleted here, and not yet on the server.") : null;
    replace(
      this.element,
      [
        this.closeButton(),
        make("h2", { tabindex: "-1", id: "object-title", dir: "auto" }, object.title),
        make("p", { class: "faint" }, `${object.model} ${object.id}`),
        deleted,
        this.isWritable ? this.actions(object) : null,
        this.section("Values", this.values(object)),
        this.section("State", list(object.state.map((state) => [state.name, shown(state.value)]))),
        object.files.length ? this.section("Files", this.files(object)) : null,
        object.links.length ? this.section("Referred to by", this.links(object)) : null,
        this.section("Pending operation", this.operation(object)),
      ].filter(Boolean),
    );
  }

  section(title, ...content) {
    return make("section", { "aria-label": title }, make("h3", {}, title), content);
  }

  actions(object) {
    const button = (key, title, action, kind) =>
      make("button", { type: "button", "data-key": key, class: kind, onclick: () => this.attempt(action) }, title);
    return make(
      "div",
      { class: "actions" },
      object.isDeleted
        ? button("restore", "Restore", () => this.change("restore", "restored"))
        : [
            button("edit", "Edit", () => this.edit(), "primary"),
            button("delete", "Delete", () => this.change("delete", "deleted"), "danger"),
          ],
    );
  }

  async attempt(action) {
    try {
      await action();
    } catch (error) {
      this.toast(error.message);
    }
  }

  async change(name, done) {
    const { title, model, id } = this.object;
    const { undo } = await send("POST", `/edit/${name}`, { model, id });
    this.toast(`${title} is ${done}.`, undo);
  }

  edit() {
    this.isEditing = true;
    const { object } = this;
    const finish = () => this.show(object.model, object.id);
    const form = new ObjectForm(object.properties, {
      title: object.title,
      cancel: finish,
      save: async (values) => {
        if (Object.keys(values).length) {
          const { undo } = await send("POST", "/edit/update", { model: object.model, id: object.id, values });
          this.toast("Saved.", undo);
        }
        // Another object may be shown meanwhile.
        if (form.element.isConnected) await finish();
      },
    });
    this.element.replaceChildren(form.element);
    form.element.querySelector("input, textarea, select")?.focus();
  }

  /** Shows the form of a new object. */
  add(model, columns) {
    this.model = model;
    this.id = null;
    this.isEditing = true;
    this.element.hidden = false;
    const form = new ObjectForm(
      columns.filter((column) => !column.isState),
      {
        title: `New ${model}`,
        isNew: true,
        cancel: () => {
          // The address of the page has no object yet.
          this.show(null, null);
          this.close();
        },
        save: async (values) => {
          const { id, undo } = await send("POST", "/edit/insert", { model, values });
          this.toast("Inserted.", undo);
          if (form.element.isConnected) this.choose(model, id);
        },
      },
    );
    this.element.replaceChildren(form.element);
    form.element.querySelector("input, textarea, select")?.focus();
  }

  values(object) {
    return list(
      object.properties.map((property) => {
        const name = [property.name, make("small", {}, ` ${property.kind}`)];
        if (property.isReference && property.targets.length) {
          const targets = property.targets.map((target) => this.target(target, property.name));
          return [name, make("ul", { class: "targets" }, targets)];
        }
        const value = shown(property.value);
        if (property.isUnreadable) value.classList.add("error");
        return [name, value];
      }),
    );
  }

  target(target, key) {
    if (target.state === "missing") {
      return make("li", {}, target.id, make("span", { class: "mark" }, " not in the store"));
    }
    const state = target.state === "deleted" ? make("span", { class: "mark" }, " deleted") : null;
    return make("li", {}, this.link(target.model, target.id, target.title, `${key}-${target.id}`), state);
  }

  link(model, id, title, key) {
    return make(
      "button",
      { type: "button", class: "link", dir: "auto", "data-key": key, onclick: () => this.choose(model, id) },
      title,
    );
  }

  files(object) {
    return make(
      "ul",
      { class: "files" },
      object.files.map((file) => {
        const path = address("/data/file", { model: object.model, id: object.id, index: file.index });
        const name = file.isHere ? make("a", { href: path, download: "", "data-key": `file-${file.index}` }, file.name) : file.name;
        const size = file.size === null ? "" : `${grouped(file.size)} bytes, `;
        return make("li", {}, `${file.property}: `, name, make("p", {}, `${size}${file.contentType}, ${file.state}`));
      }),
    );
  }

  links(object) {
    return list(
      object.links.map((link) => {
        const name = `${link.model}.${link.property}`;
        const items = link.objects.map((other) =>
          make("li", {}, this.link(link.model, other.id, other.title, `${name}-${other.id}`)),
        );
        const condition = `\`${link.property}\` ${link.isList ? "contains" : "=="} ${literal(object.id)}`;
        const all = make(
          "button",
          {
            type: "button",
            class: "link",
            "data-key": `all-${name}`,
            onclick: () => this.list(link.model, condition),
          },
          `Show all ${grouped(link.count)}`,
        );
        return [name, link.count ? [make("ul", { class: "targets" }, items), all] : make("span", { class: "nil" }, "none")];
      }),
    );
  }

  operation(object) {
    if (!object.operation) return make("p", {}, "None. Nothing of this object waits to be sent.");
    return [
      make("p", {}, operationLine(object.operation)),
      errorLine(object.operation.error),
      valuesTable(object.operation, object.title),
    ];
  }
}

/** Returns a list of names and contents. */
function list(entries) {
  return make(
    "dl",
    {},
    entries.map(([name, content]) => make("div", {}, make("dt", {}, name), make("dd", {}, content))),
  );
}
