// Interactive plots, drawn from the JSON in their figures and controlled by pointer, touch and keyboard.

const raised = (power) => `10${[...String(power)].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("")}`;
const place = (value, log) => (value === null ? NaN : log ? Math.log10(value) : value);

function show(value, digits = 4) {
  const size = Math.abs(value);
  const plain = Number.isInteger(value) ? value : Number(value.toPrecision(digits));
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return String(plain).replace("-", "−");
  const [factor, power] = value.toExponential(digits - 1).split("e").map(Number);
  return (factor === 1 ? "" : `${factor}·`.replace("-", "−")) + raised(power);
}

// pairs of a tick position and its label, which is empty for minor ticks
function ticks([low, high], log, room, given = []) {
  const all = [];
  const named = given.map((value) => [place(value, log), show(value)]).filter(([at]) => at >= low && at <= high);
  if (named.length > 1) return apart(named, (high - low) / room / 3);
  if (log && high - low > 0.7) {
    const step = Math.max(1, Math.ceil((high - low) / room));
    const digits = high - low < 2 ? [1, 2, 5] : [1];
    for (let power = Math.floor(low / step) * step; power <= high; power += step)
      for (let digit = 1; digit < (step > 1 ? 2 : 10); digit++)
        all.push([power + Math.log10(digit), digits.includes(digit) ? `${digit}·${raised(power)}`.replace(/^1·/, "") : ""]);
  } else {
    const [from, to] = log ? [10 ** low, 10 ** high] : [low, high];
    const unit = 10 ** Math.floor(Math.log10((to - from) / room));
    const step = unit * [1, 2, 5, 10].find((each) => each * unit * room >= (to - from) * 0.999);
    const digits = Math.min(15, Math.max(1, 2 + Math.floor(Math.log10(Math.max(-from, to) / step))));
    for (let i = Math.ceil(from / step); i * step <= to; i++)
      all.push([place(i * step, log), show(Number((i * step).toPrecision(digits)), digits)]);
  }
  return all.filter(([at]) => at >= low && at <= high);
}

// the ticks with the labels that have room; the others become minor ticks
function apart(all, least) {
  let last = -Infinity;
  return all.map(([at, label]) => {
    if (at - last < least) return [at, ""];
    last = at;
    return [at, label];
  });
}

const SHAPES = ["M-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z", "M-3-3h6v6h-6z", "M0-4L4 3H-4z", "M0-4L4 0L0 4L-4 0z",
  "M0 4L4-3H-4z", "M-4 0h8M0-4v8", "M-3-3l6 6M-3 3l6-6"];
const KEYS = "Left and right arrow keys read the curves, plus and minus zoom, zero shows all.";
const HINT = "Point, touch or press ← → to read; drag to zoom, double-click to show all.";

class Plot {
  constructor(figure) {
    this.data = JSON.parse(figure.querySelector("script").textContent);
    this.curves = this.data.series.map((series) => {
      const whole = series.x.map((x, i) => x !== null && series.y[i] !== null);
      const placed = (all, axis) => all.map((each, i) => (whole[i] ? place(each, this.data.log[axis]) : NaN));
      const places = [series.x, series.y].map(placed);
      return { ...series, places, shown: true, ink: `var(--c${series.colour})` };
    });
    this.home = this.view = [this.range(0), this.range(1)];
    this.cursor = this.from = null;
    this.build(figure);
    this.listen();
    let width = 0; // the height follows from the width, so only a new width needs a redraw
    const look = () => { if (width !== (width = this.box.clientWidth)) this.draw(); };
    new ResizeObserver(() => requestAnimationFrame(look)).observe(this.box);
    look();
  }

  range(axis) {
    const { log, line, ranges } = this.data;
    if (ranges[axis]) return ranges[axis].map((end) => place(end, log[axis])).sort((a, b) => a - b);
    let [low, high] = [Infinity, -Infinity];
    for (const at of [...this.curves.map((curve) => curve.places[axis]), axis ? place(line, log[1]) : NaN].flat())
      [low, high] = [at < low ? at : low, at > high ? at : high];
    if (low > high) return [0, 1];
    const room = (high - low) * 0.04 || (log[axis] ? 0.5 : Math.abs(low) / 2 || 1);
    return [low - room, high + room];
  }

  build(figure) {
    const panel = add(figure, "div", { class: "panel" });
    const canvas = add(panel, "div", { class: "canvas" });
    add(canvas, "div", { class: "axis" }, this.data.labels[1]);
    const label = `${figure.querySelector("figcaption").textContent}. ${KEYS}`;
    this.box = add(canvas, "div", { class: "draw", tabindex: "0", role: "application", "aria-label": label });
    this.svg = add(this.box, "svg", { "aria-hidden": "true" });
    add(canvas, "div", { class: "axis x" }, this.data.labels[0]);
    const tools = add(canvas, "div", { class: "tools" });
    const acts = [["+", "Zoom in", () => this.zoom(0.5)], ["−", "Zoom out", () => this.zoom(2)],
      ["Reset", "Show all", () => this.look(this.home)]];
    for (const [sign, title, act] of acts) {
      this.reset = add(tools, "button", { class: "tool", type: "button", title, "aria-label": title }, sign);
      this.reset.addEventListener("click", act);
    }
    add(tools, "span", { class: "hint" }, HINT);
    this.said = add(canvas, "p", { class: "unseen", role: "status" });
    const legend = add(panel, "ul", { class: "legend" });
    for (const curve of this.curves) this.entry(add(legend, "li"), curve);
  }

  entry(item, curve) {
    const button = add(item, "button", { type: "button", "aria-pressed": "true" });
    const swatch = add(button, "svg", { viewBox: "0 0 30 14", "aria-hidden": "true" });
    this.stroke(swatch, curve, "M0 7H30");
    this.mark(swatch, curve, 15, 7);
    add(button, "span", {}, curve.name);
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", curve.shown = !curve.shown);
      this.draw();
    });
    curve.read = add(item, "span", { class: "at" });
  }

  stroke(parent, curve, d) {
    add(parent, "path", { class: `curve ${curve.style}`, d }).style.stroke = curve.ink;
  }

  mark(parent, curve, x, y) {
    const shape = add(parent, "path", { d: SHAPES[curve.colour % SHAPES.length], transform: `translate(${x} ${y})` });
    shape.style.stroke = shape.style.fill = curve.ink;
  }

  pixel(axis, value) { // within the frame; y runs downwards
    const [low, high] = this.view[axis];
    const part = (value - low) / (high - low);
    return Math.max(-1e6, Math.min(1e6, (axis ? 1 - part : part) * this.size[axis]));
  }

  value(axis, pixel) {
    const [low, high] = this.view[axis];
    return low + (axis ? 1 - pixel / this.size[axis] : pixel / this.size[axis]) * (high - low);
  }

  draw() {
    const width = Math.max(200, this.box.clientWidth);
    const height = Math.round(Math.min(440, Math.max(280, width * 0.56)));
    const rows = ticks(this.view[1], this.data.log[1], height / 45);
    const left = Math.max(34, 12 + 7 * Math.max(0, ...rows.map(([, label]) => label.length)));
    this.corner = [left, 8];
    const frame = { x: left, y: 8, width: width - left - 10, height: height - 32 };
    this.size = [frame.width, frame.height];
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.replaceChildren();
    this.grid(rows, 1, frame);
    this.grid(ticks(this.view[0], this.data.log[0], width / 80, this.data.ticks), 0, frame);
    this.inner = add(this.svg, "svg", frame); // clips the curves
    add(this.svg, "rect", { ...frame, class: "frame" });
    this.level();
    for (const curve of this.curves) if (curve.shown) this.outline(curve);
    this.over = add(this.inner, "g");
    this.reset.disabled = this.view === this.home;
    this.read();
  }

  grid(marks, axis, { x, y, width, height }) {
    for (const [at, label] of marks) {
      const [across, down] = axis ? [x, y + this.pixel(1, at)] : [x + this.pixel(0, at), y + height];
      const end = axis ? { x2: x + width, y2: down } : { x2: across, y2: y };
      add(this.svg, "line", { class: label ? "grid" : "grid minor", x1: across, y1: down, ...end });
      const text = axis ? { x: across - 7, y: down + 4, class: "row" } : { x: across, y: down + 17, class: "column" };
      add(this.svg, "text", text, label);
    }
  }

  level() {
    if (this.data.line === null) return;
    const y = this.pixel(1, place(this.data.line, this.data.log[1]));
    add(this.inner, "path", { class: "level", d: `M0 ${y}H${this.size[0]}` });
    add(this.inner, "text", { class: "said", x: this.size[0] - 6, y: y < 20 ? y + 15 : y - 5 }, show(this.data.line));
  }

  // decimation: the first, lowest, highest and last point of each pixel column draw the same line as all points
  outline(curve) {
    const [xs, ys] = curve.places.map((all, axis) => all.map((at) => this.pixel(axis, at)));
    const columns = xs.map((x) => Math.max(-1, Math.min(this.size[0] + 1, Math.floor(x))));
    let path = "";
    for (let start = 0, end; start < xs.length; start = end) {
      let [low, high] = [start, start];
      for (end = start + 1; columns[end] === columns[start]; end++)
        [low, high] = [ys[end] < ys[low] ? end : low, ys[end] > ys[high] ? end : high];
      if (Number.isNaN(xs[start])) continue;
      for (const i of new Set([start, Math.min(low, high), Math.max(low, high), end - 1]))
        path += `${xs[i - 1] >= -1e6 ? "L" : "M"}${xs[i].toFixed(1)} ${ys[i].toFixed(1)}`;
    }
    this.stroke(this.inner, curve, path);
    this.marks(curve, xs, ys);
  }

  // mark every point of short curves and isolated points, and some points of long curves
  marks(curve, xs, ys) {
    const inside = [...xs.keys()].filter((i) => [xs[i], ys[i]].every((at, axis) => at >= 0 && at <= this.size[axis]));
    const apart = inside.length * 16 > this.size[0] ? 70 : 0;
    let last = -Infinity;
    for (const i of inside) {
      const alone = !(xs[i - 1] >= -1e6 || xs[i + 1] >= -1e6);
      if (!alone && Math.abs(xs[i] - last) < apart) continue;
      last = xs[i];
      this.mark(this.inner, curve, xs[i], ys[i]);
    }
  }

  nearest(curve) {
    const [[low, high], [places]] = [this.view[0], curve.places];
    let [best, least] = [-1, Infinity];
    for (let i = 0; i < places.length; i++) {
      const distance = places[i] >= low && places[i] <= high ? Math.abs(places[i] - this.cursor) : Infinity;
      if (distance < least) [best, least] = [i, distance];
    }
    return best;
  }

  read(height = null) {
    this.over.replaceChildren();
    const x = this.cursor === null ? null : this.pixel(0, this.cursor);
    if (x !== null) add(this.over, "path", { class: "cross", d: `M${x} 0V${this.size[1]}` });
    if (height !== null) add(this.over, "path", { class: "cross", d: `M0 ${height}H${this.size[0]}` });
    for (const curve of this.curves) {
      const i = x !== null && curve.shown ? this.nearest(curve) : -1;
      curve.read.textContent = i < 0 ? "" : `(${show(curve.x[i])}, ${show(curve.y[i])})`;
      if (i < 0) continue;
      const [cx, cy] = curve.places.map((all, axis) => this.pixel(axis, all[i]));
      add(this.over, "circle", { class: "spot", r: 4, cx, cy }).style.stroke = curve.ink;
    }
  }

  // move the cursor to the next point of a visible curve
  step(direction) {
    const [low, high] = this.view[0];
    const from = this.cursor ?? -direction * Infinity;
    const ahead = (at) => at >= low && at <= high && direction * (at - from) > (high - low) / this.size[0] / 2;
    const next = this.curves.flatMap((curve) => (curve.shown ? curve.places[0].filter(ahead) : []));
    if (next.length) this.cursor = next.reduce((a, b) => (direction * (b - a) < 0 ? b : a));
  }

  look(view) {
    // limit the zoom, because of the precision of the data
    if (view.every(([low, high]) => high - low > 1e-7 * Math.max(Math.abs(low), Math.abs(high)))) this.view = view;
    this.draw();
  }

  zoom(factor) {
    const [[low, high], [first, last]] = [this.view[0], this.home[0]];
    const middle = this.cursor ?? (low + high) / 2;
    const [from, to] = [middle + (low - middle) * factor, middle + (high - middle) * factor];
    this.look(factor > 1 && from <= first && to >= last ? this.home : [[from, to], this.view[1]]);
  }

  // the rectangle selected by dragging; the whole axis if it is hardly moved along
  selected(to) {
    const ends = this.from.map((at, axis) => [at, to[axis]].sort((a, b) => a - b));
    return ends.map(([a, b], axis) => (b - a < 24 ? [0, this.size[axis]] : [a, b]));
  }

  listen() {
    const { box } = this;
    const inside = (event) => {
      const at = this.svg.getBoundingClientRect();
      const moved = [event.clientX - at.left - this.corner[0], event.clientY - at.top - this.corner[1]];
      return moved.map((by, axis) => Math.max(0, Math.min(this.size[axis], by)));
    };
    const follow = (event) => {
      const to = inside(event);
      this.cursor = this.value(0, to[0]);
      this.read(to[1]);
      if (!this.from) return;
      const [[x, right], [y, bottom]] = this.selected(to);
      add(this.over, "rect", { class: "window", x, y, width: right - x, height: bottom - y });
    };
    box.addEventListener("pointerdown", (event) => {
      // touch reads and scrolls; zooming by touch uses the buttons
      if (event.pointerType !== "touch" && event.button === 0) this.from = inside(event);
      if (this.from) box.setPointerCapture(event.pointerId);
      follow(event);
    });
    let latest = null; // at most one reading per frame
    box.addEventListener("pointermove", (event) => {
      if (!latest) requestAnimationFrame(() => { if (latest) follow(latest); latest = null; });
      latest = event;
    });
    box.addEventListener("pointerup", (event) => {
      const [from, to] = [this.from, inside(event)];
      if (from && Math.hypot(to[0] - from[0], to[1] - from[1]) >= 24)
        this.look(this.selected(to).map((ends, axis) => ends.map((at) => this.value(axis, at)).sort((a, b) => a - b)));
      this.from = null;
    });
    const leave = (event) => {
      this.from = latest = null;
      if (event.pointerType === "touch") return; // keep the reading after touch ends
      this.cursor = null;
      this.read();
    };
    for (const name of ["pointercancel", "pointerleave", "blur"]) box.addEventListener(name, leave);
    box.addEventListener("dblclick", () => this.look(this.home));
    box.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const walk = (direction) => { for (let i = 0; i < (event.shiftKey ? 10 : 1); i++) this.step(direction); };
    const restart = (direction) => { this.cursor = null; this.step(direction); };
    const act = {
      ArrowLeft: () => walk(-1), ArrowRight: () => walk(1), Home: () => restart(1), End: () => restart(-1),
      "+": () => this.zoom(0.5), "-": () => this.zoom(2), 0: () => this.look(this.home),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
    this.read();
    const read = this.curves.filter((curve) => curve.read.textContent);
    this.said.textContent = read.map((curve) => `${curve.name}: ${curve.read.textContent}`).join("; ");
  }
}
