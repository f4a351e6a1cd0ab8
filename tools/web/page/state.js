// Describes the state of an instance in words, from its notices, status and frames.
// SPDX-License-Identifier: Apache-2.0
import {TOO_SLOW} from "./advice.js";

export const OLD_MS = 1500; // age of a picture that is no longer shown as live, ms

export function ago(ms) {
  return ms < 10000 ? `${(ms / 1000).toFixed(1)} s` : ms < 120000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60000)} min`;
}

// Returns a notice with the time since when its publisher is in its state. before: the notice before it, or null.
export function dated(notice, before) {
  const same = before?.publisher === notice.publisher;
  return {...notice, since: same ? before.since : before ? Date.now() : NaN};
}

// Returns words for a time that is ms ago, by this computer's clock: "since 17:31:02, 12 s ago".
function since(ms) {
  return `since ${new Date(Date.now() - ms).toLocaleTimeString("en-GB")}, ${ago(ms)} ago`;
}

// Returns the daemon's reason, and what to do about it.
function advise(reason, name) {
  if (!reason)
    return "";
  return `${reason}. ${reason.includes("too slow") ? `What helps: ${TOO_SLOW}` : `What to do: stixelctl -i ${name} doctor`}`;
}

const GONE = {
  absent: ["Not running", "no stixeld runs as"],
  ended: ["Ended", "it was ended in order:"],
  died: ["Died", "it was killed, or it crashed:"],
  replaced: ["Restarting", "a new process replaces"],
};

// Returns {kind, word, text, veil}: the first fault found. name: the instance. notice: newest notice of its stream; its
// field since is the time when the publisher's state began, NaN if it began before this page was opened. status: newest
// status, or null. shown: newest frame (parsed, received), or null.
export function judge({name, notice: n, status, shown}) {
  const age = shown ? performance.now() - shown.received : Infinity;
  if (!n || n.publisher === "unknown")
    return {kind: "wait", word: "Connecting", text: `to ${name}`, veil: ""};
  if (n.error)
    return {kind: "bad", word: "Not readable", text: n.error, veil: "Not readable"};
  if (GONE[n.publisher]) {
    const [word, what] = GONE[n.publisher], when = Number.isFinite(n.since) ? since(Date.now() - n.since) : "";
    return {kind: "bad", word, text: `${when ? `${when}; ` : ""}${what} ${name}. This page goes on when it starts.`, veil: `${word} ${when}`.trim()};
  }
  if (n.publisher === "stalled")
    return {kind: "bad", word: "Hangs", text: `no sign of life ${since(n.heartbeat_ms)}`, veil: `Hangs ${since(n.heartbeat_ms)}`};
  const reason = advise(status?.reason, name);
  if (n.state === "no_camera")
    return {kind: "bad", word: "No camera", text: reason || "it is looked for", veil: "No camera"};
  if (n.state === "starting" || n.state === "stopping")
    return {kind: "warn", word: n.state === "starting" ? "Starting" : "Stopping", text: reason, veil: age < OLD_MS ? "" : "Not yet"};
  if (age > OLD_MS)
    return {kind: "warn", word: shown ? "No new frames" : "Waiting", text: reason || (shown ? since(age) : "for the first frame"), veil: shown ? `Nothing new ${since(age)}` : ""};
  if (shown.parsed.blind)
    return {kind: "bad", word: "Blind", text: `Nothing is free: ${reason || "the pictures show nothing of what is there"}`, veil: ""};
  if (n.state === "degraded")
    return {kind: "warn", word: "Degraded", text: reason, veil: ""};
  return {kind: "good", word: "Running", text: "", veil: ""};
}
