/**
 * Style of charts, the same in a page and in a file: greys, and one colour each for now, late and failed.
 *
 * `--now` and the others are set on the root of the document that shows the chart.
 */

export const CHART_COLOURS_LIGHT = `--paper:#fbfbfa;--box:#ffffff;--box-deep:#f6f6f4;--ink:#1d1f21;--ink-soft:#5a5f66;--rule:#b3b7bc;--rule-soft:#dcdedf;--edge:#767c84;--now:#0b63b5;--now-soft:#dcebfa;--late:#8f5300;--late-soft:#fbe9cd;--failed:#b3202a;--failed-soft:#fbe0e1;`;
export const CHART_COLOURS_DARK = `--paper:#16181a;--box:#1e2124;--box-deep:#191c1e;--ink:#e8eaec;--ink-soft:#a3a9b0;--rule:#555b62;--rule-soft:#33383d;--edge:#8b929a;--now:#6cb6ff;--now-soft:#12304f;--late:#f0b35a;--late-soft:#46320f;--failed:#ff8a8f;--failed-soft:#4f1c20;`;

export const CHART_STYLE = `
.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;background:var(--paper)}
.chart text{fill:var(--ink);font-size:11px;white-space:pre}
.chart .title{font-size:13px;font-weight:600}
.chart .box{fill:var(--box);stroke:var(--rule)}
.chart .compound>.box,.chart .parallel>.box{fill:var(--box-deep)}
.chart .depth-0>.box{fill:none;stroke:var(--rule-soft)}
.chart .region>.box{stroke-dasharray:5 4}
.chart .inner{fill:none;stroke:var(--rule)}
.chart .divider{stroke:var(--rule-soft);fill:none}
.chart .row text{fill:var(--ink-soft)}
.chart .row-mark{fill:none;stroke:var(--edge);stroke-width:1.2}
.chart .internal>.row-mark,.chart .invoke>.row-mark{fill:var(--edge);stroke:none}
.chart .tag{fill:var(--box-deep);stroke:var(--rule-soft)}
.chart .tag-name{fill:var(--ink-soft)}
.chart .path{fill:none;stroke:var(--edge);stroke-width:1.2}
.chart .head{fill:var(--edge)}
.chart .initial circle{fill:var(--ink)}
.chart .paper{fill:var(--paper);fill-opacity:.92}
.chart .line.always text{font-style:italic}
.chart .deadline text,.chart .line.after text{fill:var(--late)}
.chart .edge.deadline .path{stroke:var(--late)}
.chart .edge.deadline .head{fill:var(--late)}
.chart .row.untaken text,.chart .line.untaken text{fill:var(--failed)}
.chart .untaken>.box{stroke:var(--failed);stroke-dasharray:2 3}
`;

/** Style sheet of a file that stands alone. */
export const FILE_STYLE = `:root{color-scheme:light dark;${CHART_COLOURS_LIGHT}}@media (prefers-color-scheme:dark){:root{${CHART_COLOURS_DARK}}}${CHART_STYLE}`;
