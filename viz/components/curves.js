// The curves of lines.js: weights of one layer as SVG paths.
//
// Curves are gathered into one <path> for each head and step of weight: 128 tokens × 16 heads are
// some 250 paths instead of a hundred thousand, which a browser paints within a frame.

const MASKED = 255; // a byte that no weight takes: weights are sent as 0 … 254
const BUCKETS = 16; // steps of opacity and width
const LEAST = 0.03; // lighter curves cannot be seen and are not drawn
const MOST_FAINT = 3000; // faint curves; of more, only the strongest are drawn
const MOST_WIDE = 600; // more faint curves than these are one pixel wide: painting is ten times faster
const DASHES = ["", "7 3", "2 3"]; // seven hues, then the same again dashed

const weightAt = ({ weights, nQuery, nKey }, head, row, key) => {
  const step = weights.values[(head * nQuery + row) * nKey + key];
  return step === MASKED ? -1 : step / 254;
};

function headColour(view, head) {
  return isAlone(view) ? view.palette.weights.at(-1) : view.palette.heads[head % view.palette.heads.length];
}

const isAlone = (view) => view.shown.filter(Boolean).length === 1;

const headDash = (view, head) =>
  isAlone(view) ? "" : DASHES[Math.floor(head / view.palette.heads.length) % DASHES.length];

// All rows at once, behind the chosen one.
function drawFaint(view) {
  const { least, count } = faintest(view);
  const isWide = count <= MOST_WIDE;
  const alone = isAlone(view);
  const style = (weight) => ({
    "stroke-opacity": (alone ? 0.26 : 0.13) * weight * (isWide ? 1 : 1.4) + 0.015,
    "stroke-width": isWide ? 0.8 + 1.6 * weight : 1,
  });
  view.faint.replaceChildren(...view.shown.flatMap((shown, head) =>
    shown ? bundle(view, head, allPairs(view), { style, least }) : []));
}

// The weight from which on curves are drawn so that they stay within MOST_FAINT, and their count.
function faintest({ shown, weights, nQuery, nKey }) {
  const counts = new Uint32Array(256);
  const size = nQuery * nKey;
  shown.forEach((isShown, head) => {
    if (isShown) for (const step of weights.values.subarray(head * size, (head + 1) * size)) counts[step]++;
  });
  let step = 255; // below MASKED
  let count = 0;
  while (step > LEAST * 254 && count + counts[step - 1] <= MOST_FAINT) count += counts[--step];
  return { least: step / 254, count };
}

function* allPairs({ nQuery, nKey }) {
  for (let row = 0; row < nQuery; row++) for (let key = 0; key < nKey; key++) yield [row, key];
}
const rowPairs = ({ nKey }, row) => Array.from({ length: nKey }, (_, key) => [row, key]);
const keyPairs = ({ nQuery }, key) => Array.from({ length: nQuery }, (_, row) => [row, key]);

const brightStyle = (nShown) => (weight) => ({
  "stroke-opacity": Math.max(0.12, Math.min(1, 0.1 + weight)),
  "stroke-width": nShown > 1 ? 0.8 + 2.4 * weight : 1 + 4.5 * weight,
});

// The curves of one head for some pairs, as one path for each step of weight, lightest first.
function bundle(view, head, pairs, { style, shift = 0, least = LEAST }) {
  const { column, drawn, rowHeight } = view;
  const start = column + 4;
  const end = drawn - column - 4;
  const middle = ((start + end) / 2).toFixed(1);
  const curves = Array.from({ length: BUCKETS }, () => []);
  for (const [row, key] of pairs) {
    const weight = weightAt(view, head, row, key);
    if (weight < least) continue;
    const y = ((row + 0.5) * rowHeight + shift).toFixed(1);
    const z = ((key + 0.5) * rowHeight + shift).toFixed(1);
    const step = Math.min(BUCKETS - 1, Math.floor(weight * BUCKETS));
    curves[step].push(`M${start} ${y}C${middle} ${y} ${middle} ${z} ${end} ${z}`);
  }
  const colour = headColour(view, head);
  return curves.flatMap((parts, step) => parts.length === 0 ? [] : [makeSvg("path", {
    d: parts.join(""), stroke: colour, "stroke-dasharray": headDash(view, head),
    ...style((step + 0.5) / BUCKETS),
  })]);
}
