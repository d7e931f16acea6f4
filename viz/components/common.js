// Shared by all components. Python puts this file in front of each of them, after
// `const PALETTES = {light: {...}, dark: {...}}` (from viz/theme.py, the only place with colours).
//
// Two rules hold for every component:
// - Token text is data: it reaches the page through textContent, never as markup.
// - Streamlit calls the default export again on every rerun and on every change of theme, without
//   cleaning up in between. `mount` undoes the previous call first.

const KEPT = Symbol.for("headlight");

// Run `build(scope)`, after undoing what the last call for the same element had set up.
// scope.kept outlives reruns; scope.on and scope.undo register what the next call undoes;
// scope.kept.end, if a component sets it, runs once, when the element leaves the page.
function mount(component, build) {
  const root = component.parentElement;
  const kept = (root[KEPT] ??= {});
  kept.off?.();
  const undone = [];
  kept.off = () => { for (const step of undone.splice(0)) step(); };
  build({
    root,
    kept,
    find: (selector) => root.querySelector(selector),
    undo: (step) => undone.push(step),
    on(target, event, handler, options) {
      target.addEventListener(event, handler, options);
      undone.push(() => target.removeEventListener(event, handler, options));
    },
    later(milliseconds, step) {
      const timer = setTimeout(step, milliseconds);
      undone.push(() => clearTimeout(timer));
    },
    onResize(elements, step) {
      const observer = new ResizeObserver(step);
      for (const each of elements) if (each) observer.observe(each);
      undone.push(() => observer.disconnect());
    },
  });
  return () => { kept.off(); kept.end?.(); }; // only when the element leaves the page
}

// --- data from Python -------------------------------------------------------------------------

const ARRAY_TYPES = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };

// The inverse of `pack` in __init__.py: JSON values and typed arrays, the latter as {values, shape}.
function unpack(bytes) {
  const buffer = new Uint8Array(bytes).buffer; // a copy, so that every array is aligned
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const start = 4 + length;
  const unpacked = { ...header.json };
  for (const [name, type, shape, offset] of header.arrays) {
    const size = shape.reduce((product, n) => product * n, 1);
    unpacked[name] = { values: new ARRAY_TYPES[type](buffer, start + offset, size), shape };
  }
  return unpacked;
}

// --- colours ----------------------------------------------------------------------------------

// "#RRGGBB" or "rgb(r, g, b)" as [r, g, b].
function rgb(colour) {
  const text = colour.trim();
  if (text.startsWith("#")) {
    const value = parseInt(text.slice(1, 7), 16);
    return [value >> 16, (value >> 8) & 255, value & 255];
  }
  return (text.match(/[\d.]+/g) ?? [255, 255, 255]).slice(0, 3).map(Number);
}

// The palette of the theme that the browser shows now: the menu changes it without telling Python.
function currentPalette(element) {
  const background = getComputedStyle(element).getPropertyValue("--st-background-color");
  const [r, g, b] = rgb(background || PALETTES.light.background);
  return r + g + b < 384 ? PALETTES.dark : PALETTES.light;
}

// Give an element the palette as the variables that common.css and the components' CSS use.
function paint(element, palette) {
  for (const name of ["background", "tile", "rule", "ink", "muted", "accent", "wash", "primary"]) {
    element.style.setProperty(`--hl-${name}`, palette[name]);
  }
}

// Python colours the figures and is not run again when the theme is switched in the menu. data.dark:
// the theme that it last drew for, or null where that is nobody's business.
function reportTheme(scope, component, palette, data) {
  const { kept } = scope;
  if (data.dark === null) return;
  if ((palette.name === "dark") === data.dark) kept.reported = null;
  else if (kept.reported !== palette.name) {
    kept.reported = palette.name;
    component.setTriggerValue("theme", palette.name);
  }
}

// 256 colours along evenly spaced stops, for `shade`.
function lookup(stops) {
  const points = stops.map(rgb);
  return Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) * (points.length - 1);
    const left = Math.min(points.length - 2, Math.floor(place));
    const share = place - left;
    const mixed = points[left].map((v, c) => Math.round(v * (1 - share) + points[left + 1][c] * share));
    return `rgb(${mixed.join(",")})`;
  });
}

// The colour of a value from 0 to 1.
const shade = (colours, value) => colours[Math.max(0, Math.min(255, Math.round(value * 255)))];

// Black or white, whichever reads better on a colour: they cross at relative luminance 0.179,
// so the contrast is at least 4.5 : 1 on any colour.
function inkOn(colour) {
  const [r, g, b] = rgb(colour).map((v) => {
    const c = v / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#FFFFFF";
}

// --- the page ---------------------------------------------------------------------------------

// Hovering a token anywhere previews its row everywhere; null goes back to the chosen one.
function announceHover(query) {
  window.dispatchEvent(new CustomEvent("hl-hover", { detail: { q: query } }));
}

const isLarge = () => window.innerWidth >= 1700; // the second type scale

// Where an element ends or starts on the page, as if the page were not scrolled.
function pageY(y) {
  const main = document.querySelector("[data-testid=stMain]");
  return y + (main?.scrollTop ?? 0);
}

// The height from the top of an element to the bottom of the window.
function heightBelow(element, least) {
  return Math.max(least, window.innerHeight - pageY(element.getBoundingClientRect().top) - 20);
}

// --- small helpers ----------------------------------------------------------------------------

function make(tag, className = "", text = null) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) element.textContent = text;
  return element;
}

function makeSvg(tag, attributes = {}) {
  return setAll(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

const twoDecimals = (value) => value.toFixed(2).replace("-", "−");

// Arrow keys in a listbox with roving tabindex. The focused option is previewed at once and
// chosen when the keys rest, so that a held key does not ask the server for every step.
function rovingKeys(scope, list, { options, columns = () => 1, preview = () => {}, choose }) {
  // The timer belongs to `kept`: a choice still pending is not lost when a rerun mounts this anew.
  scope.on(list, "keydown", (event) => {
    const all = options();
    const at = all.indexOf(event.target);
    const steps = {
      ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + columns(), ArrowUp: at - columns(),
      Home: 0, End: all.length - 1,
    };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const to = steps[event.key];
    if (to < 0 || to >= all.length || to === at) return;
    all[at].tabIndex = -1;
    all[to].tabIndex = 0;
    all[to].focus();
    preview(to);
    clearTimeout(scope.kept.choosing);
    scope.kept.choosing = setTimeout(() => choose(to), 160);
  });
}
