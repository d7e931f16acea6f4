// Two columns of tokens joined by curves: the chosen row strong, all other rows faint.
//
// Everything stands in one SVG, token text too, so that it can be exported whole. curves.js,
// which stands in front of this file, turns weights into paths.

const STRONG = 0.2; // from this weight on, the token at the other end is set bold

export default function (component) {
  return mount(component, (scope) => {
    const data = unpack(component.data);
    const svg = scope.find("svg.headlight");
    const frame = scope.find(".lines");
    const palette = currentPalette(frame);
    paint(frame, palette);

    const focused = focusedToken(scope.root);
    const view = {
      scope, svg, frame, palette,
      ...data,
      nHeads: data.weights.shape[0],
      nQuery: data.weights.shape[1],
      nKey: data.weights.shape[2],
      shown: shownHeads(scope.kept, data),
      hoverRow: null, // a row to preview instead of the chosen one
      hoverKey: null, // or a key, of which one sees who looks at it
      choose: (row) => component.setTriggerValue("pick", row),
    };
    view.toggles = buildToggles(view);
    buildSvg(view);
    listen(view);
    layOut(view);
    if (focused) view[focused.side][focused.at]?.focus({ preventScroll: true });
  });
}

// Which heads are drawn, kept over reruns until another head or layer is chosen.
function shownHeads(kept, { layer, head, weights }) {
  const id = `${layer}.${head}.${weights.shape[0]}`;
  if (kept.headsOf !== id) {
    kept.headsOf = id;
    kept.shown = Array.from({ length: weights.shape[0] }, (_, each) => each === head);
  }
  return kept.shown;
}

// A rerun builds the tokens anew; who walks through them by keyboard must not be thrown out.
function focusedToken(root) {
  const focused = root.activeElement;
  if (!focused?.matches("[role=option]:focus-visible")) return null;
  return { side: focused.dataset.side, at: Number(focused.dataset.at) };
}

// --- building -----------------------------------------------------------------------------------

function buildToggles(view) {
  const group = view.scope.find(".heads");
  group.setAttribute("aria-label", `Heads of layer ${view.layer}`);
  const buttons = view.shown.map((_, head) => {
    const button = make("button");
    const swatch = makeSvg("svg", { "aria-hidden": "true", viewBox: "0 0 16 4" });
    swatch.append(makeSvg("line", { x1: 0, x2: 16, y1: 2, y2: 2, "stroke-width": 3 }));
    button.append(swatch, make("span", "", `H${head}`));
    button.onclick = () => {
      view.shown[head] = !view.shown[head];
      if (!view.shown.some(Boolean)) view.shown[head] = true; // an empty picture says nothing
      drawAll(view);
    };
    return button;
  });
  group.replaceChildren(make("span", "", `Heads of layer ${view.layer}`), ...buttons);
  return buttons;
}

function buildSvg(view) {
  const { svg } = view;
  view.faint = makeSvg("g");
  view.bright = makeSvg("g");
  view.extra = makeSvg("g", { class: "only-export" });
  const left = makeSvg("g", { role: "listbox", "aria-label": "looks" });
  const right = makeSvg("g", { role: "listbox", "aria-label": "is looked at" });
  if (!view.sameTokens) right.classList.add("fixed");
  view.left = view.queryLabels.map((_, at) => buildToken("left", at));
  view.right = view.keyLabels.map((_, at) => buildToken("right", at));
  left.append(...view.left);
  right.append(...view.right);
  view.left.forEach((token, at) => token.setAttribute("aria-selected", at === view.query));
  view.left[view.query]?.setAttribute("tabindex", 0);
  view.right[0]?.setAttribute("tabindex", 0);
  view.columns = { left, right };
  svg.replaceChildren(view.faint, view.bright, left, right, view.extra);
}

function buildToken(side, at) {
  const token = makeSvg("g", {
    role: "option", tabindex: -1, "aria-selected": false, "data-side": side, "data-at": at,
  });
  const text = makeSvg("text", { "text-anchor": side === "left" ? "end" : "start" });
  token.append(makeSvg("rect", { class: "hit" }), makeSvg("rect", { class: "box", rx: 4 }), text);
  return token;
}

// --- events -------------------------------------------------------------------------------------

function listen(view) {
  const { scope, svg, frame, columns } = view;
  const tokenOf = (event) => event.target.closest?.("[role=option]");
  const lookAt = (token) => {
    const at = token ? Number(token.dataset.at) : null;
    view.hoverKey = token?.dataset.side === "right" ? at : null;
    announceHover(token?.dataset.side === "left" ? at : null); // comes back to this picture, too
  };
  scope.on(svg, "pointerover", (event) => tokenOf(event) && lookAt(tokenOf(event)));
  scope.on(svg, "pointerleave", () => lookAt(null));
  // On the HTML around it: an SVG element that listens for focus becomes a stop of the Tab key.
  scope.on(frame, "focusin", (event) => {
    const token = tokenOf(event);
    if (token?.dataset.side === "right" && token.matches(":focus-visible")) lookAt(token);
  });
  scope.on(frame, "focusout", (event) => tokenOf(event) && lookAt(null));

  const choose = (token) => {
    if (token && (view.sameTokens || token.dataset.side === "left")) view.choose(Number(token.dataset.at));
  };
  scope.on(svg, "click", (event) => choose(tokenOf(event)));
  scope.on(svg, "keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    choose(tokenOf(event));
  });
  rovingKeys(scope, columns.left, { options: () => view.left, preview: announceHover, choose: view.choose });
  // In the right column, the keys that walk only look: choosing each key as a row would be a jump.
  rovingKeys(scope, columns.right, { options: () => view.right, choose: () => {} });

  scope.on(window, "hl-hover", (event) => {
    view.hoverRow = event.detail.q < view.nQuery ? event.detail.q : null;
    drawRow(view);
  });
  const again = () => layOut(view);
  scope.on(window, "resize", again);
  scope.on(window, "hl-layout", again);
  scope.onResize([view.frame], () => view.frame.clientWidth !== view.width && again());
  scope.on(scope.find(".scroller"), "scroll", () => fadeEdges(view));
  document.fonts?.ready.then(() => view.svg.isConnected && again());
}

// --- sizes --------------------------------------------------------------------------------------

function layOut(view) {
  const { frame, svg, scope, nQuery, nKey } = view;
  const scroller = scope.find(".scroller");
  const large = isLarge();
  frame.style.setProperty("--small", large ? "15px" : "13px");
  const rows = Math.max(nQuery, nKey);
  const room = heightBelow(scroller, 300);
  view.rowHeight = Math.max(17, Math.min(large ? 56 : 44, Math.floor(room / rows)));
  view.height = view.rowHeight * rows;
  scroller.style.height = `${Math.min(room, view.height)}px`;
  view.width = frame.clientWidth;
  view.drawn = scroller.clientWidth; // less than the width where there is a scroll bar
  view.column = Math.min(large ? 190 : 150, Math.round(view.drawn * 0.26));
  frame.style.setProperty("--column", `${view.column}px`);
  scope.find(".columns").style.width = `${view.drawn}px`;
  svg.setAttribute("width", view.drawn);
  svg.setAttribute("height", view.height);
  placeTokens(view);
  scroller.classList.toggle("cut", view.height > room);
  showRow(view, scroller);
  fadeEdges(view);
  drawAll(view);
}

const fontSize = (rowHeight) =>
  rowHeight >= 42 ? 20 : rowHeight >= 36 ? 17 : rowHeight >= 26 ? 15 : rowHeight >= 20 ? 13.5 : 12.5;

function placeTokens(view) {
  const { rowHeight, column, drawn } = view;
  const size = fontSize(rowHeight);
  view.svg.style.fontSize = `${size}px`;
  const fit = fitter(`600 ${size}px ${getComputedStyle(view.svg).fontFamily}`, column - 16);
  const place = (tokens, labels, x, textX, anchor) => tokens.forEach((token, at) => {
    const [hit, box, text] = token.children;
    const top = at * rowHeight;
    const { shown, width } = fit(labels[at]);
    const boxX = anchor === "end" ? textX - width - 8 : textX - 8;
    setAll(hit, { x, y: top, width: column, height: rowHeight });
    setAll(box, { x: boxX, y: top + 1, width: width + 16, height: rowHeight - 2 });
    setAll(text, { x: textX, y: top + rowHeight / 2 });
    text.textContent = shown;
    token.setAttribute("aria-label", `${shown}, position ${at}`);
    if (shown !== labels[at]) {
      const tip = makeSvg("title");
      tip.textContent = labels[at];
      token.append(tip);
    }
  });
  place(view.left, view.queryLabels, 0, column - 9, "end");
  place(view.right, view.keyLabels, drawn - column, drawn - column + 9, "start");
}

// Cuts text to a width by measuring, never within what a reader sees as one character.
function fitter(font, most) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const fit = (text) => {
    const whole = pen.measureText(text).width;
    if (whole <= most) return { shown: text, width: whole };
    const parts = [...segmenter.segment(text.slice(0, 500))].map((part) => part.segment);
    let shown = "…";
    for (let n = 1; n < parts.length; n++) {
      const longer = parts.slice(0, n).join("") + "…";
      if (pen.measureText(longer).width > most) break;
      shown = longer;
    }
    return { shown, width: pen.measureText(shown).width };
  };
  const known = new Map();
  return (text) => known.get(text) ?? known.set(text, fit(text)).get(text);
}

// Bring the chosen row into sight when it is out of it, and only then.
function showRow(view, scroller) {
  const top = view.query * view.rowHeight;
  const hidden = top < scroller.scrollTop || top + view.rowHeight > scroller.scrollTop + scroller.clientHeight;
  if (hidden) scroller.scrollTop = top - scroller.clientHeight * 0.6;
}

function fadeEdges(view) {
  const scroller = view.scope.find(".scroller");
  const above = scroller.scrollTop > 4;
  const below = scroller.scrollTop + scroller.clientHeight < view.height - 4;
  scroller.style.setProperty("--above", above ? "transparent" : "#000");
  scroller.style.setProperty("--below", below ? "transparent" : "#000");
}

// --- drawing -------------------------------------------------------------------------------------

// Everything that a choice of heads or a size changes; a hover changes only drawRow's part.
function drawAll(view) {
  view.toggles.forEach((button, head) => {
    button.setAttribute("aria-pressed", view.shown[head]);
    setAll(button.querySelector("line"), {
      stroke: headColour(view, head), "stroke-dasharray": headDash(view, head),
    });
  });
  const shown = view.shown.flatMap((isShown, head) => (isShown ? [head] : []));
  view.svg.setAttribute("aria-label",
    `Attention of layer ${view.layer}, ${shown.length === 1 ? "head" : "heads"} ${shown.join(", ")}: ` +
    `${view.nQuery} tokens look, ${view.nKey} are looked at`);
  drawFaint(view);
  drawRow(view);
  drawForExport(view);
}

function drawRow(view) {
  const row = view.hoverRow ?? view.query;
  const previewing = view.hoverKey !== null || view.hoverRow !== null;
  view.faint.classList.toggle("quiet", previewing); // a preview shows its own row alone
  const pairs = view.hoverKey === null ? rowPairs(view, row) : keyPairs(view, view.hoverKey);
  const heads = view.shown.flatMap((shown, head) => (shown ? [head] : []));
  const apart = Math.min(3.4, view.rowHeight / 7, (view.rowHeight - 2) / heads.length);
  view.bright.replaceChildren(...heads.flatMap((head, at) =>
    // Heads that agree would hide each other, so their curves run side by side.
    bundle(view, head, pairs, { shift: (at - (heads.length - 1) / 2) * apart, style: brightStyle(heads.length) })));
  markTokens(view, row, pairs, heads);
}

function markTokens(view, row, pairs, heads) {
  const strongRows = new Set();
  const strongKeys = new Set();
  for (const head of heads) {
    for (const [each, key] of pairs) {
      if (weightAt(view, head, each, key) > STRONG) { strongRows.add(each); strongKeys.add(key); }
    }
  }
  const ofKey = view.hoverKey !== null;
  view.left.forEach((token, at) => mark(token, {
    chosen: !ofKey && at === row,
    kept: at === view.query,
    strong: ofKey && strongRows.has(at),
    hidden: ofKey && weightAt(view, 0, at, view.hoverKey) < 0,
  }));
  view.right.forEach((token, at) => mark(token, {
    chosen: at === view.hoverKey,
    kept: false,
    strong: !ofKey && strongKeys.has(at),
    hidden: !ofKey && weightAt(view, 0, row, at) < 0,
  }));
}

function mark(token, states) {
  for (const [name, on] of Object.entries(states)) token.classList.toggle(name, on);
}

// --- what a file needs and the page has elsewhere -----------------------------------------------

function drawForExport(view) {
  const { column, drawn, height } = view;
  const write = (text, x, y, anchor) => {
    const element = makeSvg("text", { x, y, "text-anchor": anchor });
    element.textContent = text;
    return element;
  };
  const parts = [
    write(`Layer ${view.layer}`, 8, -40, "start"),
    write("looks", column - 9, -12, "end"),
    write("is looked at", drawn - column + 9, -12, "start"),
  ];
  let x = 80;
  view.shown.forEach((shown, head) => {
    if (!shown) return;
    parts.push(makeSvg("line", {
      x1: x, x2: x + 16, y1: -40, y2: -40, stroke: headColour(view, head), "stroke-width": 3,
      "stroke-dasharray": headDash(view, head),
    }), write(`H${head}`, x + 22, -40, "start"));
    x += 58;
  });
  view.extra.replaceChildren(...parts);
  const width = Math.max(drawn, x);
  view.svg.dataset.export = `-12 -60 ${width + 24} ${height + 72}`;
}
