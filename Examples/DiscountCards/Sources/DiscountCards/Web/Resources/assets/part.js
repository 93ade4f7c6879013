// The part of the page beside the list: a card, its form, or the sync.

import { cardPath, html, send, upload, RequestError } from "./api.js";

export class PartColumn {
  constructor(element, { stream, shown, toast, navigate }) {
    this.element = element;
    this.stream = stream;
    this.shown = shown;
    this.toast = toast;
    this.navigate = navigate;
    this.path = "/";
    this.request = null;
    /** The HTML that the server sent last. */
    this.received = null;
    /** The number of that HTML among all that the stream has sent. */
    this.number = 0;
    element.addEventListener("click", (event) => this.click(event));
    element.addEventListener("submit", (event) => this.submit(event));
    element.addEventListener("change", (event) => this.changed(event));
  }

  /** The ID of the shown card, or null. */
  get card() {
    const match = this.path.match(/^\/cards\/([^/]+)/);
    return match ? decodeURIComponent(match[1]) : null;
  }

  /** The path of the part that the server draws again after changes, or null. */
  get livePath() {
    return /^\/cards\/[^/]+$/.test(this.path) || this.path === "/sync" ? this.path : null;
  }

  /** Requests a part and shows it. */
  async show(path, { focus = true } = {}) {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.path = path;
    document.body.classList.toggle("showing", path !== "/");
    this.shown(path);
    const stream = this.stream() ?? "";
    try {
      if (path === "/") {
        this.clear();
        if (stream) await html(`/parts/none?stream=${encodeURIComponent(stream)}`, request.signal);
        return;
      }
      const { text, number } = await html(`/parts${path}?stream=${encodeURIComponent(stream)}`, request.signal);
      if (this.request !== request) return;
      const isNumbered = number > 0 && stream === this.stream();
      // An event about a later change can arrive before the response.
      if (!isNumbered || number > this.number) {
        this.received = text;
        this.element.innerHTML = text;
        this.watchPhoto();
        if (isNumbered) this.number = number;
      }
      if (focus) this.element.querySelector("#card-title")?.focus();
    } catch (error) {
      if (error.name === "AbortError") return;
      this.message(error.message);
    }
  }

  clear() {
    this.message("Choose a card.");
  }

  message(text) {
    this.received = null;
    const line = document.createElement("p");
    line.className = "placeholder";
    line.textContent = text;
    this.element.replaceChildren(line);
  }

  /** Replaces the part by the server's newer form, and keeps the focus. */
  update(event) {
    if (!this.livePath || (event.card ?? null) !== this.card || event.number <= this.number) return;
    const isDeleted = event.html === null || event.html === undefined;
    const upload = this.element.querySelector(".upload");
    if (!isDeleted && upload && !upload.hidden) return;
    this.number = event.number;
    if (isDeleted) return this.message("This card was deleted.");
    if (event.html === this.received) return;
    this.received = event.html;
    // A person may be choosing values. The keys contain the version of the change that they see.
    const chosen = [...this.element.querySelectorAll("input[type=radio]:checked")].map((radio) => radio.dataset.key);
    const active = document.activeElement;
    const key = this.element.contains(active) ? active.dataset.key || active.id : null;
    const top = this.element.scrollTop;
    this.element.innerHTML = event.html;
    this.element.scrollTop = top;
    for (const radio of this.element.querySelectorAll("input[type=radio]")) {
      if (chosen.includes(radio.dataset.key)) radio.checked = true;
    }
    this.watchPhoto();
    if (!key) return;
    const next = [...this.element.querySelectorAll("[data-key], [id]")].find((e) => (e.dataset.key || e.id) === key);
    next?.focus({ preventScroll: true });
  }

  // Events

  async click(event) {
    const action = event.target.closest("[data-action]");
    if (!action) return;
    event.preventDefault();
    const { action: name } = action.dataset;
    try {
      if (name === "star") await send("POST", `${cardPath(this.card)}/star`);
      if (name === "delete") await this.remove();
      if (name === "remove-photo") await send("DELETE", `${cardPath(this.card)}/photo`);
      if (name === "cancel") this.navigate(this.card ? cardPath(this.card) : "/");
      if (name === "sync") await send("POST", "/sync");
      if (name === "decide") {
        const { version } = action.closest("[data-version]").dataset;
        await send("POST", `/decisions/${action.dataset.choice}`, { version });
        this.toast("Decided.");
      }
    } catch (error) {
      this.toast(error.message);
    }
  }

  async remove() {
    const { undo, shop } = await send("DELETE", cardPath(this.card));
    this.navigate("/");
    this.toast(`${shop} is deleted.`, async () => {
      const { id } = await send("POST", `/undo/${undo}`);
      this.navigate(cardPath(id));
    });
  }

  async changed(event) {
    const { target } = event;
    try {
      if (["photo-file", "photo-camera"].includes(target.id) && target.files[0]) await this.photograph(target.files[0]);
      if (target.id === "automatic") await send("POST", "/sync/automatic", { isOn: target.checked });
    } catch (error) {
      this.toast(error.message);
    }
  }

  async photograph(file) {
    const line = this.element.querySelector(".upload");
    const progress = line.querySelector("progress");
    const path = this.path;
    const preview = showPreview(file, line);
    progress.value = 0;
    line.hidden = false;
    try {
      await upload(`${cardPath(this.card)}/photo`, file, (percent) => (progress.value = percent));
      this.toast("The photo is saved.");
    } finally {
      line.hidden = true;
      URL.revokeObjectURL(preview.src);
      preview.remove();
      if (this.path === path) await this.show(path, { focus: false });
    }
  }

  async submit(event) {
    event.preventDefault();
    const form = event.target;
    if (form.matches(".choices")) return this.decide(form);
    await this.save(form);
  }

  /** Sends the values that a person has chosen for the properties of a conflict. */
  async decide(form) {
    const { version } = form.dataset;
    try {
      await send("POST", "/decisions/choose", { version, choices: Object.fromEntries(new FormData(form)) });
      this.toast("Decided.");
    } catch (error) {
      this.toast(error.message);
    }
  }

  /** Sends a form that has a path, and shows the next part. */
  async save(form) {
    const { path, next, done } = form.dataset;
    const values = Object.fromEntries(new FormData(form));
    // Another device may have changed the other fields since the form was shown.
    values.changed = [...form.querySelectorAll("[name]")].filter(isChanged).map((field) => field.name);
    try {
      const saved = await send("POST", path, values);
      this.navigate(next ?? cardPath(saved.id));
      this.toast(done);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      this.problems(form, error);
    }
  }

  /** Shows the messages at their fields, and moves the focus to the first. */
  problems(form, error) {
    const problem = form.querySelector("#form-problem");
    problem.textContent = error.message;
    problem.hidden = false;
    let first = null;
    for (const input of form.querySelectorAll("[name]")) {
      const message = error.fields[input.name] ?? "";
      const line = form.querySelector(`#error-${input.name}`);
      if (line) line.textContent = message;
      if (message) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
      if (message && !first) first = input;
    }
    first?.focus();
  }

  /** Says so if a photo can't be shown. */
  watchPhoto() {
    for (const image of this.element.querySelectorAll("img[data-photo]")) {
      image.addEventListener("error", () => {
        const line = document.createElement("p");
        line.className = "photo-state";
        line.textContent = "The photo can't be shown: it is not on this device, or it is not a picture.";
        image.closest("a").replaceWith(line);
      });
    }
  }
}

/** Returns whether a person has changed a field of a form. */
function isChanged(field) {
  if (field instanceof HTMLSelectElement) return !field.selectedOptions[0]?.defaultSelected;
  return field.value !== field.defaultValue;
}

/** Shows a chosen photo while it is being sent. */
function showPreview(file, line) {
  const image = document.createElement("img");
  image.className = "preview";
  image.alt = "The chosen photo";
  image.src = URL.createObjectURL(file);
  // Some cameras' formats are stored, but not shown by each browser.
  image.addEventListener("error", () => image.remove());
  line.before(image);
  return image;
}
