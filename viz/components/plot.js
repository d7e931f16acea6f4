const PATIENCE = 20_000; // ms until Streamlit's own chart takes over
const ASK_AGAIN = 5_000; // ms; a request may be lost with a connection
const ALL_LABELS = 34; // rows in sight; with more of them, about 22 are named (as in head_map.py)
const CONFIG = { displayModeBar: false, responsive: false, doubleClick: "reset", scrollZoom: false };

export default function (component) {
  return mount(component, (scope) => {
    const { kept } = scope;
    const data = unpack(component.data);
    const host = scope.find(".headlight-plot");
    kept.palette = currentPalette(host);
    paint(host, kept.palette);
    host.setAttribute("role", "img");
    host.setAttribute("aria-label", data.alt);
    host.style.height = data.height;
    host.classList.toggle("clickable", data.clickable);
    reportTheme(scope, component, kept.palette, data);
    kept.frame = data.frame;
    kept.row = data.frame?.query;
    kept.component = component;
    kept.loading = data.loading;
    if (kept.signature !== data.signature) {
      kept.signature = data.signature;
      kept.figure = readFigure(data.spec.values);
      kept.drawn = null;
      kept.exact = { figure: kept.figure, signature: data.signature, shows: data.shows };
    }
    kept.end = () => window.Plotly?.purge(host);

    const redraw = () => whenPlotly(scope, () => draw(kept, host));
    // The first time, and where the figure is what a control on the page changes.
    if (!kept.listening || data.eager) redraw();
    // Elsewhere it takes as long to draw as all else on the page together: that is shown first.
    else afterNextFrame(() => scope.later(0, redraw));
    scope.on(window, "hl-head", (event) => preview(kept, host, event.detail));
    scope.onResize([host], redraw);
    if (data.frame) {
      scope.on(window, "hl-hover", (event) => {
        kept.row = event.detail.q ?? data.frame.query;
        placeFrame(kept, host);
      });
    }
    scope.on(window, "hl-export", (event) => {
      if (event.detail.key === data.key) event.detail.answer = exportPicture(kept, host, event.detail);
    });
    document.fonts?.ready.then(() => placeFrame(kept, host));
  });
}

// Once what has changed so far is on the screen.
function afterNextFrame(step) {
  requestAnimationFrame(() => requestAnimationFrame(step));
}

// Streamlit loads Plotly for a chart of its own that stands hidden beside this element.
function whenPlotly(scope, step) {
  const { kept } = scope;
  if (window.Plotly) return step();
  if (!kept.loading) askForPlotly(kept);
  kept.waiting ??= performance.now();
  if (performance.now() - kept.waiting < PATIENCE) return scope.later(50, () => whenPlotly(scope, step));
  if (!kept.gaveUp) kept.component.setTriggerValue("stock", true);
  kept.gaveUp = true;
}

function askForPlotly(kept) {
  if (performance.now() - (kept.asked ?? -Infinity) < ASK_AGAIN) return;
  kept.asked = performance.now();
  afterNextFrame(() => kept.component.setTriggerValue("load", true));
}

// Parse the figure and give heatmaps that carry their labels in `meta` the two labels of each
// cell: sent from Python, these would be most of the figure.
function readFigure(bytes) {
  const figure = JSON.parse(new TextDecoder().decode(bytes));
  for (const trace of figure.data) {
    if (!trace.meta?.rows) continue;
    trace.customdata = trace.meta.rows.map((row) => trace.meta.columns.map((key) => [row, key]));
    trace.hovertemplate = trace.meta.hovertemplate;
  }
  return figure;
}

function draw(kept, host) {
  const width = host.clientWidth;
  const height = host.clientHeight;
  if (width < 10 || height < 10) return;
  const size = `${width} ${height}`;
  if (kept.drawn === size) return placeFrame(kept, host);
  kept.drawn = size;
  kept.step = undefined;
  const { data, layout } = fitLabels(enlarge(kept.figure), width, height);
  kept.notes = layout.meta?.grows ? layout.annotations : null;
  const drawn = { ...layout, width, height, annotations: kept.notes ? [] : layout.annotations };
  window.Plotly.react(host, data, drawn, CONFIG).then(() => {
    listen(kept, host);
    if (kept.notes) placeNotes(kept, host);
    placeFrame(kept, host);
    host.dataset.drawn = kept.signature ?? "preview";
  });
}

// Another head was chosen among the thumbnails: where they hold every cell, its map is drawn from
// them at once, in steps of 1/254, and drawn again when the weights themselves arrive. Streamlit
// does not call a component with the data that it has, so what was sent last is kept for the way
// back to it.
function preview(kept, host, { shows, levels, rows, columns }) {
  if (JSON.stringify(shows) === JSON.stringify(kept.exact?.shows)) {
    Object.assign(kept, { figure: kept.exact.figure, signature: kept.exact.signature, drawn: null });
    if (window.Plotly) draw(kept, host);
    return;
  }
  const at = kept.figure.data.findIndex((trace) => trace.type === "heatmap");
  const labels = kept.figure.data[at]?.meta;
  if (!window.Plotly || labels?.rows.length !== rows || labels.columns.length !== columns) return;
  const cell = (row, column) => {
    const level = levels[row * columns + column];
    return level === 0 ? null : (level - 1) / 254;
  };
  const z = labels.rows.map((_, row) => labels.columns.map((_, column) => cell(row, column)));
  const data = kept.figure.data.map((trace, index) => (index === at ? { ...trace, z } : trace));
  kept.figure = { ...kept.figure, data };
  kept.signature = null; // what the server sends is another figure, whatever it is
  kept.drawn = null;
  draw(kept, host);
}

// Once a node: the node and its listeners stay, whatever is drawn.
function listen(kept, host) {
  if (kept.listening) return;
  kept.listening = true;
  const cell = (event) => event.points?.find((point) => point.data.type === "heatmap");
  host.on("plotly_click", (event) => {
    const point = cell(event);
    if (point) kept.component.setTriggerValue("cell", [Math.round(point.y), Math.round(point.x)]);
  });
  host.on("plotly_hover", (event) => {
    const point = cell(event);
    if (point && kept.frame) announceHover(Math.round(point.y));
  });
  host.on("plotly_unhover", () => { if (kept.frame) announceHover(null); });
  host.on("plotly_afterplot", () => { nameMore(kept, host); placeFrame(kept, host); });
}

// Figures whose meta says so grow with the second type scale: their letters, and the room for them.
const GROWTH = 1.27;
const GROWING = new Set(["margin", "xshift", "yshift", "standoff", "ticklen", "size"]);

function enlarge(figure) {
  if (!figure.layout.meta?.grows || !isLarge()) return figure;
  const grow = (value) => {
    if (typeof value === "number") return value * GROWTH;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, grow(each)]));
  };
  const walk = (value) => {
    if (Array.isArray(value)) return value.map(walk);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) =>
      [name, GROWING.has(name) && each ? grow(each) : walk(each)]));
  };
  const letters = (trace) => (trace.textfont ? { ...trace, textfont: walk(trace.textfont) } : trace);
  return { data: figure.data.map(letters), layout: walk(figure.layout) };
}

// --- labels of a head map ---------------------------------------------------------------------

// Labels grow with the cells, and the margins with the labels. Figures that want this say how
// wide their labels are, in columns of the monospaced font: layout.meta.fit.
function fitLabels(figure, width, height) {
  const fit = figure.layout.meta?.fit;
  if (!fit) return figure;
  const { xaxis, yaxis } = figure.layout;
  const across = Math.abs(xaxis.range[1] - xaxis.range[0]);
  const down = Math.abs(yaxis.range[1] - yaxis.range[0]);
  const column = 0.605; // em
  let size = 15;
  let margin;
  for (let round = 0; round < 3; round++) {
    const slanted = fit.key_width ? Math.round(fit.key_width * column * size * Math.SQRT1_2) + 12 : 0;
    const left = Math.ceil(fit.row_width * column * size) + 16;
    margin = { l: left, r: 4 + Math.max(0, slanted - 12), t: 2 + slanted, b: figure.layout.margin.b };
    const room = Math.min((width - margin.l - margin.r) / across, (height - margin.t - margin.b) / down);
    size = Math.max(12, Math.min(0.46 * room + 2.2, room < 44 ? 17 : 20));
  }
  const sized = (axis) => ({ ...axis, tickfont: { ...axis.tickfont, size } });
  return {
    data: figure.data.map((trace) =>
      trace.type === "scatter" ? { ...trace, textfont: { ...trace.textfont, size } } : trace),
    layout: { ...figure.layout, margin, xaxis: sized(xaxis), yaxis: sized(yaxis) },
  };
}

// A map that is zoomed in has room for more of its labels than the figure writes.
function nameMore(kept, host) {
  const { data, layout } = kept.figure;
  const rows = layout.meta?.rows;
  const columns = data[0]?.meta?.columns;
  const written = layout.yaxis.tickvals;
  if (!rows || columns?.length !== data[0].meta.rows.length || rows.length !== columns.length) return;
  const [low, high] = host._fullLayout.yaxis.range;
  const count = Math.min(rows.length, Math.round(Math.abs(high - low)));
  host.classList.toggle("zoomed", count < rows.length); // what lies over the free triangle yields
  const step = count <= ALL_LABELS ? 1 : Math.ceil(count / 22);
  kept.step ??= written.length > 1 ? written[1] - written[0] : 1;
  if (step === kept.step) return;
  kept.step = step;
  const at = rows.map((_, row) => row).filter((row) => row % step === 0);
  const names = at.map((key) => columns[key]);
  const axes = { "yaxis.tickvals": at, "yaxis.ticktext": at.map((row) => rows[row]) };
  if (layout.xaxis.tickvals) Object.assign(axes, { "xaxis.tickvals": at, "xaxis.ticktext": names });
  const onSteps = data.findIndex((trace) => trace.type === "scatter");
  if (onSteps < 0) return window.Plotly.relayout(host, axes);
  const steps = { x: [at.map((key) => key - 0.42)], y: [at.map((key) => key - 1)], text: [names] };
  return window.Plotly.update(host, steps, axes, [onSteps]);
}

// --- the frame around the row that looks ------------------------------------------------------

// Drawn over the figure, not in it: following the pointer must not draw the figure again.
function placeFrame(kept, host) {
  const layout = host._fullLayout;
  if (!kept.frame || !layout?.xaxis?.l2p) return;
  const frame = overlay(kept, host, "frame");
  const box = rowBox(kept, host, layout);
  frame.hidden = !box;
  if (box) {
    for (const side of ["left", "top", "width", "height"]) frame.style[side] = `${box[side]}px`;
  }
  for (const tick of host.querySelectorAll(".ytick text")) {
    tick.style.fontWeight = tick.__data__?.x === kept.row ? 600 : 400;
  }
  nameThinned(kept, host, layout, box);
}

const pixels = (axis) => (value) => axis._offset + axis.l2p(value);

function rowBox(kept, host, { xaxis, yaxis }) {
  const heatmap = kept.figure.data.find((trace) => trace.type === "heatmap");
  if (!heatmap) return null;
  const x = pixels(xaxis);
  const y = pixels(yaxis);
  const nKeys = heatmap.meta.columns.length * heatmap.dx;
  const within = (value, axis) =>
    Math.max(axis._offset, Math.min(axis._offset + axis._length, value));
  const left = within(x(-0.5), xaxis);
  const right = within(x(kept.frame.causal ? kept.row + 0.5 : nKeys - 0.5), xaxis);
  const top = within(y(kept.row - 0.5), yaxis);
  const bottom = within(y(kept.row + 0.5), yaxis);
  if (bottom - top < 0.5 || right - left < 0.5) return null; // zoomed out of sight
  const line = heatmap.ygap ? 3 : 4; // the frame's two lines, less the gap that one of them covers
  return { left: left - 2, top: top - 2, width: right - left + line, height: bottom - top + line };
}

// A div over the figure, kept under the last layer, in which the hover label is drawn.
function overlay(kept, host, name) {
  kept.overlays ??= {};
  const element = (kept.overlays[name] ??= make("div", `headlight-plot-${name}`));
  if (!element.isConnected) {
    const layers = host.querySelectorAll(".svg-container > svg.main-svg");
    layers[layers.length - 1].before(element);
  }
  return element;
}

// Where only some labels are written: the names of the row that looks and of the key that it
// looks at most, in place of the labels that they cover.
function nameThinned(kept, host, { xaxis, yaxis }, box) {
  const ticks = yaxis.tickvals;
  const heatmap = host._fullData?.find((trace) => trace.type === "heatmap");
  const rows = heatmap?.meta.rows;
  if (!rows || ticks.length === rows.length) {
    kept.overlays.row?.remove();
    kept.overlays.key?.remove();
    return;
  }
  const row = overlay(kept, host, "row");
  const key = overlay(kept, host, "key");
  row.hidden = key.hidden = !box;
  const labels = [...host.querySelectorAll(".ytick text, .textpoint text")];
  for (const label of labels) label.style.visibility = "";
  if (!box) return;
  const at = Math.floor(kept.row / heatmap.dy);
  const strongest = strongestKey(heatmap.z[at]);
  const middle = box.top + box.height / 2;
  row.innerText = plain(kept.figure.layout.meta.rows?.[kept.row] ?? rows[at]);
  row.style.right = `${host.clientWidth - box.left + 2}px`;
  row.style.top = `${middle - 9}px`;
  key.innerText = plain(heatmap.meta.columns[strongest]);
  key.style.left = `${pixels(xaxis)(strongest * heatmap.dx - 0.5)}px`;
  const above = kept.frame.causal ? strongest * heatmap.dx - 1 : -1;
  key.style.top = `${Math.max(0, pixels(yaxis)(above) - 12)}px`;
  const covers = [row, key].map((element) => element.getBoundingClientRect());
  for (const label of labels) {
    const place = label.getBoundingClientRect();
    if (covers.some((cover) => overlap(cover, place))) label.style.visibility = "hidden";
  }
}

function strongestKey(weights) {
  let best = 0;
  weights.forEach((weight, at) => { if (weight > weights[best] || !(weights[best] >= 0)) best = at; });
  return best;
}

const overlap = (a, b) => a.left < b.right + 2 && b.left < a.right + 2
  && a.top < b.bottom - 2 && b.top < a.bottom - 2;

// The labels of figures are written for Plotly, which reads entities; here they are plain text.
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&#36;": "$" };
const plain = (label) => label.replace(/&(lt|gt|amp|#36);/g, (entity) => ENTITIES[entity]);

// --- export -----------------------------------------------------------------------------------

// The picture as it stands on the screen, its frame included, as a file.
async function exportPicture(kept, host, detail) {
  const layout = { ...host.layout, paper_bgcolor: kept.palette.background };
  if (kept.notes) layout.annotations = kept.notes;
  const { width, height } = host._fullLayout;
  if (kept.frame) {
    const nKeys = kept.figure.data[0].meta.columns.length * kept.figure.data[0].dx;
    const { query, causal } = kept.frame;
    layout.shapes = [...(layout.shapes ?? []), {
      type: "rect", x0: -0.5, x1: (causal ? query + 1 : nKeys) - 0.5,
      y0: query - 0.5, y1: query + 0.5, line: { color: kept.palette.accent, width: 2 },
    }];
  }
  const link = make("a");
  link.href = await window.Plotly.toImage({ data: host.data, layout }, {
    format: detail.format,
    width: detail.width ?? width,
    height: detail.height ?? height,
    scale: detail.scale ?? 2,
  });
  link.download = `${detail.filename}.${detail.format}`;
  link.click();
}
