/**
 * The part of a timeline's script that draws: axis, faults, lives, states, records, messages and the
 * violation. Only what is in view is drawn, and what falls on one pixel is drawn once.
 */

export const TIMELINE_DRAWING = `
let colours = {};
const readColours = () => {
  const style = getComputedStyle(document.documentElement);
  for (const name of ['paper', 'card', 'ink', 'quiet', 'line', 'stripe', 'accent', 'wrong', 'wrong-soft', 'good', 'warn', 'up', 'paused', 'lead', 'tick', 'timer', 'fault', 'fault-soft', 'bar-ink', 'bar-light', 'bar-full'])
    colours[name] = style.getPropertyValue('--' + name).trim();
};
const ENDS = { completed: 152, done: 152, COMPLETED: 152, AGGREGATED: 152, failed: 4, FAILED: 4, timedOut: 24, cancelled: 230, CANCELLED: 230 };
const hues = new Map();
/** The same word has the same colour in every run; ends have theirs. */
const barColour = (name) => {
  const word = /^[A-Za-z]+/.exec(name)?.[0] ?? name;
  let hue = hues.get(name);
  if (hue === undefined) {
    let hash = 7;
    for (const character of name) hash = (hash * 31 + character.charCodeAt(0)) % 9973;
    hue = ENDS[word] ?? 175 + (hash % 16) * 9;
    hues.set(name, hue);
  }
  return word in ENDS ? 'hsl(' + hue + ' 58% ' + colours['bar-full'] + ')' : 'hsl(' + hue + ' 46% ' + colours['bar-light'] + ')';
};
const FONT = '"DejaVu Sans", system-ui, sans-serif';
const TICK_COLOUR = { work: 'good', log: 'quiet', lease: 'lead', node: 'warn', answer: 'accent', call: 'accent', undelivered: 'wrong', frame: 'warn', commit: 'wrong', turn: 'tick', actor: 'tick', mark: 'quiet', fault: 'fault' };

class Painter {
  constructor(view) { this.view = view; }

  begin(canvas, height) {
    const width = canvas.clientWidth || 800, ratio = devicePixelRatio || 1;
    canvas.style.height = height + 'px';
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.pen = canvas.getContext('2d');
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.pen.clearRect(0, 0, width, height);
    this.width = width;
    this.height = height;
    this.scale = (width - GUTTER) / (time.to - time.from);
  }

  x(atMs) { return GUTTER + (atMs - time.from) * this.scale; }

  text(text, x, y, colour, size, weight) {
    this.pen.font = (weight ? weight + ' ' : '') + size + 'px ' + FONT;
    this.pen.fillStyle = colour;
    this.pen.textBaseline = 'middle';
    this.pen.fillText(text, x, y);
  }

  /** As much of a text as there is room for; nothing rather than a letter. */
  fitting(text, x, y, room, colour) {
    const letters = Math.floor(room / 6.3);
    if (letters < 3) return;
    this.text(text.length > letters ? text.slice(0, letters - 1) + '…' : text, x, y, colour, 10.5);
  }

  clipTime() {
    this.pen.save();
    this.pen.beginPath();
    this.pen.rect(GUTTER, 0, this.width - GUTTER, this.height);
    this.pen.clip();
  }

  head(canvas) {
    const { model } = this.view;
    this.begin(canvas, AXIS + model.faultRows * FAULT_ROW + (model.faultRows ? 4 : 0));
    this.text('time', 12, AXIS / 2, colours.quiet, 11);
    if (model.faultRows) this.text('faults', 12, AXIS + FAULT_ROW / 2, colours.quiet, 11);
    this.clipTime();
    this.eachTick((x, label) => {
      this.pen.fillStyle = colours.line;
      this.pen.fillRect(x, AXIS - 6, 1, 6);
      this.text(label, x + 4, AXIS / 2, colours.quiet, 11);
    });
    model.faults.forEach((fault, index) => {
      const left = Math.max(this.x(fault[2]), GUTTER - 4), right = Math.min(this.x(fault[3]), this.width + 4);
      if (right < GUTTER || left > this.width) return;
      const top = AXIS + model.faultRow[index] * FAULT_ROW + 1;
      this.pen.fillStyle = colours.fault;
      this.pen.globalAlpha = fault[4] > 0 ? 0.32 : 0.14;
      this.pen.fillRect(left, top, Math.max(2, right - left), FAULT_ROW - 3);
      this.pen.globalAlpha = 1;
      const inside = right - left - 8, outside = this.roomAfter(index) - right - 10;
      const [from, room] = inside >= 80 || inside >= outside ? [left + 6, inside] : [right + 6, outside];
      this.fitting(fault[1] + ' ' + fault[0] + (fault[4] > 0 ? ' ×' + fault[4] : ''), from, top + FAULT_ROW / 2 - 1, room, colours['bar-ink']);
    });
    this.mark(true);
    this.pen.restore();
  }

  /** Where the next fault in the row of this one begins. */
  roomAfter(index) {
    const { faults, faultRow } = this.view.model;
    const later = faults.filter((fault, other) => faultRow[other] === faultRow[index] && other !== index && fault[2] >= faults[index][2]);
    return Math.min(this.width, ...later.map((fault) => this.x(fault[2])));
  }

  eachTick(draw) {
    const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 864e5];
    const step = steps.find((ms) => ms * this.scale >= 110) ?? 864e5;
    for (let at = Math.ceil(time.from / step) * step; at <= time.to; at += step)
      draw(this.x(at), step >= 1000 ? momentOf(at).slice(0, -4) : momentOf(at).slice(3));
  }

  body(canvas, scrollTop, height) {
    const { model } = this.view;
    this.begin(canvas, height);
    const rows = model.rows.filter((row) => row.top + row.height > scrollTop && row.top < scrollTop + height);
    for (const row of rows) {
      if (row.lane >= 0) continue;
      this.pen.fillStyle = colours.stripe;
      this.pen.fillRect(0, row.top - scrollTop, this.width, row.height);
    }
    this.clipTime();
    for (const fault of model.faults) {
      const left = this.x(fault[2]), right = this.x(fault[3]);
      this.pen.fillStyle = colours['fault-soft'];
      this.pen.fillRect(left, 0, Math.max(1, right - left), height);
    }
    this.eachTick((x) => { this.pen.fillStyle = colours.line; this.pen.fillRect(x, 0, 1, height); });
    for (const row of rows) if (row.lane < 0) this.node(row, row.top - scrollTop); else this.lane(row, row.top - scrollTop);
    this.messages(scrollTop);
    this.mark(false);
    this.pen.restore();
    this.pen.fillStyle = colours.line;
    this.pen.fillRect(GUTTER - 1, 0, 1, height);
  }

  spans(list, draw) {
    for (const span of list) {
      const left = Math.max(this.x(span[1]), GUTTER - 4), right = Math.min(this.x(span[2]), this.width + 4);
      if (right >= GUTTER && left <= this.width) draw(left, Math.max(1, right - left), span);
    }
  }

  node(row, top) {
    const { model } = this.view;
    this.spans(model.livesOf[row.node], (left, width, life) => {
      this.pen.fillStyle = life[3] === 'paused' ? colours.paused : colours.up;
      this.pen.fillRect(left, top + 6, width, row.height - 12);
      if (life[3] === 'paused') this.fitting('paused', left + 5, top + row.height / 2, width, colours['bar-ink']);
    });
    this.spans(model.leasesOf[row.node], (left, width) => {
      this.pen.fillStyle = colours.lead;
      this.pen.fillRect(left, top + 6, width, 3);
    });
    this.ticks(model.ofNode[row.node], top + 11, row.height - 18);
  }

  /** What falls on one pixel is one tick, and the stronger the more it is. */
  ticks(list, top, height) {
    const { model } = this.view;
    let last = -1;
    for (let at = firstWhere(list, (record) => record[1] >= time.from); at < list.length && list[at][1] <= time.to; at += 1) {
      const record = list[at];
      const x = Math.round(this.x(record[1]));
      const isStrong = record[4] === 'node' || record[4] === 'lease' || (model.isFailing && chain.has(record[0])) || (model.matches && model.matches.has(record[0]));
      if (x === last && !isStrong) continue;
      last = x;
      this.pen.globalAlpha = model.isMatch(record) ? (isStrong ? 1 : 0.65) : 0.12;
      this.pen.fillStyle = model.isFailing && chain.has(record[0]) ? colours.accent : colours[TICK_COLOUR[record[4]]] ?? colours.tick;
      this.pen.fillRect(x, isStrong ? top - 3 : top, isStrong ? 2 : 1, isStrong ? height + 6 : height);
      if (state.chosen === record) this.ring(x, top + height / 2);
    }
    this.pen.globalAlpha = 1;
  }

  lane(row, top) {
    const { model } = this.view;
    this.spans(model.statesOf[row.lane], (left, width, bar) => {
      this.pen.fillStyle = barColour(bar[3]);
      this.pen.fillRect(left, top + 3, Math.max(1, width - 1), row.height - 6);
      this.fitting(bar[3], left + 5, top + row.height / 2 + 0.5, width - 8, colours['bar-ink']);
    });
    let last = -9;
    for (const timer of model.timersOf[row.lane]) {
      if (timer[1] < time.from || timer[1] > time.to) continue;
      const x = this.x(timer[1]);
      if (x - last < 3) continue;
      last = x;
      this.pen.fillStyle = colours.timer;
      this.pen.beginPath();
      this.pen.moveTo(x - 4, top + row.height - 1);
      this.pen.lineTo(x + 4, top + row.height - 1);
      this.pen.lineTo(x, top + row.height - 7);
      this.pen.fill();
    }
    for (const record of model.ofLane[row.lane]) {
      const isTold = model.isFailing && chain.has(record[0]);
      const isFound = model.matches !== undefined && model.matches.has(record[0]);
      if ((!isTold && !isFound && state.chosen !== record) || record[1] < time.from || record[1] > time.to) continue;
      this.pen.fillStyle = isTold ? colours.accent : colours.warn;
      this.pen.beginPath();
      this.pen.arc(this.x(record[1]), top + row.height / 2, 3.5, 0, 7);
      this.pen.fill();
      if (state.chosen === record) this.ring(this.x(record[1]), top + row.height / 2);
    }
  }

  ring(x, y) {
    this.pen.globalAlpha = 1;
    this.pen.strokeStyle = colours.ink;
    this.pen.lineWidth = 1.5;
    this.pen.beginPath();
    this.pen.arc(x, y, 6.5, 0, 7);
    this.pen.stroke();
  }

  messages(scrollTop) {
    const { model } = this.view;
    let left = 600;
    const chosen = state.chosen !== null && model.byIndex.get(state.chosen[0]) === state.chosen ? state.chosen[0] : -1;
    for (const [from, fromMs, to, toMs, sent, taken] of model.messages) {
      if (toMs < time.from || fromMs > time.to) continue;
      const isTold = model.isFailing && chain.has(taken) && chain.has(sent);
      const isChosen = chosen === sent || chosen === taken;
      if (!isTold && !isChosen && (state.messages !== 'all' || --left < 0)) continue;
      const one = model.rowOf(from), other = model.rowOf(to);
      if (one === other && !isChosen) continue;
      const x1 = this.x(fromMs), x2 = this.x(toMs);
      const y1 = one.top + one.height / 2 - scrollTop, y2 = other.top + other.height / 2 - scrollTop;
      this.pen.globalAlpha = isTold || isChosen ? 0.95 : 0.3;
      this.pen.strokeStyle = isChosen ? colours.warn : isTold ? colours.accent : colours.quiet;
      this.pen.fillStyle = this.pen.strokeStyle;
      this.pen.lineWidth = isTold || isChosen ? 1.6 : 1;
      const bend = Math.max(14, (x2 - x1) / 2);
      this.pen.beginPath();
      this.pen.moveTo(x1, y1);
      this.pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      this.pen.stroke();
      this.pen.beginPath();
      this.pen.moveTo(x2, y2);
      this.pen.lineTo(x2 - 7, y2 - 3.5);
      this.pen.lineTo(x2 - 7, y2 + 3.5);
      this.pen.fill();
    }
    this.pen.globalAlpha = 1;
    if (model.isFailing) this.links(scrollTop);
  }

  /** From a cause to its effect where no message stands for it. */
  links(scrollTop) {
    const { model } = this.view;
    const told = shown.why.filter((link) => !link.isInner && link.record !== null).map((link) => model.byIndex.get(link.record)).filter((record) => record !== undefined && record[3] >= 0);
    this.pen.strokeStyle = colours.accent;
    this.pen.lineWidth = 1.2;
    this.pen.setLineDash([3, 3]);
    for (let at = 1; at < told.length; at += 1) {
      const [cause, effect] = [told[at - 1], told[at]];
      const one = model.rowOf(cause[3]), other = model.rowOf(effect[3]);
      if (one === other || model.carried.has(effect[0]) || effect[1] < time.from || cause[1] > time.to) continue;
      const x1 = this.x(cause[1]), x2 = this.x(effect[1]), bend = Math.max(14, (x2 - x1) / 2);
      const y1 = one.top + one.height / 2 - scrollTop, y2 = other.top + other.height / 2 - scrollTop;
      this.pen.beginPath();
      this.pen.moveTo(x1, y1);
      this.pen.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      this.pen.stroke();
    }
    this.pen.setLineDash([]);
  }

  /** Where it broke; in the other run, where that one went another way. */
  mark(isHead) {
    const { model } = this.view;
    const atMs = model.isFailing ? shown.violation.atMs : model.partsAtMs;
    if (atMs === null || atMs === undefined) return;
    const x = Math.round(this.x(atMs));
    this.pen.fillStyle = model.isFailing ? colours.wrong : colours.good;
    this.pen.fillRect(x, 0, 2, this.height);
    if (!isHead) return;
    const label = model.isFailing ? shown.violation.invariant : 'parts here';
    this.pen.font = '600 11px ' + FONT;
    const width = this.pen.measureText(label).width + 12;
    const isRight = x + width + 4 < this.width;
    this.pen.fillRect(isRight ? x : x - width, 3, width, 18);
    this.text(label, (isRight ? x : x - width) + 6, 12.5, colours.card, 11, '600');
  }
}
`;
