/**
 * The part of a timeline's script that knows what lies where: data, time window, rows, and what is under
 * the pointer. It runs in a browser, so it is text here; see timeline-page.ts.
 */

export const TIMELINE_CHART = `
const shown = JSON.parse(document.getElementById('shown').textContent);
const byId = (id) => document.getElementById(id);
const GUTTER = 210, NODE_ROW = 28, LANE_ROW = 22, AXIS = 26, FAULT_ROW = 18;
const make = (name, className, text) => {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
};

const momentOf = (atMs) => {
  const ms = Math.abs(Math.trunc(atMs));
  const two = (value) => String(value).padStart(2, '0');
  const text = two(Math.floor(ms / 3600000)) + ':' + two(Math.floor(ms / 60000) % 60) + ':' + two(Math.floor(ms / 1000) % 60);
  return (atMs < 0 ? '-' : '') + text + '.' + String(ms % 1000).padStart(3, '0');
};

/** The first place in a sorted list from which on it is true. */
const firstWhere = (list, is) => {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (is(list[middle])) high = middle; else low = middle + 1;
  }
  return low;
};

const chain = new Set(shown.chain);
const time = { from: 0, to: 1 };
const state = { messages: 'chain', find: '', chosen: null };

/** One run as rows: a row for each node, and rows for its actors where it is opened. */
class Model {
  constructor(run, isFailing) {
    Object.assign(this, run);
    this.isFailing = isFailing;
    this.byIndex = new Map(run.records.map((record) => [record[0], record]));
    this.ofNode = run.nodes.map(() => []);
    this.ofLane = run.lanes.map(() => []);
    this.wide = [];
    for (const record of run.records) {
      if (record[2] >= 0) this.ofNode[record[2]].push(record); else this.wide.push(record);
      if (record[3] >= 0) this.ofLane[record[3]].push(record);
    }
    this.lanesOf = run.nodes.map(() => []);
    run.lanes.forEach((lane, index) => this.lanesOf[lane[1]].push(index));
    this.statesOf = run.lanes.map(() => []);
    for (const bar of run.states) this.statesOf[bar[0]].push(bar);
    this.timersOf = run.lanes.map(() => []);
    for (const timer of run.timers) this.timersOf[timer[0]].push(timer);
    for (const list of this.timersOf) list.sort((one, other) => one[1] - other[1]);
    this.livesOf = run.nodes.map(() => []);
    for (const life of run.lives) this.livesOf[life[0]].push(life);
    this.leasesOf = run.nodes.map(() => []);
    for (const lease of run.leases) this.leasesOf[lease[0]].push(lease);
    this.inChain = new Set();
    if (isFailing)
      for (const index of chain) { const record = this.byIndex.get(index); if (record && record[3] >= 0) this.inChain.add(record[3]); }
    else {
      const names = new Set(shown.failing.records.filter((record) => chain.has(record[0]) && record[3] >= 0).map((record) => shown.failing.lanes[record[3]][0]));
      run.lanes.forEach((lane, index) => { if (names.has(lane[0])) this.inChain.add(index); });
    }
    /** 0 closed, 1 what led to it, 2 all. */
    this.opened = run.nodes.map((_, node) => (this.lanesOf[node].some((lane) => this.inChain.has(lane)) ? 1 : 0));
    /** Turns whose message is drawn. */
    this.carried = new Set(run.messages.filter((message) => chain.has(message[4]) && chain.has(message[5])).map((message) => message[5]));
    this.matches = undefined;
    this.faultRows = this.stackFaults();
    this.layOut();
  }

  /** Faults that overlap lie below each other. */
  stackFaults() {
    const ends = [];
    this.faultRow = this.faults.map((fault) => {
      let row = ends.findIndex((end) => end <= fault[2]);
      if (row < 0) row = ends.length < 6 ? ends.length : 5;
      ends[row] = fault[3];
      return row;
    });
    return ends.length;
  }

  layOut() {
    this.rows = [];
    this.rowOfLane = new Map();
    this.rowOfNode = [];
    let top = 0;
    this.nodes.forEach((name, node) => {
      this.rowOfNode[node] = this.rows.length;
      this.rows.push({ node, lane: -1, top, height: NODE_ROW });
      top += NODE_ROW;
      const opened = this.opened[node];
      if (opened === 0) return;
      for (const lane of this.lanesOf[node]) {
        if (opened === 1 && !this.inChain.has(lane)) continue;
        this.rowOfLane.set(lane, this.rows.length);
        this.rows.push({ node, lane, top, height: LANE_ROW });
        top += LANE_ROW;
      }
    });
    this.height = top;
  }

  /** From closed to what led to it, to all, and closed again. */
  toggle(node) {
    const has = this.lanesOf[node].some((lane) => this.inChain.has(lane));
    const next = this.opened[node] + 1;
    this.opened[node] = next === 1 && !has ? 2 : next % 3;
    this.layOut();
  }

  /** So that a record has a row of its own. */
  open(lane) {
    if (lane < 0 || this.rowOfLane.has(lane)) return;
    this.opened[this.lanes[lane][1]] = 2;
    this.layOut();
  }

  rowOf(lane) {
    return this.rows[this.rowOfLane.get(lane) ?? this.rowOfNode[this.lanes[lane][1]]];
  }

  find(text) {
    const wanted = text.toLowerCase();
    this.matches = wanted === '' ? undefined : new Set(this.records.filter((record) => this.isAbout(record, wanted)).map((record) => record[0]));
  }

  isAbout(record, wanted) {
    return record[5].toLowerCase().includes(wanted) || record[4].includes(wanted) || (record[2] >= 0 && this.nodes[record[2]].toLowerCase().includes(wanted));
  }

  isMatch(record) {
    return this.matches === undefined || this.matches.has(record[0]);
  }

  recordsOf(row) {
    return row.lane >= 0 ? this.ofLane[row.lane] : this.ofNode[row.node];
  }

  /** The record of a row that is nearest to a moment, within N milliseconds. */
  nearest(row, atMs, withinMs) {
    const list = this.recordsOf(row);
    const at = firstWhere(list, (record) => record[1] >= atMs);
    let best;
    for (let index = Math.max(0, at - 3); index < Math.min(list.length, at + 4); index += 1) {
      const record = list[index];
      if (Math.abs(record[1] - atMs) <= withinMs && (!best || Math.abs(record[1] - atMs) < Math.abs(best[1] - atMs))) best = record;
    }
    return best;
  }
}

const clampTime = (from, to) => {
  const all = { from: Math.min(shown.failing.startMs, 0) - 500, to: Math.max(shown.failing.endMs, shown.passing ? shown.passing.endMs : 0) + 500 };
  const width = Math.min(Math.max(to - from, 2), all.to - all.from);
  const start = Math.min(Math.max(from, all.from), all.to - width);

  time.from = start;
  time.to = start + width;
};
`;
