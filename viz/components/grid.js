const NAMED = 56; // px: smaller thumbnails have no room for a name, which moves to the tooltip

export default function (component) {
  return mount(component, (scope) => {
    const data = unpack(component.data);
    const grid = scope.find(".grid");
    const palette = currentPalette(grid);
    paint(grid, palette);
    const colours = lookup(palette.weights).map(rgb);
    const arrange = () => {
      const size = measure(grid, data);
      const cells = buildCells(scope, grid, data, size);
      drawThumbnails(cells, data, colours, size.side);
      markChosen(cells, data);
    };
    arrange();
    listen(scope, component, grid, data);
    scope.on(window, "resize", arrange);
    scope.on(window, "hl-layout", arrange);
    scope.onResize([grid], () => { if (grid.clientWidth !== scope.kept.width) arrange(); });
  });
}

// The side of a thumbnail: what the width and the height that is left allow.
function measure(grid, data) {
  const [nLayers, nHeads] = data.tiles.shape;
  const large = isLarge();
  const width = grid.clientWidth;
  const height = heightBelow(grid, 360) - 34; // the row of head numbers
  const numbers = nLayers > 10 ? 22 : 17; // the column of layer numbers
  const fit = (gap, below) => Math.floor(Math.min(
    (width - numbers - gap - nHeads * gap) / nHeads, height / nLayers - below,
  ));
  let side = Math.min(fit(14, large ? 41 : 31), large ? 190 : 150);
  const tiny = side < NAMED;
  if (tiny) side = Math.max(14, Math.min(fit(7, 11), NAMED - 1));
  const spare = Math.floor((width - numbers - nHeads * side - 4) / nHeads);
  const gap = Math.max(tiny ? 6 : 10, Math.min(26, spare));
  return { side, gap, tiny, large, numbers, width };
}

function buildCells(scope, grid, data, size) {
  const { kept } = scope;
  const [nLayers, nHeads] = data.tiles.shape;
  const { side, gap, tiny, large, numbers, width } = size;
  kept.width = width;
  grid.style.gridTemplateColumns = `${numbers}px repeat(${nHeads}, ${side}px)`;
  grid.style.columnGap = `${gap}px`;
  grid.style.setProperty("--side", `${side}px`);
  grid.style.setProperty("--overhang", `${gap - 2}px`);
  grid.classList.toggle("tiny", tiny);
  grid.classList.toggle("small", side < 76);
  grid.classList.toggle("large", large);

  const signature = JSON.stringify([data.names, tiny]);
  if (kept.signature === signature) return kept.cells;
  const focused = kept.cells?.findIndex((cell) => cell.matches(":focus")) ?? -1;
  kept.signature = signature;
  kept.cells = [];
  const children = [axisLabel("", "")];
  for (let head = 0; head < nHeads; head++) children.push(axisLabel(`H${head}`, "column"));
  for (let layer = 0; layer < nLayers; layer++) {
    children.push(axisLabel(`L${layer}`, "row"));
    for (let head = 0; head < nHeads; head++) {
      const cell = makeCell(layer, head, data.names[layer][head], tiny);
      kept.cells.push(cell);
      children.push(cell);
    }
  }
  grid.replaceChildren(...children);
  if (focused >= 0) kept.cells[Math.min(focused, kept.cells.length - 1)].focus();
  return kept.cells;
}

function axisLabel(text, kind) {
  const label = make("span", `axis ${kind}`, text);
  label.setAttribute("aria-hidden", "true");
  return label;
}

function makeCell(layer, head, [name, score], tiny) {
  const cell = make("button", "cell");
  cell.type = "button";
  cell.setAttribute("role", "option");
  const role = name === null ? "unnamed" : `${name} ${twoDecimals(score)}`;
  cell.setAttribute("aria-label", `Layer ${layer}, head ${head}: ${role}`);
  cell.title = `L${layer} H${head} · ${role}`;
  const frame = make("span", "frame");
  frame.append(make("canvas"));
  cell.append(frame);
  if (tiny) {
    const bar = make("span", "bar");
    bar.style.width = name === null ? "0" : `calc(var(--side) * ${score})`;
    cell.append(bar);
  } else {
    const line = make("span", "name");
    if (name === null) line.append("unnamed");
    else line.append(make("b", "", name), " ", make("i", "", twoDecimals(score)));
    cell.append(line);
  }
  return cell;
}

// --- drawing ----------------------------------------------------------------------------------

function drawThumbnails(cells, data, colours, side) {
  const [, , rows, columns] = data.tiles.shape;
  const pixels = Math.round(side * (window.devicePixelRatio || 1));
  // Never more cells than pixels: a thin line that falls between two pixels would vanish.
  const height = Math.min(rows, pixels);
  const width = Math.min(columns, pixels);
  const small = new OffscreenCanvas(width, height);
  const pen = small.getContext("2d");
  const image = pen.createImageData(width, height);
  cells.forEach((cell, index) => {
    const start = index * rows * columns;
    const tile = data.tiles.values.subarray(start, start + rows * columns);
    fillImage(image, tile, rows, columns, colours);
    pen.putImageData(image, 0, 0);
    const canvas = cell.querySelector("canvas");
    canvas.width = canvas.height = pixels;
    const target = canvas.getContext("2d");
    target.imageSmoothingEnabled = false;
    target.drawImage(small, 0, 0, pixels, pixels);
  });
}

// Each pixel of `image` shows the largest weight of the cells that it covers.
function fillImage(image, tile, rows, columns, colours) {
  const { width, height, data } = image;
  for (let y = 0; y < height; y++) {
    const [top, bottom] = covered(y, height, rows);
    for (let x = 0; x < width; x++) {
      const [left, right] = covered(x, width, columns);
      let level = 0;
      for (let row = top; row < bottom; row++) {
        for (let column = left; column < right; column++) {
          level = Math.max(level, tile[row * columns + column]);
        }
      }
      const colour = colours[Math.round(((Math.max(level, 1) - 1) / 254) * 255)];
      data.set(colour, 4 * (y * width + x));
      data[4 * (y * width + x) + 3] = level === 0 ? 0 : 255; // a masked cell is not drawn
    }
  }
}

const covered = (pixel, pixels, cells) => [
  Math.floor((pixel * cells) / pixels),
  Math.ceil(((pixel + 1) * cells) / pixels),
];

// --- choosing ---------------------------------------------------------------------------------

function markChosen(cells, data) {
  const chosen = data.layer * data.tiles.shape[1] + data.head;
  cells.forEach((cell, index) => {
    cell.setAttribute("aria-selected", index === chosen);
    cell.tabIndex = index === chosen ? 0 : -1;
  });
}

function listen(scope, component, grid, data) {
  const nHeads = data.tiles.shape[1];
  const choose = (index) => {
    data.layer = Math.floor(index / nHeads);
    data.head = index % nHeads;
    markChosen(scope.kept.cells, data); // at once; Python follows
    component.setTriggerValue("head", [data.layer, data.head]);
    const [, , rows, columns] = data.tiles.shape;
    const levels = data.tiles.values.subarray(index * rows * columns, (index + 1) * rows * columns);
    const shows = [data.layer, data.head];
    window.dispatchEvent(new CustomEvent("hl-head", { detail: { shows, levels, rows, columns } }));
  };
  scope.on(grid, "click", (event) => {
    const cell = event.target.closest(".cell");
    if (cell) choose(scope.kept.cells.indexOf(cell));
  });
  rovingKeys(scope, grid, { options: () => scope.kept.cells, columns: () => nHeads, choose });
}
