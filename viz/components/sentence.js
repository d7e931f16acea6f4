const UNKNOWN_TITLE = "not in this model's vocabulary: read letter by letter";
const SHOWN_WEIGHT = 0.05; // weights below get no number and no arc

export default function (component) {
  return mount(component, (scope) => {
    const data = unpack(component.data);
    const frame = scope.find(".sentence");
    const palette = currentPalette(frame);
    paint(frame, palette);
    reportTheme(scope, component, palette, data);
    setUpField(scope, component, data);
    const redraw = setUpChips(scope, component, data, palette);
    publishLayout(scope, frame, redraw);
  });
}

// --- the field --------------------------------------------------------------------------------

function setUpField(scope, component, data) {
  const { kept } = scope;
  const field = scope.find("textarea");
  const hint = scope.find(".hint");
  if (hint.textContent !== data.hint) hint.textContent = data.hint;
  hint.title = data.hint;

  // Reruns come and go while one types: the field changes only for a text from elsewhere.
  if (kept.revision !== data.revision) {
    kept.revision = data.revision;
    clearTimeout(kept.typing);
    field.value = data.text;
    kept.applied = field.value;
  }

  // The timer belongs to `kept`: a rerun in between must not lose what waits to be applied.
  kept.apply = () => {
    clearTimeout(kept.typing);
    if (field.value === kept.applied) return;
    kept.applied = field.value;
    component.setTriggerValue("text", field.value);
  };
  scope.on(field, "input", (event) => {
    fitHeight(field, true);
    clearTimeout(kept.typing);
    if (!event.isComposing) kept.typing = setTimeout(() => kept.apply(), 350);
  });
  scope.on(field, "compositionend", () => { kept.typing = setTimeout(() => kept.apply(), 350); });
  scope.on(field, "keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    kept.apply();
  });
  scope.on(field, "focus", () => fitHeight(field, true));
  scope.on(field, "blur", () => { kept.apply(); foldAfterClick(field); });
  fitHeight(field, field.matches(":focus"));
}

// One line, or up to three while it is being edited and needs them.
function fitHeight(field, open) {
  const line = parseFloat(getComputedStyle(field).lineHeight);
  field.style.height = "0";
  const lines = Math.round((field.scrollHeight - 8) / line);
  field.style.height = `${Math.min(open ? 3 : 1, Math.max(1, lines)) * line + 8}px`;
  field.classList.toggle("folded", !open);
  field.parentElement.classList.toggle("more", !open && lines > 1);
  if (!open) field.scrollTop = 0;
}

// The field is left by pressing the mouse on something below it, which would move away from
// under the mouse if the field folded before the button is released.
function foldAfterClick(field) {
  let folded = false;
  const fold = () => {
    if (folded) return;
    folded = true;
    window.removeEventListener("pointerup", afterClick);
    if (!field.matches(":focus")) fitHeight(field, false);
  };
  const afterClick = () => setTimeout(fold, 60);
  window.addEventListener("pointerup", afterClick);
  setTimeout(fold, 700);
}

// --- the chips --------------------------------------------------------------------------------

// Returns a function that draws the row that is shown again, for when sizes have changed.
function setUpChips(scope, component, data, palette) {
  const count = data.labels.length;
  scope.find(".scroller").hidden = count === 0;
  if (count === 0) return () => {};

  const list = scope.find(".chips");
  const chips = buildChips(scope, list, data);
  const choose = (index) => component.setTriggerValue("query", index);
  const index = (event) => chips.indexOf(event.target.closest(".chip"));
  scope.on(list, "click", (event) => { if (index(event) >= 0) choose(index(event)); });
  scope.on(list, "mouseover", (event) => { if (index(event) >= 0) announceHover(index(event)); });
  scope.on(list, "mouseleave", () => announceHover(null));
  scope.on(list, "focusout", () => announceHover(null));
  rovingKeys(scope, list, { options: () => chips, preview: announceHover, choose });

  const view = { chips, colours: lookup(palette.weights), query: data.query };
  const redraw = () => drawRow(scope, data, view);
  scope.on(window, "hl-hover", (event) => {
    view.query = event.detail.q ?? data.query;
    redraw();
  });
  redraw();
  keepInView(scope.find(".scroller"), chips[data.query]);
  document.fonts?.ready.then(redraw);
  return redraw;
}

// The chips are built again only for other tokens: a chip that is focused stays what it is.
function buildChips(scope, list, data) {
  const { kept } = scope;
  const count = data.labels.length;
  const signature = JSON.stringify([data.labels, data.marks]);
  if (kept.signature !== signature) {
    const focused = kept.chips?.findIndex((chip) => chip.matches(":focus")) ?? -1;
    kept.signature = signature;
    kept.chips = data.labels.map((label, at) => makeChip(data, at));
    list.replaceChildren(...kept.chips);
    if (focused >= 0) kept.chips[Math.min(focused, count - 1)].focus();
  }
  const frame = scope.find(".sentence");
  const size = count <= 18 ? "roomy" : count <= 34 ? "close" : "dense";
  frame.dataset.size = size;
  frame.dataset.large = isLarge();
  frame.classList.toggle("with-arcs", count <= 20);
  kept.chips.forEach((chip, at) => {
    chip.tabIndex = at === data.query ? 0 : -1;
    chip.setAttribute("aria-selected", at === data.query);
    chip.classList.toggle("chosen", at === data.query);
  });
  return kept.chips;
}

function makeChip(data, at) {
  const label = data.labels[at];
  const chip = make("button", "chip");
  chip.type = "button";
  chip.setAttribute("role", "option");
  const word = make("span", "word token", label);
  word.dir = "auto";
  chip.append(word, make("span", "strip"), make("span", "weight"));
  const mark = data.marks[at];
  const unknown = mark === "unknown" || mark === "continued";
  // Letters of a word that is spelled out stand together; pieces with longer labels
  // (the bytes of a character, say) would run into each other.
  const single = (text) => [...(text ?? "")].length === 1;
  const joined = unknown && data.marks[at + 1] === "continued";
  chip.classList.toggle("unknown", unknown);
  chip.classList.toggle("special", mark === "special");
  chip.classList.toggle("joined", joined && single(label) && single(data.labels[at + 1]));
  chip.classList.toggle("continued", mark === "continued" && single(label));
  if (mark === "special") chip.title = `${label}: a token that the model adds`;
  else if (unknown) chip.title = `${label}: ${UNKNOWN_TITLE}`;
  else if ([...label].length > 20) chip.title = label;
  return chip;
}

function drawRow(scope, data, view) {
  const { chips, colours, query } = view;
  const count = chips.length;
  const row = (key) => data.weights.values[query * count + key] / 65535;
  const seen = (key) => data.mask.values[query * count + key] === 1;
  let strongest = -1;
  for (let key = 0; key < count; key++) {
    if (seen(key) && (strongest < 0 || row(key) > row(strongest))) strongest = key;
  }
  const numbers = count <= 34;
  const wide = chips.map((chip) => numbers && chip.offsetWidth >= 34); // read all, then write
  chips.forEach((chip, key) => {
    chip.classList.toggle("looking", key === query);
    chip.classList.toggle("out-of-sight", !seen(key));
    chip.classList.toggle("strongest", key === strongest);
    chip.children[1].style.background = seen(key) ? shade(colours, row(key)) : "transparent";
    const shown = numbers && seen(key) && row(key) >= SHOWN_WEIGHT;
    chip.children[2].textContent =
      shown && (key === strongest || wide[key]) ? twoDecimals(row(key)) : "";
  });
  drawArcs(scope, { chips, colours, query, row, seen });
}

// An arc from the token that looks to each token that it looks at, if all stand on one line.
function drawArcs(scope, { chips, colours, query, row, seen }) {
  const svg = scope.find("svg");
  svg.replaceChildren();
  const top = chips[0].offsetTop;
  if (chips.length > 20 || chips.some((chip) => chip.offsetTop !== top)) return;
  const middle = (chip) => chip.offsetLeft + chip.firstChild.offsetWidth / 2;
  const start = middle(chips[query]);
  chips.forEach((chip, key) => {
    const weight = row(key);
    if (weight < SHOWN_WEIGHT || key === query || !seen(key)) return;
    const end = middle(chip);
    const height = Math.min(24, 10 + Math.abs(start - end) * 0.035);
    svg.append(makeSvg("path", {
      d: `M${start},${top + 1} C${start},${top - height} ${end},${top - height} ${end},${top + 1}`,
      fill: "none",
      stroke: shade(colours, 0.25 + 0.75 * weight),
      "stroke-width": 1 + 2.5 * weight,
      "stroke-linecap": "round",
    }));
  });
}

function keepInView(scroller, chip) {
  if (scroller.scrollHeight <= scroller.clientHeight) return;
  const above = chip.offsetTop - 6;
  const below = chip.offsetTop + chip.offsetHeight - scroller.clientHeight + 6;
  scroller.scrollTop = Math.min(above, Math.max(below, scroller.scrollTop));
}

// --- layout -----------------------------------------------------------------------------------

// Everything below sizes itself from where the sentence ends: --hl-y, and an event when it moved.
// What stands above arrives later than the sentence itself, hence the repeated looks.
function publishLayout(scope, frame, redraw) {
  const page = document.documentElement;
  const publish = () => {
    const bottom = `${Math.round(pageY(frame.getBoundingClientRect().bottom))}px`;
    if (page.style.getPropertyValue("--hl-y") === bottom) return;
    page.style.setProperty("--hl-y", bottom);
    window.dispatchEvent(new Event("hl-layout"));
  };
  let width = frame.clientWidth;
  const resized = () => {
    frame.dataset.large = isLarge();
    if (width !== frame.clientWidth) redraw();
    width = frame.clientWidth;
    publish();
  };
  scope.onResize([frame, document.querySelector("[data-testid=stMainBlockContainer]")], resized);
  for (const delay of [150, 500, 1200]) scope.later(delay, publish);
  publish();
}
