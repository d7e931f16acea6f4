// Two buttons that save the picture of a neighbouring component as PNG or SVG, in this browser:
// no server and no network take part. A picture that is an <svg class="headlight"> is written
// here; any other (Plotly) is asked by the window event "hl-export" and answers by itself.

// What an SVG file needs to look as it does on the page, where style sheets set all of this:
// written out only where it differs from the parent element, which hands it down.
const INHERITED = [
  "visibility", "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "stroke-linecap", "font-family", "font-size", "font-style", "font-weight", "font-variant-numeric",
  "text-anchor", "dominant-baseline", "direction", "white-space", "image-rendering",
];
const OWN = { opacity: "1", "unicode-bidi": "normal" }; // not handed down; with their defaults
const PAGE_ONLY = /^(class|id|tabindex|role|data-.*|aria-.*)$/;
const SCALE = 2;
const LONGEST_SIDE = 16000; // pixels; browsers refuse larger canvases

// querySelector stops at shadow roots; components live in them.
function* insideOf(node) {
  yield node;
  if (node.shadowRoot) yield* insideOf(node.shadowRoot);
  for (const child of node.children ?? []) yield* insideOf(child);
}

// The picture inside the element with a key: one of our drawings, or the host of a Plotly figure.
function findPicture(key) {
  for (const container of document.querySelectorAll(`.st-key-${CSS.escape(key)}`)) {
    for (const node of insideOf(container)) {
      const isPicture = node.matches?.("svg.headlight, .headlight-plot");
      if (isPicture && node.getBoundingClientRect().width) return node;
    }
  }
  throw new Error("no picture is on the page");
}

// The key= of the component that an element belongs to, from the class that Streamlit gives it.
function keyOf(element) {
  const outside = element.getRootNode().host ?? element;
  const owner = outside.closest("[class*=st-key-]");
  return [...owner.classList].find((name) => name.startsWith("st-key-")).slice("st-key-".length);
}

function inlineStyles(from, to, parentStyle = null) {
  const style = getComputedStyle(from);
  if (style.display === "none") return to.remove();
  const value = (name) => style.getPropertyValue(name);
  const written = [
    ...INHERITED.filter((name) => value(name) !== parentStyle?.getPropertyValue(name)),
    ...Object.keys(OWN).filter((name) => value(name) !== OWN[name]),
  ];
  for (const name of to.getAttributeNames()) if (PAGE_ONLY.test(name)) to.removeAttribute(name);
  if (written.length) to.setAttribute("style", written.map((name) => `${name}:${value(name)}`).join(";"));
  const copies = [...to.children]; // before any of them removes itself
  [...from.children].forEach((child, at) => inlineStyles(child, copies[at], style));
}

// An SVG file sees no fonts of the page, so those that it uses travel inside it. The Streamlit
// server, which has just sent them for the page, is the only address asked.
async function embeddedFonts(svg) {
  const wanted = new Set();
  for (const text of svg.querySelectorAll("text, tspan")) {
    const style = getComputedStyle(text);
    const family = style.fontFamily.split(",")[0].replace(/["']/g, "").trim();
    wanted.add(family + "|" + style.fontStyle);
  }
  const rules = [...document.styleSheets].flatMap((sheet) => {
    try { return [...sheet.cssRules]; } catch { return []; }
  });
  const faces = rules.filter((rule) => rule instanceof CSSFontFaceRule
    && wanted.has(rule.style.getPropertyValue("font-family").replace(/["']/g, "").trim()
      + "|" + (rule.style.getPropertyValue("font-style") || "normal")));
  const written = await Promise.all(faces.map(async (rule) => {
    try {
      const source = /url\(["']?([^"')]+)/.exec(rule.style.getPropertyValue("src"))[1];
      const url = new URL(source, rule.parentStyleSheet.href ?? document.baseURI);
      if (url.origin !== location.origin) return "";
      const data = await asDataUrl(await (await fetch(url)).blob());
      return rule.cssText.replace(/src:[^;]+;/, `src: url("${data}");`);
    } catch { return ""; } // the picture is complete without: a fallback font stands in
  }));
  return written.join("\n");
}

function asDataUrl(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

// The whole picture, also what has been scrolled out of sight; `data-export` may widen the frame
// to the parts that are drawn for the file alone (.only-export: a heading, a legend).
async function serialise(svg, background) {
  const fonts = await embeddedFonts(svg);
  svg.classList.add("exporting");
  const copy = svg.cloneNode(true);
  inlineStyles(svg, copy);
  svg.classList.remove("exporting");
  const [x, y, width, height] = (svg.dataset.export
    ?? `0 0 ${svg.clientWidth} ${svg.clientHeight}`).split(" ").map(Number);
  const name = (tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
  const paper = name("rect");
  for (const [key, value] of Object.entries({ x, y, width, height, fill: background })) {
    paper.setAttribute(key, value);
  }
  const style = name("style");
  style.textContent = fonts;
  copy.prepend(style, paper);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", [x, y, width, height].join(" "));
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.setAttribute("role", "img");
  copy.setAttribute("aria-label", svg.getAttribute("aria-label") ?? "");
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function toPng({ text, width, height }) {
  const scale = Math.min(SCALE, LONGEST_SIDE / Math.max(width, height));
  const image = new Image();
  image.src = await asDataUrl(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function save(blob, filename) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000); // after the browser has read it
}

async function exportPicture({ key, format, filename, background }) {
  const picture = findPicture(key);
  if (!picture.matches("svg")) {
    const detail = { key: keyOf(picture), format, filename, scale: SCALE };
    window.dispatchEvent(new CustomEvent("hl-export", { detail }));
    await detail.answer; // the figure's own promise: what goes wrong there is said here
    return;
  }
  const written = await serialise(picture, background);
  const blob = format === "svg"
    ? new Blob([written.text], { type: "image/svg+xml" })
    : await toPng(written);
  save(blob, `${filename}.${format}`);
}

export default function ({ data, parentElement: root }) {
  const status = root.querySelector(".status");
  for (const button of root.querySelectorAll("button")) {
    button.onclick = async () => {
      status.textContent = "";
      const background = getComputedStyle(button).getPropertyValue("--st-background-color").trim();
      try {
        await exportPicture({ ...data, format: button.dataset.format, background });
      } catch (error) {
        status.textContent = `This browser could not write the picture (${error.message}).`;
      }
    };
  }
}
