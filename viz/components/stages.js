// The four steps from q·k to weights: a formula, four small maps and one row in numbers, tied
// together by the numbers 1 to 4. The maps stand in one SVG, so that they can be exported. The
// table is built by numbers.js, which stands in front of this file.

const SMALLEST_CELL = 10; // below this many pixels a map is one image instead of rectangles
const GAP = 26; // between two maps, where the arrow stands

export default function (component) {
  return mount(component, (scope) => {
    const data = unpack(component.data);
    const frame = scope.find(".stages");
    const palette = currentPalette(frame);
    paint(frame, palette);
    const [nQuery, nKey] = data.raw.shape;
    const view = {
      scope, frame, nQuery, nKey,
      ...data,
      row: data.query, // the row shown: the chosen one, or one that is hovered anywhere
      svg: scope.find("svg.headlight"),
      weightColours: lookup(palette.weights),
      scoreColours: lookup(palette.signed),
      choose: (row) => component.setTriggerValue("pick", row),
    };
    view.stages = describe(view);
    view.symbols = buildFormula(view);
    layOut(view);
    listen(view);
  });
}

// The four stages: their names, the value of a cell, and its colour; null where it is masked.
function describe(view) {
  const { raw, weights, scores, mask, scale, nKey, words, limit } = view;
  const at = (row, key) => row * nKey + key;
  const isMasked = (row, key) => mask !== undefined && !mask.values[at(row, key)];
  const scaled = scores
    ? (row, key) => scores.values[at(row, key)]
    : (row, key) => raw.values[at(row, key)] * scale;
  const ofScore = (value) => shade(view.scoreColours, 0.5 + value / limit / 2);
  const ofWeight = (value) => shade(view.weightColours, value);
  const unlessMasked = (value) => (row, key) => (isMasked(row, key) ? null : value(row, key));
  const second = { root: "÷ √dk", factor: `× ${words.factor}`, none: "× 1" }[words.kind];
  view.isMasked = isMasked;
  return [
    { name: "q · k", caption: "blue −, orange +", colour: ofScore, value: (r, k) => raw.values[at(r, k)] },
    { name: second + (view.biased ? " + b" : ""), caption: words.caption, colour: ofScore, value: scaled },
    { name: "mask", caption: view.maskWords, colour: ofScore, value: unlessMasked(scaled), instead: "−∞" },
    {
      name: "softmax", caption: "each row sums to 1", colour: ofWeight, instead: "0",
      value: unlessMasked((r, k) => weights.values[at(r, k)]),
    },
  ];
}

// --- the formula --------------------------------------------------------------------------------

// weights = softmax(mask(q·k ÷ √d_k)), each symbol with the number of its map.
function buildFormula(view) {
  const symbols = [[], [], [], []];
  const symbol = (number, ...content) => {
    const element = make("span", number === 2 ? "symbol below" : "symbol");
    element.append(...content, make("span", "number", number));
    symbols[number - 1].push(element);
    return element;
  };
  const dot = symbol(1, make("i", "", "q"), " · ", make("i", "", "k"));
  const bracket = (text) => make("span", "bracket", text);
  const bias = view.biased ? [" + ", symbol(2, make("i", "", "b"))] : [];
  const formula = view.scope.find(".formula");
  formula.setAttribute("aria-label", view.words.spoken);
  formula.replaceChildren(
    make("span", "", "weights\u2002=\u2002"), symbol(4, "softmax"), bracket("("), symbol(3, "mask"),
    bracket("("), ...scaledProduct(view.words, dot, symbol), ...bias, bracket(")"), bracket(")"));
  return symbols;
}

function scaledProduct(words, dot, symbol) {
  if (words.kind !== "root") return [dot, " ", symbol(2, `× ${words.kind === "none" ? 1 : words.factor}`)];
  const root = make("span", "root");
  root.append(make("i", "", "d"), subscript("k"));
  const over = make("span", "over");
  over.append(dot);
  const fraction = make("span", "fraction");
  fraction.append(over, symbol(2, "√", root));
  return [fraction];
}

// --- the maps -----------------------------------------------------------------------------------

function layOut(view) {
  const { frame, svg, nQuery, nKey } = view;
  const unit = isLarge() ? 1.35 : 1;
  frame.style.setProperty("--u", unit);
  view.unit = unit;
  view.width = frame.clientWidth;
  if (!view.width) return; // not on the page yet; the resize observer calls again
  const [formula, captions, table] = [96, 50, 178].map((height) => height * unit);
  const room = heightBelow(frame, 300) - formula - captions - table;
  const side = Math.max(84, Math.floor(Math.min((view.width - 3 * GAP) / 4, room)));
  view.cell = side / Math.max(nQuery, nKey);
  view.pitch = (view.width - side) / 3;
  const heads = view.stages.map((stage, at) => buildHead(view, stage, at, Math.min(view.pitch, side + GAP) - 4));
  view.top = 6 + Math.max(...heads.map((head) => head.height));
  const height = view.top + view.cell * nQuery + 2;
  svg.setAttribute("width", view.width);
  svg.setAttribute("height", height);
  svg.dataset.export = `-12 -8 ${view.width + 24} ${height + 20}`;
  svg.setAttribute("aria-label",
    `The four stages${view.of}, ${nQuery} tokens that look by ${nKey} looked at: q · k; ${view.words.caption}; ` +
    `mask, ${view.maskWords}; softmax. The chosen row is framed, its numbers stand in the table below.`);
  view.frames = view.stages.map(() => makeSvg("rect", { class: "frame" }));
  svg.replaceChildren(...view.stages.map((stage, at) => {
    const group = makeSvg("g", { class: "map", transform: `translate(${at * view.pitch} 0)` });
    group.append(heads[at].element, drawMap(view, stage), view.frames[at], hitArea(view, side));
    return group;
  }), ...arrows(view, side));
  drawRow(view);
}

// Number, name and caption of a map; captions that are too long take a second line.
function buildHead({ unit, frame }, stage, at, width) {
  const element = makeSvg("g");
  const line = 17 * unit;
  const circle = makeSvg("circle", { class: "circle", cx: 8.5, cy: line - 5 * unit, r: 7.8 });
  const digit = makeSvg("text", { class: "digit", x: 8.5, y: line - 5 * unit + 4 });
  digit.textContent = at + 1;
  const name = makeSvg("text", { class: "name", x: 23, y: line });
  name.append(...nameParts(stage.name));
  element.append(circle, digit, name);
  const font = `${12.5 * unit}px ${getComputedStyle(frame).getPropertyValue("--st-font")}`;
  const lines = wrap(stage.caption, width, font);
  lines.forEach((text, index) => {
    const caption = makeSvg("text", { class: "small", x: 0, y: line * (2 + index) });
    caption.textContent = text;
    element.append(caption);
  });
  return { element, height: line * (1 + lines.length) + 4 };
}

// "÷ √dk" with d and k in italics, k lowered; "q · k" in italics; other names as they are.
function nameParts(name) {
  const part = (text, attributes = {}) => {
    const element = makeSvg("tspan", attributes);
    element.textContent = text;
    return element;
  };
  if (name === "q · k") return [part(name, { class: "symbols" })];
  if (!name.startsWith("÷ √dk")) return [part(name)];
  return [
    part("÷ √"), part("d", { class: "symbols" }),
    part("k", { class: "symbols", dy: "0.25em", "font-size": "0.75em" }),
    part(name.slice("÷ √dk".length), { dy: "-0.19em" }),
  ];
}

function wrap(text, width, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim();
    if (pen.measureText(longer).width <= width || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function drawMap(view, stage) {
  return view.cell >= SMALLEST_CELL ? drawCells(view, stage) : drawImage(view, stage);
}

// Rectangles with a pixel between them. A masked cell is not drawn at all.
function drawCells({ nQuery, nKey, cell, top }, stage) {
  const group = makeSvg("g");
  const edge = (at) => Math.round(at * cell);
  for (let row = 0; row < nQuery; row++) {
    for (let key = 0; key < nKey; key++) {
      const value = stage.value(row, key);
      if (value === null) continue;
      group.append(makeSvg("rect", {
        x: edge(key), y: top + edge(row), fill: stage.colour(value),
        width: edge(key + 1) - edge(key) - 1, height: edge(row + 1) - edge(row) - 1,
      }));
    }
  }
  return group;
}

// One pixel a cell, or a block of cells where there are more cells than pixels: then the value
// farthest from 0 stands for the block, because thin patterns would vanish otherwise.
function drawImage({ nQuery, nKey, cell, top }, stage) {
  const most = Math.max(1, Math.floor(Math.max(nQuery, nKey) * cell * (window.devicePixelRatio || 1)));
  const [height, width] = [Math.min(nQuery, most), Math.min(nKey, most)];
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = canvas.getContext("2d");
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const value = farthest(stage, [y, height, nQuery], [x, width, nKey]);
      if (value === null) continue;
      pen.fillStyle = stage.colour(value);
      pen.fillRect(x, y, 1, 1);
    }
  }
  return makeSvg("image", {
    href: canvas.toDataURL(), x: 0, y: top, width: nKey * cell, height: nQuery * cell, preserveAspectRatio: "none",
  });
}

function farthest(stage, [y, height, nQuery], [x, width, nKey]) {
  let found = null;
  const first = (at, blocks, n) => Math.floor((at * n) / blocks);
  for (let row = first(y, height, nQuery); row < first(y + 1, height, nQuery); row++) {
    for (let key = first(x, width, nKey); key < first(x + 1, width, nKey); key++) {
      const value = stage.value(row, key);
      if (value !== null && (found === null || Math.abs(value) > Math.abs(found))) found = value;
    }
  }
  return found;
}

// Over a whole map, so that its empty half lights the symbol too.
const hitArea = ({ top }, side) => makeSvg("rect", { x: 0, y: 0, width: side, height: top + side, fill: "transparent" });

function arrows(view, side) {
  return [0, 1, 2].map((at) => {
    const x = at * view.pitch + (view.pitch + side) / 2;
    const arrow = makeSvg("text", { class: "arrow", x, y: view.top + (view.cell * view.nQuery) / 2 + 5 });
    arrow.textContent = "→";
    return arrow;
  });
}

// --- the chosen row -----------------------------------------------------------------------------

function drawRow(view) {
  const { row, cell, top, nKey } = view;
  view.frames.forEach((frame, at) => {
    let end = nKey; // from the third stage on, the frame ends with the last token that is seen
    while (at >= 2 && end > 1 && view.isMasked(row, end - 1)) end--;
    setAll(frame, {
      x: 0, y: top + row * cell - 1, width: Math.max(4, end * cell), height: Math.max(4, cell + 1),
    });
  });
  view.scope.find(".numbers").replaceChildren(buildTable(view));
}

// --- events -------------------------------------------------------------------------------------

function listen(view) {
  const { scope, svg } = view;
  const rowAt = (event) => {
    const y = event.clientY - svg.getBoundingClientRect().top - view.top;
    const row = Math.floor(y / view.cell);
    return row >= 0 && row < view.nQuery ? row : null;
  };
  const light = (lit) => view.symbols.forEach((group, at) =>
    group.forEach((symbol) => symbol.classList.toggle("lit", at === lit)));
  scope.on(svg, "pointermove", (event) => {
    const map = event.target.closest(".map");
    light(map ? [...svg.children].indexOf(map) : null);
    const row = map ? rowAt(event) : null;
    if (row !== view.pointed) announceHover((view.pointed = row));
  });
  scope.on(svg, "pointerleave", () => {
    light(null);
    announceHover((view.pointed = null));
  });
  scope.on(svg, "click", (event) => {
    const row = event.target.closest(".map") ? rowAt(event) : null;
    if (row !== null) view.choose(row);
  });
  scope.on(window, "hl-hover", (event) => {
    view.row = event.detail.q < view.nQuery ? (event.detail.q ?? view.query) : view.query;
    if (view.frames) drawRow(view);
  });
  const again = () => layOut(view);
  scope.on(window, "resize", again);
  scope.on(window, "hl-layout", again);
  scope.onResize([view.frame], () => view.frame.clientWidth !== view.width && again());
  document.fonts?.ready.then(() => view.svg.isConnected && again());
}
