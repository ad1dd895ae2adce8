// What a phone sends to the server and gets from it.

import { _ } from "../shared/language.js";

export class Refused extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

// Who asks, and in which language a refusal is to be.
const headersOf = (follower) => ({ "X-Follower": follower, "Accept-Language": document.documentElement.lang });

const LONGEST = 8000;  // ms between two attempts without a connection

async function answered(response) {
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(body.message ?? _("Headlight refused this."), response.status);
}

export const get = async (code, follower, path) =>
  answered(await fetch(`/class/${code}/${path}`, { headers: headersOf(follower) }));

export const post = async (code, follower, path, body) =>
  answered(await fetch(`/class/${code}/${path}`, { method: "POST", headers: { ...headersOf(follower), "Content-Type": "application/json" }, body: JSON.stringify(body) }));

// Joins the class, or goes on in it after a reload. The token is random; it is kept in this tab and in no cookie.
export async function enter(code) {
  const name = `headlight-class-${code}`, kept = sessionStorage.getItem(name);
  if (kept && (await get(code, kept, "news").then(() => true, ({ status }) => status !== 404))) return kept;
  const { follower } = await (await post(code, "", "join", {})).json();
  sessionStorage.setItem(name, follower);
  return follower;
}

// Asks for news as long as there is a class. A phone without a connection tries again, less and less often.
export async function follow(code, follower, { status, news, over }) {
  const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });
  let version = 0, wait = 500;
  for (;;) {
    try {
      const response = await get(code, follower, `news?after=${version}`);
      if (response.status !== 204) {
        const body = await response.json();
        await news(body);
        version = body.version;
      }
      status("");
      wait = 500;
    } catch (error) {
      if (error.status === 404) { over(error.message); return; }
      if (error.status === 409) continue;  // the class went on while the picture was asked for
      status(error instanceof Refused ? error.message : _("No connection to Headlight. Trying again …"));
      await pause(wait);
      wait = Math.min(2 * wait, LONGEST);
    }
  }
}
