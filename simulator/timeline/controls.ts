/**
 * The part of a timeline's script that listens: wheel, drag, keys, the list of causes, the record that
 * was chosen, and the table that says in words what the chart says in pictures.
 */

export const TIMELINE_CONTROLS = `
const ROWS = 100;
let page = 0;
const views = [];

class View {
  constructor(model, title) {
    this.model = model;
    this.element = make('div', 'chart');
    this.element.tabIndex = 0;
    this.element.setAttribute('role', 'group');
    this.element.setAttribute('aria-label', title + ', as a chart. The table of records below says the same in words.');
    const heading = make('h2', '', title);
    heading.append(make('small', '', model.isFailing ? 'seed ' + shown.seed : 'the same ' + model.change));
    this.head = make('canvas', 'head');
    this.scroller = make('div', 'scroller');
    this.spacer = make('div');
    this.body = make('canvas', 'body');
    this.names = make('div', 'names');
    this.spacer.append(this.body, this.names);
    this.scroller.append(this.spacer);
    this.element.append(heading, this.head, this.scroller);
    this.painter = new Painter(this);
    this.scroller.addEventListener('scroll', () => redraw());
    this.body.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.head.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.body.addEventListener('pointerdown', (event) => this.drag(event));
    this.body.addEventListener('pointermove', (event) => this.hover(event));
    this.body.addEventListener('pointerleave', () => { byId('hint').hidden = true; });
    this.nameRows();
  }

  nameRows() {
    this.names.replaceChildren();
    const { model } = this;
    for (const row of model.rows) {
      const isNode = row.lane < 0;
      const element = make(isNode ? 'button' : 'span', '', isNode ? model.nodes[row.node] : model.lanes[row.lane][0]);
      element.style.top = row.top + 'px';
      if (isNode) {
        const all = model.lanesOf[row.node].length;
        const open = model.rows.filter((one) => one.node === row.node && one.lane >= 0).length;
        element.type = 'button';
        element.append(make('small', '', open > 0 && open < all ? open + ' of ' + all : String(all)));
        element.title = all + ' actors';
        element.setAttribute('aria-expanded', String(open > 0));
        element.addEventListener('click', () => { model.toggle(row.node); this.nameRows(); redraw(); this.names.children[model.rowOfNode[row.node]].focus(); });
      } else {
        element.title = model.lanes[row.lane][0];
        if (model.inChain.has(row.lane)) element.className = 'chosen';
      }
      this.names.append(element);
    }
  }

  draw() {
    const { model } = this;
    const height = Math.max(120, Math.min(model.height + 8, Math.round(innerHeight * (visible().length > 1 ? 0.36 : 0.56))));
    this.scroller.style.height = height + 'px';
    this.spacer.style.height = Math.max(height, model.height + 8) + 'px';
    this.painter.head(this.head);
    this.painter.body(this.body, this.scroller.scrollTop, height);
  }

  timeAt(event) {
    const box = this.body.getBoundingClientRect();
    return time.from + Math.max(0, event.clientX - box.left - GUTTER) / (box.width - GUTTER) * (time.to - time.from);
  }

  wheel(event) {
    event.preventDefault();
    const width = time.to - time.from;
    const isAlong = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (isAlong) move((event.deltaX || event.deltaY) / 900);
    else {
      const at = this.timeAt(event), factor = Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300)));
      clampTime(at - (at - time.from) * factor, at - (at - time.from) * factor + width * factor);
      redraw();
    }
  }

  drag(event) {
    const start = { x: event.clientX, y: event.clientY, from: time.from, top: this.scroller.scrollTop };
    const width = time.to - time.from;
    let isMoved = false;
    this.body.setPointerCapture(event.pointerId);
    const follow = (moved) => {
      if (Math.abs(moved.clientX - start.x) + Math.abs(moved.clientY - start.y) > 4) isMoved = true;
      if (!isMoved) return;
      this.body.classList.add('dragging');
      const ms = (start.x - moved.clientX) / (this.body.clientWidth - GUTTER) * width;
      clampTime(start.from + ms, start.from + ms + width);
      this.scroller.scrollTop = start.top + start.y - moved.clientY;
      redraw();
    };
    const stop = (released) => {
      this.body.removeEventListener('pointermove', follow);
      this.body.classList.remove('dragging');
      if (!isMoved) choose(this, this.under(released));
    };
    this.body.addEventListener('pointermove', follow);
    this.body.addEventListener('pointerup', stop, { once: true });
  }

  under(event) {
    const box = this.body.getBoundingClientRect();
    const y = event.clientY - box.top + this.scroller.scrollTop;
    const row = this.model.rows.find((one) => y >= one.top && y < one.top + one.height);
    if (row === undefined || event.clientX - box.left < GUTTER) return undefined;
    const perPixel = (time.to - time.from) / (box.width - GUTTER);
    return this.model.nearest(row, this.timeAt(event), perPixel * 8);
  }

  hover(event) {
    const record = event.buttons === 0 ? this.under(event) : undefined;
    const hint = byId('hint');
    hint.hidden = record === undefined;
    if (record === undefined) return;
    hint.replaceChildren(make('b', '', '#' + record[0] + '  ' + momentOf(record[1])), document.createTextNode(record[5].slice(0, 400)));
    hint.style.left = Math.min(event.clientX + 14, innerWidth - 480) + 'px';
    hint.style.top = Math.min(event.clientY + 16, innerHeight - 110) + 'px';
  }

  reveal(lane) {
    this.model.open(lane);
    this.nameRows();
    const row = this.model.rowOf(lane);
    const { scrollTop, clientHeight } = this.scroller;
    if (row.top < scrollTop || row.top + row.height > scrollTop + clientHeight) this.scroller.scrollTop = row.top - clientHeight / 2;
  }
}

const chosenRun = () => document.querySelector('input[name=run]:checked').value;
const visible = () => views.filter((view) => chosenRun() === 'both' || (chosenRun() === 'failing') === view.model.isFailing);
let isAsked = false;
const redraw = () => {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => { isAsked = false; for (const view of visible()) view.draw(); });
};
const move = (share) => { const ms = share * (time.to - time.from); clampTime(time.from + ms, time.to + ms); redraw(); };
const zoom = (factor) => {
  const middle = (time.from + time.to) / 2, half = (time.to - time.from) / 2 * factor;
  clampTime(middle - half, middle + half);
  redraw();
};
const whole = () => { const all = [shown.failing, shown.passing].filter(Boolean); clampTime(Math.min(...all.map((run) => run.startMs)) - 500, Math.max(...all.map((run) => run.endMs)) + 500); redraw(); };
/** The causes up to where it broke, from the last long pause among them on. */
const near = () => {
  const model = views[0].model;
  const end = shown.violation.atMs;
  const moments = [...chain].map((index) => model.byIndex.get(index)).filter((record) => record !== undefined && record[1] >= 0 && record[1] <= end).map((record) => record[1]).sort((one, other) => one - other);
  let first = moments[0] ?? Math.max(end - 5000, 0);
  for (let at = 1; at < moments.length - 2; at += 1)
    if (moments[at] - moments[at - 1] > (end - first) * 0.6) first = moments[at];
  const width = Math.max(end - first, 20);
  clampTime(first - width * 0.1, end + width * 0.15);
  redraw();
};

const choose = (view, record) => {
  state.chosen = record ?? null;
  const box = byId('chosen');
  if (record === undefined) { box.replaceChildren(make('p', 'quiet', 'Nothing is there.')); redraw(); return; }
  const list = make('dl');
  const add = (name, value) => { if (value !== '') list.append(make('dt', '', name), make('dd', '', value)); };
  add('Record', '#' + record[0] + ' ' + record[4]);
  add('True time', momentOf(record[1]));
  add('Node', record[2] >= 0 ? view.model.nodes[record[2]] : 'the whole cluster');
  add('Actor', record[3] >= 0 ? view.model.lanes[record[3]][0] : '');
  add('What', record[5]);
  box.replaceChildren(list);
  for (const button of byId('why').querySelectorAll('button')) button.classList.toggle('chosen', view.model.isFailing && button.dataset.record === String(record[0]));
  redraw();
  for (const row of byId('rows').children) row.classList.toggle('chosen', row.dataset.record === String(record[0]));
};

/** Chooses it and brings it into view. */
const show = (view, record) => {
  if (record[1] < time.from || record[1] > time.to) { const half = (time.to - time.from) / 2; clampTime(record[1] - half, record[1] + half); }
  if (record[3] >= 0) view.reveal(record[3]);
  choose(view, record);
};

const step = (by) => {
  const view = visible()[0], { records } = view.model;
  const at = state.chosen === null ? firstWhere(records, (record) => record[1] >= time.from) - (by > 0 ? 1 : 0) : records.indexOf(state.chosen);
  for (let next = at + by; next >= 0 && next < records.length; next += by)
    if (view.model.isMatch(records[next])) return show(view, records[next]);
};

const fillWhy = () => {
  const list = byId('why');
  for (const { record: index, at, node, what, isInner } of shown.why) {
    const record = index === null ? undefined : views[0].model.byIndex.get(index);
    const item = make('li'), button = make('button');
    button.type = 'button';
    button.append(make('i', '', at), make('b', '', node), make('span', isInner ? 'inner' : '', what));
    if (record === undefined) button.disabled = true;
    else { button.dataset.record = String(index); button.addEventListener('click', () => { byId('charts').firstChild.hidden || show(views[0], record); }); }
    item.append(button);
    list.append(item);
  }
};

const fillTable = () => {
  const view = visible()[0], { model } = view;
  const records = model.records.filter((record) => model.isMatch(record));
  const pages = Math.max(1, Math.ceil(records.length / ROWS));
  page = Math.min(Math.max(0, page), pages - 1);
  byId('page').textContent = 'Page ' + (page + 1) + ' of ' + pages + ', ' + records.length.toLocaleString('en-GB') + ' records';
  byId('earlier').disabled = page === 0;
  byId('later').disabled = page === pages - 1;
  byId('rows').replaceChildren(...records.slice(page * ROWS, page * ROWS + ROWS).map((record) => {
    const row = make('tr', model.isFailing && record[0] === shown.violation.record ? 'seen' : '');
    row.dataset.record = String(record[0]);
    const button = make('button', '', '#' + record[0]);
    button.type = 'button';
    button.addEventListener('click', () => show(view, record));
    const first = make('td');
    first.append(button);
    row.append(first, make('td', '', momentOf(record[1])), make('td', '', record[2] >= 0 ? model.nodes[record[2]] : 'cluster'), make('td', '', record[5]));
    return row;
  }));
};

const pageOfViolation = () => {
  const view = visible()[0];
  const atMs = view.model.isFailing ? shown.violation.atMs : view.model.partsAtMs ?? 0;
  const list = view.model.records.filter((record) => view.model.isMatch(record));
  page = Math.floor(Math.max(0, firstWhere(list, (record) => record[1] >= atMs) - 1) / ROWS);
};

const turnTo = () => {
  for (const view of views) view.element.hidden = !visible().includes(view);
  const left = visible().reduce((sum, view) => sum + view.model.leftOut, 0);
  byId('note').textContent = left === 0 ? 'Faults are bands, deadlines are triangles, a line on top of a node says that it leads.' : 'Faults are bands, deadlines are triangles, a line on top of a node says that it leads. ' + left.toLocaleString('en-GB') + ' records far from where it broke are left out.';
  state.chosen = null;
  pageOfViolation();
  fillTable();
  redraw();
};

const find = (text) => { for (const view of views) view.model.find(text); pageOfViolation(); fillTable(); redraw(); };
const KEYS = {
  ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15), '+': () => zoom(0.6), '=': () => zoom(0.6), '-': () => zoom(1.6), 0: whole, v: near, V: near, '[': () => step(-1), ']': () => step(1),
  ArrowUp: () => { for (const view of visible()) view.scroller.scrollTop -= 56; }, ArrowDown: () => { for (const view of visible()) view.scroller.scrollTop += 56; },
};
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
  if (event.key === '/') { event.preventDefault(); byId('filter').focus(); return; }
  const isInChart = event.target instanceof Element && event.target.closest('.chart') !== null;
  const act = KEYS[event.key];
  if (act === undefined || (!isInChart && event.key.startsWith('Arrow'))) return;
  event.preventDefault();
  act();
});

byId('invariant').textContent = shown.violation.invariant;
byId('says').textContent = shown.violation.says;
byId('what').textContent = 'Broken at ' + momentOf(shown.violation.atMs) + ': ' + shown.violation.what;
views.push(new View(new Model(shown.failing, true), 'Failing run'));
if (shown.passing) views.push(new View(new Model(shown.passing, false), 'Nearest passing run'));
else for (const label of document.querySelectorAll('.passing-only')) label.hidden = true;
byId('charts').append(...views.map((view) => view.element));
for (const input of document.querySelectorAll('input[name=run]')) input.addEventListener('change', turnTo);
for (const input of document.querySelectorAll('input[name=messages]')) input.addEventListener('change', () => { state.messages = input.value; redraw(); });
byId('filter').addEventListener('input', (event) => find(event.target.value.trim()));
byId('whole').addEventListener('click', whole);
byId('near').addEventListener('click', near);
byId('closer').addEventListener('click', () => zoom(0.6));
byId('farther').addEventListener('click', () => zoom(1.6));
byId('earlier').addEventListener('click', () => { page -= 1; fillTable(); });
byId('later').addEventListener('click', () => { page += 1; fillTable(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { readColours(); redraw(); });
addEventListener('resize', redraw);
readColours();
fillWhy();
near();
turnTo();
`;
