// The words in a figure (Plotly's annotations), drawn as HTML above it. Plotly measures each of them
// in the page, one after the other, and a dozen takes as long as all the rest of a figure. Figures
// that want this say so (layout.meta.grows); an exported picture has them as annotations again.

const ANCHORS = { left: 0, center: -50, right: -100, top: 0, middle: -50, bottom: -100 };

function placeNotes(kept, host) {
  const layer = overlay(kept, host, "notes");
  layer.replaceChildren(...(kept.notes ?? []).map((note) => noteElement(note, host._fullLayout)));
}

function noteElement(note, layout) {
  const element = make("div");
  const left = alongX(note, layout) + note.xshift;
  const top = alongY(note, layout) - note.yshift;
  Object.assign(element.style, {
    left: `${left}px`,
    top: `${top}px`,
    transform: `translate(${ANCHORS[note.xanchor]}%, ${ANCHORS[note.yanchor]}%)`,
    color: note.font.color,
    fontFamily: note.font.family,
    fontSize: `${note.font.size}px`,
  });
  if (note.textangle === -90) {
    element.style.writingMode = "vertical-rl";
    element.style.transform += " rotate(180deg)";
  }
  element.append(...marked(note.text));
  return element;
}

const axisOf = (layout, reference) => layout[reference.replace(/^([xy])/, "$1axis").split(" ")[0]];

function alongX({ x, xref }, layout) {
  if (xref === "paper") return layout._size.l + x * layout._size.w;
  const axis = axisOf(layout, xref);
  return axis._offset + (xref.endsWith("domain") ? x * axis._length : axis.l2p(x));
}

function alongY({ y, yref }, layout) {
  if (yref === "paper") return layout._size.t + (1 - y) * layout._size.h;
  const axis = axisOf(layout, yref);
  return axis._offset + (yref.endsWith("domain") ? (1 - y) * axis._length : axis.l2p(y));
}

// Plotly's small markup as elements. All else in a text is text: tokens come with entities.
function marked(text) {
  const root = make("span");
  let inside = root;
  for (const part of text.split(/(<\/?(?:b|i|sub|sup)>|<br>)/)) {
    if (part === "<br>") inside.append(make("br"));
    else if (/^<\/(b|i|sub|sup)>$/.test(part)) inside = inside.parentElement ?? root;
    else if (/^<(b|i|sub|sup)>$/.test(part)) {
      const element = make(part.slice(1, -1));
      inside.append(element);
      inside = element;
    } else inside.append(plain(part));
  }
  return root.childNodes;
}
