// Draws clusters, pools, nodes and GPUs. Texts are set as texts, never as markup.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
export const money = (amount) => `$${amount.toFixed(2)} an hour`;

export function badge(text) {
  return el("span", { class: `badge ${text.toLowerCase().replace(/\W+/g, "-")}` }, text);
}

export function clusters(all) {
  const empty = el("p", {}, "There is no cluster yet: `make rehearse` brings a stack up.");
  return all.length ? [...all.map(cluster), legend()] : [empty];
}

function cluster(each) {
  const state = each.provisioningState === "Succeeded" ? "" : `, ${each.provisioningState}`;
  return el("article", {},
    el("h2", {}, each.name, " ", badge(each.controlPlane)),
    el("p", { class: "note" }, `group ${each.group}, Kubernetes ${each.version}${state}`),
    ...(each.reason ? [el("strong", { class: "fault" }, `! ${each.reason}`)] : []),
    el("div", { class: "pools" }, ...each.pools.map(pool)),
    ...pods("Pods that wait", each.pods.filter((pod) => pod.waits)),
    ...pods("Pods on GPUs", each.pods.filter((pod) => !pod.waits)));
}

function pool(each) {
  const range = each.least === each.most ? "" : ` (${each.least} to ${each.most})`;
  const nodes = `${many(each.nodes.length, "node")}${range}`;
  const size = each.isSpot ? `${each.size}, spot` : each.size;
  return el("section", { class: "pool" },
    el("h3", {}, each.name, " ", ...(each.state === "Succeeded" ? [] : [badge(each.state)])),
    el("p", { class: "note" }, size, el("br"), `${nodes}, ${money(each.cost)}`),
    el("ul", { class: "nodes" }, ...each.nodes.map(node)));
}

function node(each) {
  const cells = el("span", { class: "cells", role: "img", "aria-label": inWords(each.cells) });
  cells.append(...each.cells.map(cell));
  const looks = each.faults.length ? "faulty" : (each.note ? "not-ready" : each.state.replace(" ", "-"));
  const state = each.note ? `${each.state}, ${each.note}` : each.state;
  return el("li", { class: `node ${looks}`, title: each.name },
    el("b", {}, short(each.name)),
    el("span", { class: "note" }, each.cells.length ? state : `${state}, no GPU`),
    ...(each.cells.length ? [cells] : []),
    ...each.faults.map((fault) => el("strong", { class: "fault" }, `! ${fault}`)));
}

// Told by letters and borders too, not by color alone.
function cell({ kind, state, pod }) {
  const free = { gpu: "", share: "S", slice: "P" }[kind];
  const mark = { free, "in use": free || "●", "not ready": "!" }[state];
  const title = `${kind}, ${state}${pod ? `: ${pod}` : ""}`;
  return el("i", { class: `cell ${state.replace(" ", "-")}`, title }, mark);
}

function inWords(cells) {
  const counts = new Map();
  for (const { kind, state } of cells) {
    const key = `${kind === "gpu" ? "GPU" : `${kind} of a GPU`} ${state}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => `${count} ${key}`).join(", ");
}

function legend() {
  const shown = [["gpu", "free", "free GPU"], ["gpu", "in use", "in use"], ["share", "free", "share"],
    ["slice", "free", "slice (partitioned)"], ["gpu", "not ready", "not ready"]];
  const parts = shown.map(([kind, state, words]) => el("span", {}, cell({ kind, state }), ` ${words}`));
  return el("p", { class: "legend" }, ...parts);
}

function pods(title, all) {
  const lines = all.map((pod) => {
    const asks = Object.entries(pod.gpus).map(([name, count]) => `${count} ${name}`).join(", ");
    const note = `${asks || "no GPU"}; ${pod.waits ? pod.reason : `on ${pod.node}`}`;
    return el("li", {}, el("b", {}, pod.name), " ", badge(pod.waits ? "waits" : pod.state),
      el("p", { class: "note" }, note));
  });
  return lines.length ? [el("h3", {}, title), el("ul", {}, ...lines)] : [];
}

// The pool stands above the node, and the cluster's number says nothing.
const short = (name) => name.split("-").at(-1);
