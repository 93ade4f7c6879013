// Requests to this server, with the session's token.

const token = document.querySelector('meta[name="cards-token"]').content;

export class RequestError extends Error {
  constructor(status, body) {
    super(body.message || "The request failed.");
    this.status = status;
    this.fields = body.fields || {};
  }
}

/** Returns the path of a card. */
export function cardPath(id) {
  return `/cards/${encodeURIComponent(id)}`;
}

/** Returns the value of a JSON text, or an empty object for any other text. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Sends a request, and returns its JSON, or nothing. */
export async function send(method, path, value) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: { "X-Cards-Token": token, "Content-Type": "application/json", Accept: "application/json" },
      body: value === undefined ? undefined : JSON.stringify(value),
    });
  } catch {
    throw new RequestError(0, { message: "The app's server can't be reached. Is `cards web` still running?" });
  }
  const body = parsed(await response.text());
  if (!response.ok) throw new RequestError(response.status, body);
  return body;
}

/** Requests a part of the page as HTML. Returns it with its number, or 0 if it has none. */
export async function html(path, signal) {
  const response = await fetch(path, { headers: { Accept: "text/html" }, signal });
  const text = await response.text();
  if (!response.ok) throw new RequestError(response.status, parsed(text));
  return { text, number: Number(response.headers.get("X-Cards-Part")) };
}

/** Sends a file, and reports the progress from 0 to 100. */
export function upload(path, file, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", path);
    request.setRequestHeader("X-Cards-Token", token);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => event.lengthComputable && progress((100 * event.loaded) / event.total);
    request.onload = () => {
      if (request.status < 300) return resolve();
      reject(new RequestError(request.status, parsed(request.responseText)));
    };
    request.onerror = () => reject(new RequestError(0, { message: "The photo was not saved: the connection ended." }));
    request.send(file);
  });
}
