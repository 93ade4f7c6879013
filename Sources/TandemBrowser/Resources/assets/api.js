// Requests to this server, with the session's token.

const token = document.querySelector('meta[name="tandem-token"]').content;

export class RequestError extends Error {
  constructor(status, body) {
    super(body.message || "The request failed.");
    this.status = status;
    this.fields = body.fields || {};
  }
}

/** Sends a request, and returns its JSON, or an empty object. */
export async function send(method, path, value, signal) {
  let response;
  let text;
  try {
    response = await fetch(path, {
      method,
      signal,
      headers: { "X-Tandem-Token": token, "Content-Type": "application/json", Accept: "application/json" },
      body: value === undefined ? undefined : JSON.stringify(value),
    });
    text = await response.text();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError(0, { message: "The server can't be reached. Is `tandem browse` still running?" });
  }
  let body = {};
  try {
    body = text ? JSON.parse(text) : {};
  } catch {
    // Only JSON is expected.
  }
  if (!response.ok) throw new RequestError(response.status, body);
  return body;
}

/** Requests data with parameters. Those that are null or empty are left out. */
export function data(name, parameters = {}, signal) {
  return send("GET", address(`/data/${name}`, parameters), undefined, signal);
}

/** Returns an address with parameters. */
export function address(path, parameters) {
  const parts = Object.entries(parameters)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return parts.length ? `${path}?${parts.join("&")}` : path;
}
