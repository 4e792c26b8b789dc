// Draws again, each second, what the server drew first: see page.c.
//
// A server that hangs answers nothing, and refuses nothing: so each question
// has a time limit.  Without an answer the old figures are marked as stale.
'use strict';
const LIMIT_MS = 3000;
let heard = performance.now();  // When the figures were new.
const $ = id => document.getElementById(id);
const colours = new Map();  // A member keeps its colour while it is there.

function colour(node) {
  if (!colours.has(node)) {
    const used = new Set(colours.values());
    let c = 0;
    while (used.has(c)) c++;
    colours.set(node, c);
  }
  return 'c' + colours.get(node) % 8;
}

function called(m) {
  return m.name || m.address || '?';
}

function put(id, text) {
  if ($(id).textContent !== String(text)) $(id).textContent = text;
}

function make(parent, tag, attributes = {}, text) {
  const svg = ['svg', 'rect', 'path'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag)
                : document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}

function figures(s) {
  for (const id of ['leading', 'planned', 'plan', 'moves', 'nobodys', 'count'])
    put(id, s[id].toLocaleString('en'));
  put('members-n', s.members.length);
  put('planner', s.planner ? 'made here' : 'made by another');
  put('lease-s', (s.lease_ms / 1000).toFixed(1) + ' s');
  $('lease').max = s.timeout_ms || 1;
  $('lease').value = s.lease_ms;
  state(s.draining ? 'draining' : s.connected ? 'connected' : 'in doubt',
        !s.connected || s.draining);
}

function state(text, bad) {
  put('state', text);
  $('state').className = bad ? 'pill bad' : 'pill';
}

function spread(s) {
  const svg = $('spread'), cols = +svg.dataset.cols, d = new Map();
  const cell = (key, i) => d.set(key, (d.get(key) || '') +
    `M${i % cols * 10} ${Math.floor(i / cols) * 10}h8.5v8.5h-8.5z`);
  s.leader.forEach((m, i) => {
    cell(m < 0 ? 'none' : colour(s.members[m].node), i);
    if (m >= 0 && s.members[m].self && !s.epoch[i]) cell('wait', i);
  });
  svg.querySelectorAll('path').forEach(p => p.remove());
  for (const [key, path] of [...d].sort()) make(svg, 'path', {class: key, d: path});
}

function members(s) {
  const body = $('members'), most = Math.max(1, ...s.members.map(m => m.planned));
  body.replaceChildren();
  for (const m of s.members) {
    const row = make(body, 'tr'), c = colour(m.node), who = make(row, 'td');
    make(who, 'span', {class: 'mark ' + c});
    if (m.address)
      make(who, 'a', {href: `http://${m.address}/status`}, called(m));
    else
      who.append(called(m));
    if (m.self) make(who, 'span', {class: 'soft'}, ' (this one)');
    make(row, 'td', {}, m.address);
    make(row, 'td', {class: 'n'}, m.planned.toLocaleString('en'));
    const bar = make(make(row, 'td', {class: 'wide'}), 'svg', {class: 'bar',
      viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': true});
    make(bar, 'rect', {class: c, width: m.planned / most * 100, height: 10});
  }
}

function table(s) {
  [...$('shards').rows].forEach((row, i) => {
    const m = s.members[s.leader[i]], cell = row.cells;
    const is = [m ? called(m) : 'nobody', s.epoch[i] || '\u2013',
      s.epoch[i] ? 'led here' : !m ? 'nobody\u2019s' :
        m.self ? 'to be led here' : 'to be led there'];
    is.forEach((text, k) => {
      const e = k ? cell[k + 1] : cell[1].lastChild;
      if (e.textContent !== String(text)) e.textContent = text;
    });
    cell[1].firstChild.className = 'mark ' + (m ? colour(m.node) : 'none');
  });
}

function draw(s) {
  const there = new Set(s.members.map(m => m.node));
  for (const node of colours.keys())
    if (!there.has(node)) colours.delete(node);
  s.members.forEach(m => colour(m.node));
  figures(s);
  spread(s);
  members(s);
  table(s);
}

async function ask() {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), LIMIT_MS);
  try {
    const answer = await fetch('/status.json', {signal: stop.signal});
    if (!answer.ok) throw new Error(answer.status);
    return await answer.json();
  } finally {
    clearTimeout(timer);
  }
}

async function refresh() {
  try {
    draw(await ask());
    heard = performance.now();
    document.body.className = '';
  } catch (e) {
    const age = Math.round((performance.now() - heard) / 1000);
    document.body.className = 'stale';
    state(`no answer: figures are ${age} s old`, true);
  }
  setTimeout(refresh, 1000);
}
refresh();
