// Shows what the server sends, and tells what has changed. It only reads.
import { badge, clusters, el, many, money } from "./drawing.js";

const byId = (id) => document.getElementById(id);
const drawn = new Map();
let facts = null;
let news = [];

function show(known) {
  const stacks = known.stacks.map((each) => each.name + (each.isUpdating ? " (updating)" : ""));
  draw("facts", [`Stacks: ${stacks.join(", ") || "none"} · ${money(known.cost)}, by made-up prices`]);
  draw("clusters", known.clusters, clusters);
  draw("operations", known.operations.map(operation), items);
  draw("scripts", [...known.complaints, ...known.scripts.map(keys)], items);
  draw("stored", known.stored, items);
  list(known.requests);
  compare(known);
}

// Draws a part of the page anew if its data has changed.
function draw(id, data, parts = (texts) => texts) {
  const text = JSON.stringify(data);
  if (drawn.get(id) !== text) byId(id).replaceChildren(...parts(data));
  drawn.set(id, text);
}

const items = (texts) => (texts.length ? texts : ["none"]).map((text) => el("li", {}, text));
const clock = (time) => new Date(time).toLocaleTimeString();
const last = (ids) => ids.map((id) => id.split("/").at(-1)).join(", ");

const keys = (entry) => Object.entries(entry).map(([name, value]) =>
  `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");

function operation({ kind, on, started, seconds, isHeld }) {
  const length = isHeld ? "held by faults.json" : `takes ${seconds.toFixed(1)} s or more`;
  return `${kind} of ${last(on)}, since ${clock(started * 1000)}, ${length}`;
}

// A request stays the same element as long as it is there, open or not.
function list(lines) {
  const all = byId("requests");
  const newest = Number(all.firstElementChild?.dataset.number ?? 0);
  all.prepend(...lines.filter((each) => each.number > newest).map(request));
  const kept = new Set(lines.map((each) => String(each.number)));
  for (const each of [...all.children]) if (!kept.has(each.dataset.number)) each.remove();
}

function request({ number, time, method, path, status }) {
  const answer = badge(status ? String(status) : "no answer");
  answer.classList.add(status && status < 400 ? "ready" : "failed");
  const line = el("summary", {}, el("time", { datetime: time }, clock(time)), answer,
    el("b", {}, method), el("span", {}, path));
  const whole = el("details", {}, line);
  whole.addEventListener("toggle", async () => {
    if (!whole.open || whole.dataset.asked) return;
    whole.dataset.asked = "yes";
    const found = await fetch(`requests/${number}`);
    const text = found.ok ? JSON.stringify(await found.json(), null, 2) : "It is in requests.jsonl.";
    whole.append(el("pre", { tabindex: 0, role: "region", "aria-label": "Request" }, text));
  });
  return el("li", { class: method === "GET" ? "read" : "write", "data-number": number }, whole);
}

// What is new, different or gone is told, by what it is about.
function compare(known) {
  const now = new Map(known.operations.map((each) => [`${each.kind} of ${last(each.on)}`, "under way"]));
  const ended = { "under way": "ended", waits: "waits no more" };
  for (const { name, controlPlane, pools, pods } of known.clusters) {
    now.set(`cluster ${name}`, controlPlane);
    for (const pod of pods) now.set(`pod ${pod.name}`, pod.waits ? "waits" : pod.state);
    for (const node of pools.flatMap((pool) => pool.nodes)) {
      now.set(`node ${node.name}`, [node.state, ...node.faults].join(", "));
    }
  }
  if (facts) {
    for (const [what, state] of now) if (facts.get(what) !== state) news.push(`${what}: ${state}`);
    for (const [what, state] of facts) if (!now.has(what)) news.push(`${what}: ${ended[state] ?? "gone"}`);
  }
  facts = now;
}

// Not more often than somebody can listen.
function tell() {
  if (!news.length) return;
  const more = news.length > 3 ? `, and ${many(news.length - 3, "change")} before` : "";
  byId("news").textContent = news.slice(-3).join("; ") + more;
  news = [];
}

const link = (text, state) => {
  draw("link", [text]);
  byId("link").className = state;
};
const events = new EventSource("events");
events.onopen = () => link("Live", "ready");
events.onmessage = (event) => show(JSON.parse(event.data));
events.onerror = () => link(events.readyState === EventSource.CLOSED
  ? "Ended: `aksgpu dashboard` prints a new address" : "Not connected, trying again", "failed");
byId("reads").onchange = () => byId("log").classList.toggle("with-reads");
setInterval(tell, 1500);
