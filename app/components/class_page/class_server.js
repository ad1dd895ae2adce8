// What a phone sends to the server and gets from it.

import { _ } from "../shared/language.js";

// The server refused a request (status: HTTP), or there is no connection (status 0).
class RequestError extends Error {
  constructor(message, status = 0) { super(message); this.status = status; }
}

// The follower's token, and the language of error messages.
const headersOf = (follower) => ({ "X-Follower": follower, "Accept-Language": document.documentElement.lang });

const PATIENCE = 20_000;  // ms that a phone waits until what it has sent is received
const SHORTEST = 500, LONGEST = 8000;  // ms before a failed request is repeated
// ms before news are requested again if the server refuses a picture (409), because the class sees another scene now.
const MOVED_ON = 200;

async function request(code, path, options) {
  const response = await fetch(`/class/${code}/${path}`, options).catch(() => { throw new RequestError(_("No connection to Headlight. Try again.")); });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new RequestError(body.message ?? _("Headlight refused this."), response.status);
}

export const get = (code, follower, path) => request(code, path, { headers: headersOf(follower) });

export const post = (code, follower, path, body) =>
  request(code, path, { method: "POST", signal: AbortSignal.timeout(PATIENCE), headers: { ...headersOf(follower), "Content-Type": "application/json" }, body: JSON.stringify(body) });

// Returns a function that loads on demand. Its first call calls `load`, and all calls return the same promise; after a
// failure, the next call calls `load` again. `load` gets the number of the attempt, because a browser does not import a
// module again from an address that has failed.
export function onDemand(load) {
  let result = null, attempt = 0;
  return () => (result ??= load(++attempt).catch(() => {
    result = null;
    throw new RequestError(_("No connection to Headlight. Try again."));
  }));
}

// Joins the class, or goes on in it after a reload. The token is random; it is kept in this tab and in no cookie.
export async function enter(code) {
  const name = `headlight-class-${code}`, kept = sessionStorage.getItem(name);
  if (kept && (await get(code, kept, "news").then(() => true, ({ status }) => status !== 404))) return kept;
  const { follower } = await (await post(code, "", "join", {})).json();
  sessionStorage.setItem(name, follower);
  return follower;
}

// Asks for news as long as there is a class. A phone without a connection tries again, less and less often. An error
// while news are drawn is reported in the console, and the next news are drawn.
export async function follow(code, follower, { status, news, over }) {
  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
  let version = 0, wait = SHORTEST;
  for (;;) {
    try {
      const response = await get(code, follower, `news?after=${version}`);
      if (response.status !== 204) {
        const body = await response.json();
        await news(body).catch((error) => { if (error instanceof RequestError) throw error; reportError(error); });
        version = body.version;
      }
      status("");
      wait = SHORTEST;
    } catch (error) {
      if (error.status === 404) { over(error.message); return; }
      if (error.status === 409) { await pause(MOVED_ON); continue; }
      status(error.status ? error.message : _("No connection to Headlight. Trying again …"));
      await pause(wait);
      wait = Math.min(2 * wait, LONGEST);
    }
  }
}
