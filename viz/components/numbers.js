// The table of stages.js: one row of the four maps in numbers, a real table for every reader.

// As many keys as fit: all that are seen, else the heaviest in their order, and one masked one,
// so that the table shows what a mask does.
function keysInTable({ row, nKey, weights, isMasked, width, unit }) {
  const all = Array.from({ length: nKey }, (_, key) => key);
  const seen = all.filter((key) => !isMasked(row, key));
  const masked = all.filter((key) => isMasked(row, key)).slice(0, 1);
  const room = Math.max(5, Math.min(12, Math.floor((width - 84 * unit) / (54 * unit)))) - masked.length;
  const weight = (key) => weights.values[row * nKey + key];
  const heaviest = seen.length <= room ? seen
    : [...seen].sort((a, b) => weight(b) - weight(a)).slice(0, room).sort((a, b) => a - b);
  return { keys: [...heaviest, ...masked].sort((a, b) => a - b), left: seen.length - heaviest.length, room };
}

function buildTable(view) {
  const { keys, left, room } = keysInTable(view);
  const caption = make("caption", "", "The row of ");
  caption.append(make("b", "token", view.queryLabels[view.row]),
    left ? ` in numbers: its ${room} largest weights` : " in numbers");
  const header = make("tr");
  header.append(columnHead("stage", "stage"), ...keys.map((key) => {
    const head = columnHead(view.isMasked(view.row, key) ? "token masked" : "token", view.keyLabels[key]);
    head.title = `${view.keyLabels[key]}, position ${key}`;
    return head;
  }));
  const head = make("thead");
  head.append(header);
  const body = make("tbody");
  body.append(...view.stages.map((stage, at) => tableRow(view, stage, at, keys)));
  const table = make("table");
  table.append(caption, head, body);
  return table;
}

function columnHead(className, text) {
  const head = make("th", className, text);
  head.scope = "col";
  return head;
}

function tableRow(view, stage, at, keys) {
  const values = keys.map((key) => stage.value(view.row, key));
  const digits = at === 3 ? 2 : decimals(values, at === 0 ? 1 : 2);
  const row = make("tr");
  const head = make("th", "stage");
  head.scope = "row";
  head.append(make("span", "number", at + 1), ...htmlName(stage.name));
  row.append(head, ...values.map((value) => {
    if (value === null) return make("td", "masked", stage.instead);
    const cell = make("td", "", value.toFixed(digits).replace("-", "−"));
    cell.style.background = stage.colour(value);
    cell.style.color = inkOn(stage.colour(value));
    return cell;
  }));
  return row;
}

// Decimals that fit a narrow column and still tell small scores apart.
function decimals(values, usual) {
  const largest = Math.max(...values.map((value) => Math.abs(value ?? 0)));
  return largest >= 1000 ? 0 : largest >= 100 ? 1 : largest < 1 ? 2 : usual;
}

function htmlName(name) {
  if (name === "q · k") return [make("i", "", name)];
  if (!name.startsWith("÷ √dk")) return [name];
  return ["÷ √", make("i", "", "d"), subscript("k"), name.slice("÷ √dk".length)];
}

function subscript(text) {
  const element = make("sub");
  element.append(make("i", "", text));
  return element;
}
