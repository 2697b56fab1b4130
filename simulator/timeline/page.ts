/**
 * The page of a timeline: its skeleton, its style, its script, and the data it shows.
 *
 * Guarantees: markup is written here and nowhere else, none of it from data. The policy of the page
 * keeps it from loading or sending anything.
 */

import { TIMELINE_CHART } from './chart.ts';
import { TIMELINE_CONTROLS } from './controls.ts';
import { TIMELINE_DRAWING } from './drawing.ts';
import { TIMELINE_STYLE } from './style.ts';

/** `shown` is what the script reads; see timeline.ts. */
export function timelinePage(title: string, shown: unknown): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<title>${escapedText(title)}</title>
<style>${TIMELINE_STYLE}</style>
</head>
<body>
<a class="skip" href="#table">Skip to the table of records</a>
<header>
<p class="verdict"><strong id="invariant"></strong><span id="says"></span></p>
<p id="what"></p>
</header>
<div class="toolbar" role="toolbar" aria-label="View">
<fieldset><legend>Run</legend>
<label><input type="radio" name="run" value="failing" checked><span>Failing</span></label>
<label class="passing-only"><input type="radio" name="run" value="passing"><span>Nearest passing</span></label>
<label class="passing-only"><input type="radio" name="run" value="both"><span>Both</span></label>
</fieldset>
<fieldset><legend>Messages</legend>
<label><input type="radio" name="messages" value="chain" checked><span>That led to it</span></label>
<label><input type="radio" name="messages" value="all"><span>All</span></label>
</fieldset>
<label class="search">Find <input id="filter" type="search" placeholder="actor, event…" autocomplete="off"></label>
<span class="buttons">
<button type="button" id="whole" title="The whole run (0)">Whole run</button>
<button type="button" id="near" title="Where it broke (V)">Where it broke</button>
<button type="button" id="closer" title="Closer (+)" aria-label="Closer">+</button>
<button type="button" id="farther" title="Farther (−)" aria-label="Farther">−</button>
</span>
</div>
<main>
<div id="charts"></div>
<p class="note" id="note"></p>
<div class="below">
<section aria-labelledby="why-title"><h2 id="why-title">Why</h2><ol id="why"></ol></section>
<section aria-labelledby="chosen-title"><h2 id="chosen-title">Record</h2><div id="chosen" aria-live="polite"><p class="quiet">Choose a record in the chart, in the list or in the table.</p></div></section>
</div>
<section aria-labelledby="table-title" id="table">
<h2 id="table-title">Records</h2>
<p class="pages"><button type="button" id="earlier">Earlier</button><span id="page" role="status"></span><button type="button" id="later">Later</button></p>
<div class="rows"><table><caption class="hidden">Records of the run that is shown, as far as they match what is to be found</caption>
<thead><tr><th scope="col">#</th><th scope="col">Time</th><th scope="col">Node</th><th scope="col">What happened</th></tr></thead><tbody id="rows"></tbody></table></div>
</section>
<p class="note">Wheel: closer, farther. Drag, or Shift and wheel: along. Keys in the chart: <kbd>←</kbd> <kbd>→</kbd> along, <kbd>↑</kbd> <kbd>↓</kbd> lanes, <kbd>+</kbd> <kbd>−</kbd>, <kbd>0</kbd> whole run, <kbd>V</kbd> where it broke, <kbd>[</kbd> <kbd>]</kbd> previous and next record, <kbd>/</kbd> find.</p>
</main>
<div id="hint" role="tooltip" hidden></div>
<script type="application/json" id="shown">${inertJson(shown)}</script>
<script>(() => {
'use strict';
${TIMELINE_CHART}
${TIMELINE_DRAWING}
${TIMELINE_CONTROLS}
})();</script>
</body>
</html>
`;
}

/** JSON that no parser of HTML can take for anything else. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function escapedText(text: string): string {
  return text.replace(/[^ -~]|[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
