// Curves that stop early, with a ring at the end of each for what a person expects; then the rest
// of them. Rings outlive reruns (in `kept`), so that none is lost while it is dragged or focused;
// all else is drawn anew. Nothing is asked of the server until a ring is let go of.

// Shares of the range that a key moves a ring by; the range's ends are the limits.
const STEPS = {
  ArrowUp: 0.02, ArrowRight: 0.02, ArrowDown: -0.02, ArrowLeft: -0.02,
  PageUp: 0.1, PageDown: -0.1, Home: -1, End: 1,
};
const RESTING = 250; // ms without a key, after which a guess counts as made
const DRAWING = 1300; // ms; a little longer than the animations of predict.css
const APART = 22; // px from a ring's middle to its label

export default function (component) {
  return mount(component, (scope) => {
    const { kept } = scope;
    const data = unpack(component.data);
    const frame = scope.find(".predict");
    const palette = currentPalette(frame);
    paint(frame, palette);
    frame.style.height = data.height;
    if (data.revealed && kept.revealed === false) kept.revealedAt = performance.now();
    takeGuesses(kept, data);
    kept.revealed = data.revealed;
    kept.send = (guesses) => component.setTriggerValue("guess", guesses);
    kept.end = () => clearTimeout(kept.resting);
    const view = { scope, kept, frame, palette, ...data, svg: scope.find("svg.headlight"), drawn: "" };
    scope.find(".unseen").textContent = data.words;
    buildLayers(view);
    draw(view);
    if (!data.revealed) listen(view);
    scope.onResize([frame], () => draw(view));
    document.fonts?.ready.then(() => { if (kept.view === view) { view.drawn = ""; draw(view); } });
  });
}

// --- guesses --------------------------------------------------------------------------------------

// What the page holds counts, unless it is older than what stands here: reruns for other reasons
// and echoes of earlier guesses arrive while a ring is being moved.
function takeGuesses(kept, data) {
  const text = JSON.stringify(data.guesses);
  const again = kept.given === text && kept.revealed === data.revealed;
  kept.given = text;
  const echo = (kept.sent ??= []).indexOf(text);
  kept.sent.splice(0, echo + 1);
  const newer = kept.dragged || kept.resting || (echo >= 0 && kept.sent.length);
  if (!data.revealed && kept.guesses && (again || newer)) return;
  clearTimeout(kept.resting);
  Object.assign(kept, { guesses: { ...data.guesses }, sent: [], resting: null, dragged: null });
}

// What is sent is what is written beside the ring, so that sums with it come out right.
function tell(kept) {
  clearTimeout(kept.resting);
  kept.resting = null;
  for (const name of Object.keys(kept.guesses)) kept.guesses[name] = Math.round(kept.guesses[name] * 100) / 100;
  place(kept.view);
  const text = JSON.stringify(kept.guesses);
  if (text === kept.given && !kept.sent.length) return; // a ring was touched, not moved
  kept.sent.push(text);
  kept.send({ ...kept.guesses });
}

function setGuess(view, name, value) {
  const [low, high] = view.yRange;
  view.kept.guesses[name] = Math.max(low, Math.min(high, value));
  place(view);
}

// --- events ---------------------------------------------------------------------------------------

function listen(view) {
  const { scope, kept, svg, frame } = view;
  const ringOf = (event) => event.target.closest?.("[role=slider]");
  const heightOf = (event) => event.clientY - svg.getBoundingClientRect().top;
  scope.on(svg, "pointerdown", (event) => {
    if (event.button !== 0 || !ringOf(event)) return;
    // Where the squares that are hit overlap, the nearer ring is meant.
    const away = (name) => Math.abs(view.Y(kept.guesses[name]) - heightOf(event));
    const name = Object.keys(kept.rings).reduce((best, each) => (away(each) < away(best) ? each : best));
    kept.dragged = { name, grip: view.Y(kept.guesses[name]) - heightOf(event) };
    kept.rings[name].setPointerCapture(event.pointerId);
    kept.rings[name].focus({ preventScroll: true, focusVisible: false });
  });
  scope.on(svg, "mousedown", (event) => ringOf(event) && event.preventDefault()); // the focus is set above
  scope.on(svg, "pointermove", (event) => {
    if (!kept.dragged) return;
    setGuess(view, kept.dragged.name, view.valueAt(heightOf(event) + kept.dragged.grip));
  });
  scope.on(svg, "lostpointercapture", () => {
    if (!kept.dragged) return;
    kept.dragged = null;
    tell(kept);
  });
  // On the HTML around it: an SVG element that listens for focus becomes a stop of the Tab key.
  scope.on(frame, "focusout", () => kept.resting && tell(kept)); // before a click on "Reveal" is sent
  scope.on(svg, "keydown", (event) => {
    const name = ringOf(event)?.dataset.name;
    if (name === undefined || !(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [low, high] = view.yRange;
    setGuess(view, name, kept.guesses[name] + STEPS[event.key] * (high - low));
    clearTimeout(kept.resting);
    kept.resting = setTimeout(() => tell(kept), RESTING);
  });
}

// --- building -------------------------------------------------------------------------------------

// The rings stand in front; they are built anew only where there are others.
function buildLayers(view) {
  const { kept, svg, curves, revealed } = view;
  // Sliders must not stand inside one image; without them it is one.
  setAll(svg, { role: revealed ? "img" : "group", "aria-label": view.alt });
  const labels = curves.map(({ label }) => `${label}: your guess at ${view.end}`);
  const signature = JSON.stringify([curves.map(({ name }) => name), labels, view.yRange, revealed]);
  if (kept.signature === signature) return;
  Object.assign(kept, { signature, dragged: null, rings: {} });
  kept.back = makeSvg("g", { "aria-hidden": true });
  kept.marks = makeSvg("g", { "aria-hidden": true });
  curves.forEach(({ name }, at) => {
    kept.rings[name] = revealed
      ? makeSvg("circle", { class: "ring guess late", r: 7, "aria-hidden": true })
      : buildRing(view, name, labels[at]);
  });
  svg.replaceChildren(kept.back, kept.marks, ...Object.values(kept.rings));
}

function buildRing({ yRange: [low, high] }, name, label) {
  const ring = makeSvg("g", {
    role: "slider", tabindex: 0, "aria-label": label, "aria-orientation": "vertical",
    "aria-valuemin": low, "aria-valuemax": high, "data-name": name,
  });
  ring.append(
    makeSvg("rect", { class: "hit", x: -22, y: -22, width: 44, height: 44 }),
    makeSvg("circle", { class: "focus", r: 16 }), makeSvg("circle", { class: "ring", r: 11 }),
    makeSvg("path", { class: "grip", d: "M-3.4 -2.4L0 -5.8L3.4 -2.4M-3.4 2.4L0 5.8L3.4 2.4" }));
  return ring;
}

function write(text, attributes) {
  const element = makeSvg("text", attributes);
  element.textContent = text;
  return element;
}

// A title, in which "_k" sets a lowered k.
function writeTitle(text, attributes) {
  const element = makeSvg("text", attributes);
  text.split(/_(\p{L})/u).forEach((part, at) => { // every second part is lowered
    const span = makeSvg("tspan", at % 2 ? { dy: "0.25em", "font-size": "0.75em" } : { dy: at ? "-0.19em" : 0 });
    span.textContent = part;
    element.append(span);
  });
  return element;
}

// --- drawing --------------------------------------------------------------------------------------

function draw(view) {
  const { kept, frame, svg } = view;
  const [width, height] = [frame.clientWidth, frame.clientHeight];
  const size = isLarge() ? 19.5 : 15;
  const state = `${width} ${height} ${size}`;
  if (!width || view.drawn === state) return; // not on the page yet; the resize observer calls again
  Object.assign(view, { drawn: state, size });
  setAll(svg, { width, height, "data-export": `-12 -8 ${width + 24} ${height + 16}` });
  svg.style.fontSize = `${size}px`;
  const since = performance.now() - (kept.revealedAt ?? -Infinity);
  svg.classList.toggle("revealing", view.revealed && since < DRAWING);
  svg.style.setProperty("--since", `${Math.round(Math.min(since, DRAWING))}ms`);
  setScales(view, width, height);
  kept.view = view; // for what ends later than a rerun may come
  kept.back.replaceChildren(...drawAxes(view), ...view.curves.map((curve) => drawCurve(view, curve)));
  place(view);
}

// Room for what stands beside the plot, measured, since names may have any length.
function setScales(view, width, height) {
  const { size, x, frame, curves } = view;
  const [low, high] = view.yRange;
  const pen = document.createElement("canvas").getContext("2d");
  const widest = (texts, weight) => {
    pen.font = `${weight} ${size}px ${getComputedStyle(frame).getPropertyValue("--st-font")}`;
    return Math.max(...texts.map((text) => pen.measureText(text).width));
  };
  view.ticks = [0, 1, 2, 3, 4].map((quarter) => low + ((high - low) * quarter) / 4);
  const labels = Math.max(widest(curves.map(({ label }) => `${label} −0.00`), 600), widest(["you said −0.00"], 400));
  view.left = widest(view.ticks.map(tickText), 400) + 10;
  view.right = Math.max(view.left + 80, width - APART - Math.min(labels, width / 3) - 6);
  view.top = size * 2.6;
  view.bottom = height - size * 3.5;
  const octaves = Math.log2(x.at(-1) / x[0]);
  view.X = (value) => view.left + ((view.right - view.left) * Math.log2(value / x[0])) / octaves;
  view.Y = (value) => view.bottom - ((view.bottom - view.top) * (value - low)) / (high - low);
  view.valueAt = (y) => low + ((high - low) * (view.bottom - y)) / (view.bottom - view.top);
}

const tickText = (value) => String(Number(value.toFixed(2))).replace("-", "−");

function drawAxes({ size, ticks, left, right, top, bottom, X, Y, x, xLabels, xTitle, yTitle, known, revealed }) {
  const tick = (text, x, y, anchor) => write(text, { class: "tick", x, y, "text-anchor": anchor });
  const veiled = X(x[known]);
  return [
    ...ticks.flatMap((value, at) => [
      makeSvg("line", { class: at ? "grid" : "axis", x1: left, x2: right, y1: Y(value), y2: Y(value) }),
      tick(tickText(value), left - 8, Y(value) + size * 0.34, "end"),
    ]),
    ...x.flatMap((value, at) => !xLabels[at] ? [] : [
      makeSvg("line", { class: "axis", x1: X(value), x2: X(value), y1: bottom, y2: bottom + 5 }),
      tick(xLabels[at], X(value), bottom + size * 1.4, "middle"),
    ]),
    writeTitle(xTitle, { x: (left + right) / 2, y: bottom + size * 3.05, "text-anchor": "middle" }),
    writeTitle(yTitle, { x: left - 8, y: size * 1.1 }),
    ...revealed ? [] : [
      makeSvg("line", { class: "end", x1: right, x2: right, y1: top, y2: bottom }),
      makeSvg("rect", { class: "veil", x: veiled, y: top - 6, width: right + 6 - veiled, height: bottom - top + 6 }),
      tick("not drawn yet", (veiled + right) / 2, bottom - size * 0.9, "middle"),
    ],
  ];
}

// The part that was known stands; the rest, if it is there, is a path of its own, which draws itself.
function drawCurve({ x, known, X, Y, palette }, { values, colour }) {
  const group = makeSvg("g", { style: `--series: ${palette[colour]}` });
  const path = (from, to, more) => makeSvg("path", {
    ...more, d: values.slice(from, to).map((value, at) => `${at ? "L" : "M"}${X(x[from + at])} ${Y(value)}`).join(""),
  });
  group.append(path(0, known + 1, { class: "line" }));
  if (values.length === known + 1) return group;
  group.append(path(known, values.length, { class: "line rest", pathLength: 1 }));
  values.forEach((value, at) => {
    const share = (X(x[at]) - X(x[known])) / (X(x.at(-1)) - X(x[known]));
    group.append(makeSvg("circle", { class: "dot", cx: X(x[at]), cy: Y(value), r: 3.8, style: `--at: ${share}` }));
  });
  return group;
}

// The rings, and what leads to them: all that moves while one is dragged.
function place(view) {
  const { kept, curves, revealed, right, Y, size, palette } = view;
  const ends = curves.map(({ name, values }) => Y(revealed ? values.at(-1) : kept.guesses[name]));
  const heights = pushApart(ends, size * 2.6, view.top - size, view.bottom - size * 0.4);
  kept.marks.replaceChildren(...curves.map((curve, at) => {
    const guess = kept.guesses[curve.name];
    const style = `--series: ${palette[curve.colour]}`;
    const ring = setAll(kept.rings[curve.name], { style, transform: `translate(${right} ${Y(guess)})` });
    if (!revealed) setAll(ring, { "aria-valuenow": guess.toFixed(2), "aria-valuetext": twoDecimals(guess) });
    const [name, said] = revealed
      ? [`${curve.label} ${twoDecimals(curve.values.at(-1))}`, `you said ${twoDecimals(guess)}`]
      : [curve.label, `you say ${twoDecimals(guess)}`];
    const group = makeSvg("g", { class: "late", style });
    group.append(
      revealed ? drawGap(right, ends[at], Y(guess)) : drawLead(view, curve, Y(guess)),
      write(name, { class: "label name", x: right + APART, y: heights[at] - size * 0.12 }),
      write(said, { class: "label", x: right + APART, y: heights[at] + size * 1.08 }));
    return group;
  }));
}

function drawLead({ x, known, X, Y, right }, { values }, y) {
  const [fromX, fromY] = [X(x[known]), Y(values[known])];
  const bend = (right - fromX) * 0.45;
  const d = `M${fromX + 7} ${fromY}C${fromX + bend} ${fromY} ${right - bend} ${y} ${right - 15} ${y}`;
  return makeSvg("path", { class: "lead", d });
}

// From the truth to the rim of the guess; nothing where they meet.
function drawGap(x, truth, guess) {
  const rim = Math.abs(truth - guess) > 14 ? guess + 9 * Math.sign(truth - guess) : truth;
  return makeSvg("line", { class: "gap", x1: x, x2: x, y1: truth, y2: rim });
}

// The heights closest to the wanted ones that keep labels `gap` apart: without the gaps between
// them, those are the nearest heights that never fall (isotonic regression).
function pushApart(wanted, gap, least, most) {
  const order = wanted.map((_, at) => at).sort((a, b) => wanted[a] - wanted[b]);
  const bare = order.map((at, rank) => wanted[at] - rank * gap);
  const ranks = [...bare.keys()];
  const mean = (from, to) => bare.slice(from, to + 1).reduce((sum, y) => sum + y, 0) / (to + 1 - from);
  const lowest = (from, rank) => Math.min(...ranks.slice(rank).map((to) => mean(from, to)));
  const heights = [];
  order.forEach((at, rank) => {
    const y = Math.max(...ranks.slice(0, rank + 1).map((from) => lowest(from, rank)));
    heights[at] = rank * gap + Math.max(least, Math.min(most - gap * (order.length - 1), y));
  });
  return heights;
}
