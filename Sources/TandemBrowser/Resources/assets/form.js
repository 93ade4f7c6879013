// The form of an object's values. A field has a text, or is nil.

import { make } from "./dom.js";

export class ObjectForm {
  /**
   * @param properties The properties, with their texts.
   * @param save Sends the changed values: an object with a text or null for each name.
   */
  constructor(properties, { title, isNew, save, cancel }) {
    this.isNew = isNew;
    this.isSaving = false;
    this.save = save;
    this.fields = properties.filter((property) => property.isEditable).map((property) => field(property, isNew));
    this.problem = make("p", { class: "problem", role: "alert", hidden: true });
    this.element = make(
      "form",
      { novalidate: true, class: "form" },
      make("h2", { tabindex: "-1", id: "object-title" }, title),
      this.problem,
      this.fields.map((entry) => entry.element),
      make(
        "div",
        { class: "actions" },
        make("button", { type: "submit", class: "primary", "data-key": "save" }, "Save"),
        make("button", { type: "button", onclick: cancel, "data-key": "cancel" }, "Cancel"),
      ),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  async submit() {
    if (this.isSaving) return;
    const values = {};
    for (const { property, value } of this.fields) {
      const text = value();
      if (this.isNew ? text === null : text === (property.text ?? null)) continue;
      values[property.name] = { text, was: property.text ?? null };
    }
    this.show({}, null);
    // After a success, `isSaving` stays true. The form is visible until the object is loaded, and a second save would
    // insert another object.
    this.isSaving = true;
    try {
      await this.save(values);
    } catch (error) {
      this.isSaving = false;
      this.show(error.fields ?? {}, error.message);
    }
  }

  /** Shows messages at their fields, and moves the focus to the first. */
  show(fields, message) {
    this.problem.textContent = message ?? "";
    this.problem.hidden = !message;
    let first = null;
    for (const { property, input, error } of this.fields) {
      const text = fields[property.name] ?? "";
      error.textContent = text;
      if (text) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
      if (text && !first) first = input;
    }
    first?.focus();
  }
}

function field(property, isNew) {
  const id = `field-${property.name}`;
  const text = property.text ?? "";
  const isNil = property.text === null || property.text === undefined;
  const describedBy = `error-field-${property.name}`;
  let input;
  if (property.input === "bool") {
    input = make(
      "select",
      { id, "aria-describedby": describedBy },
      ["true", "false"].map((value) => make("option", { value, selected: value === text }, value)),
    );
    if (isNil) input.value = "false";
  } else if (property.input === "lines") {
    const rows = Math.min(12, Math.max(1, text.split("\n").length));
    input = make("textarea", { id, rows, spellcheck: "false", "aria-describedby": describedBy });
    input.value = text;
  } else {
    input = make("input", { id, type: "text", autocomplete: "off", spellcheck: "false", "aria-describedby": describedBy });
    input.value = text;
  }
  const error = make("p", { class: "error", id: describedBy });
  const nil = make("input", { type: "checkbox", id: `nil-${property.name}` });
  // A new object gets the property's default where nothing is given.
  const canBeNil = property.isOptional || isNew;
  nil.checked = canBeNil && isNil;
  input.addEventListener("input", () => (nil.checked = false));
  const hint = isNew ? "not given" : "nil";
  const element = make(
    "div",
    { class: "field" },
    make("label", { for: id }, property.name, make("small", {}, ` ${property.kind}`)),
    input,
    canBeNil ? make("label", { class: "switch", for: nil.id }, nil, ` ${hint}`) : null,
    error,
  );
  // A text field of HTML changes line breaks.
  const original = input.value;
  const value = () => {
    if (nil.checked) return null;
    return !isNil && input.value === original ? text : input.value;
  };
  return { property, element, input, error, value };
}
