/** Style of a timeline, in light and in dark. The chart takes its colours from here too. */

export const TIMELINE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #1d2129; --quiet: #656d7a; --line: #e3e1dc; --stripe: #f4f2ee;
  --accent: #3157d5; --wrong: #c8293b; --wrong-soft: #c8293b22; --good: #1f8a55; --warn: #b7700a;
  --up: #dfe6f5; --paused: #f0dfba; --lead: #3157d5; --tick: #7d879a; --timer: #8a4fc9; --fault: #b7700a;
  --fault-soft: #b7700a1c; --bar-ink: #1d2129; --bar-light: 80%; --bar-full: 62%; --shadow: 0 1px 2px #0001, 0 4px 16px #0000000d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161b; --card: #1b1e25; --ink: #e6e8ee; --quiet: #98a1b1; --line: #2c313b; --stripe: #20242c;
    --accent: #8ea8ff; --wrong: #ff6b78; --wrong-soft: #ff6b7826; --good: #54c98a; --warn: #e2a344;
    --up: #2b3346; --paused: #4c3f22; --lead: #8ea8ff; --tick: #8b95a8; --timer: #c39bf0; --fault: #e2a344;
    --fault-soft: #e2a3441f; --bar-ink: #f2f4f8; --bar-light: 30%; --bar-full: 42%; --shadow: 0 1px 2px #0004, 0 4px 16px #0003;
  }
}
* { box-sizing: border-box; }
html { font: 14px/1.45 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
body { margin: 0; background: var(--paper); color: var(--ink); }
header { padding: 18px 24px 4px; }
header p { margin: 0; }
.verdict { font-size: 17px; display: flex; gap: 12px; align-items: baseline; flex-wrap: wrap; }
.verdict strong { color: #fff; background: #c8293b; border-radius: 6px; padding: 2px 10px; letter-spacing: .02em; white-space: nowrap; }
#what { margin-top: 6px; color: var(--quiet); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.toolbar { display: flex; flex-wrap: wrap; gap: 10px 20px; align-items: center; padding: 12px 24px; }
fieldset { border: 0; margin: 0; padding: 0; display: flex; align-items: center; }
legend { float: left; padding: 0; margin-right: 8px; color: var(--quiet); }
fieldset label span { display: block; padding: 4px 12px; border: 1px solid var(--line); background: var(--card); margin-left: -1px; cursor: pointer; }
fieldset label:first-of-type span { border-radius: 7px 0 0 7px; }
fieldset label:last-of-type span { border-radius: 0 7px 7px 0; }
fieldset input { position: absolute; opacity: 0; pointer-events: none; }
fieldset input:checked + span { background: var(--ink); color: var(--paper); border-color: var(--ink); }
fieldset input:focus-visible + span, button:focus-visible, .chart:focus-visible, #filter:focus-visible, .names button:focus-visible, #why button:focus-visible, #rows button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.search { color: var(--quiet); }
#filter { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: 4px 10px; width: 220px; color: var(--ink); }
button { font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 7px; padding: 4px 12px; cursor: pointer; }
button:hover { border-color: var(--quiet); }
button:disabled { opacity: .45; cursor: default; }
.buttons { display: flex; gap: 6px; margin-left: auto; }
main { padding: 0 24px 32px; }
#charts { display: grid; gap: 14px; }
.chart { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); overflow: hidden; }
.chart h2 { margin: 0; padding: 8px 14px; font-size: 13px; font-weight: 600; border-bottom: 1px solid var(--line); display: flex; gap: 10px; }
.chart h2 small { font-weight: 400; color: var(--quiet); }
.head, .body { display: block; width: 100%; }
.scroller { position: relative; overflow-y: auto; overflow-x: hidden; scrollbar-width: thin; }
.body { position: sticky; top: 0; cursor: crosshair; touch-action: none; }
.body.dragging { cursor: grabbing; }
.names { position: absolute; left: 0; top: 0; width: 210px; }
.names > * { position: absolute; left: 0; width: 210px; height: 22px; padding: 0 8px 0 10px; line-height: 22px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 12px; }
.names button { border: 0; background: none; text-align: left; border-radius: 0; font-weight: 600; height: 28px; line-height: 28px; }
.names button small { font-weight: 400; color: var(--quiet); margin-left: 6px; }
.names button::before { content: "▸"; display: inline-block; width: 14px; color: var(--quiet); }
.names button[aria-expanded="true"]::before { content: "▾"; }
.names span { padding-left: 24px; color: var(--quiet); }
.names .chosen { color: var(--accent); }
.note { color: var(--quiet); font-size: 12.5px; margin: 8px 2px; }
kbd { border: 1px solid var(--line); border-radius: 4px; padding: 0 5px; font: inherit; background: var(--card); }
.below { display: grid; grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); gap: 14px; margin: 10px 0 14px; }
@media (max-width: 900px) { .below { grid-template-columns: minmax(0, 1fr); } .buttons { margin-left: 0; } }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--shadow); padding: 12px 16px; min-width: 0; }
section h2 { margin: 0 0 8px; font-size: 14px; }
#why { list-style: none; margin: 0; padding: 0; max-height: 420px; overflow: auto; }
#why button { display: grid; grid-template-columns: 104px 116px minmax(0, 1fr); gap: 10px; width: 100%; text-align: left; border: 0; border-radius: 6px; padding: 3px 6px; background: none; font-size: 12.5px; align-items: baseline; }
#why button:hover, #why button.chosen { background: var(--stripe); }
#why li:last-child button { background: var(--wrong-soft); }
#why .inner { padding-left: 16px; color: var(--warn); }
#why b { font-weight: 600; overflow-wrap: anywhere; }
#why i { font-style: normal; color: var(--quiet); font-variant-numeric: tabular-nums; }
#why span { overflow-wrap: anywhere; }
#chosen { font-size: 13px; }
#chosen dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 14px; margin: 0; }
#chosen dt, .quiet { color: var(--quiet); }
#chosen dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.rows { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 12.5px; }
th { text-align: left; color: var(--quiet); font-weight: 500; }
th, td { padding: 3px 10px 3px 4px; vertical-align: top; border-top: 1px solid var(--line); }
td { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
td:nth-child(-n+3) { white-space: nowrap; }
tr.chosen td { background: var(--stripe); }
tr.seen td { background: var(--wrong-soft); }
#rows button { border: 0; background: none; padding: 0; color: var(--accent); }
.pages { display: flex; gap: 12px; align-items: center; margin: 0 0 8px; }
#hint { position: fixed; z-index: 5; max-width: 460px; pointer-events: none; background: var(--ink); color: var(--paper); border-radius: 8px; padding: 7px 11px; font-size: 12.5px; box-shadow: 0 4px 18px #0005; overflow-wrap: anywhere; }
#hint b { display: block; font-weight: 600; opacity: .8; font-variant-numeric: tabular-nums; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.skip { position: absolute; left: -9999px; }
.skip:focus { left: 12px; top: 8px; background: var(--card); padding: 6px 12px; z-index: 9; }
[hidden] { display: none !important; }
@media (prefers-reduced-motion: no-preference) { button, fieldset label span { transition: background .12s, border-color .12s; } }
`;
