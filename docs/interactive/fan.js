// A perturbation that can be dragged, and its image under a B-derivative: <div class="fan"></div>. The pieces are those of fan.recording.js.
(() => {
  "use strict";
  const SIZE = 300, REACH = 0.5, COLOURS = ["#4477aa", "#ee8833"], NS = "http://www.w3.org/2000/svg";

  function svg(kind, parent, attributes) {
    const made = document.createElementNS(NS, kind);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  }

  const screen = ([x, y]) => [SIZE / 2 + (x / REACH) * (SIZE / 2), SIZE / 2 - (y / REACH) * (SIZE / 2)];
  const text = (v) => `(${v.map((value) => (Math.abs(value) < 5e-5 ? 0 : value).toFixed(4)).join(", ")})`;

  class Fan {
    constructor(place, map) {
      this.map = map;
      const row = document.createElement("div");
      row.className = "fan-row";
      place.append(row);
      this.planes = ["perturbation of the start", "where it ends up"].map((title, i) => this.plane(row, title, i));
      this.words = document.createElement("p");
      this.words.className = "fan-words";
      place.append(this.words);
      const [start] = this.planes;
      start.dot.setAttribute("class", "fan-dot");
      start.svg.addEventListener("pointerdown", (event) => { start.svg.setPointerCapture(event.pointerId); this.drag(event); });
      start.svg.addEventListener("pointermove", (event) => { if (event.buttons) this.drag(event); });
      start.svg.setAttribute("tabindex", "0");
      start.svg.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-0.01, 0], ArrowRight: [0.01, 0], ArrowUp: [0, 0.01], ArrowDown: [0, -0.01] }[event.key];
        if (!step) return;
        event.preventDefault();
        this.move([this.dx[0] + step[0], this.dx[1] + step[1]]);
      });
      this.move([-0.25, 0]);
    }

    plane(row, title, which) {
      const box = document.createElement("figure");
      const drawn = svg("svg", box, { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "fan-plane" });
      row.append(box);
      // a circle of perturbations in its arcs, one colour for each order of crossing; on the right, its image
      this.map.pieces.forEach((piece, k) => {
        const points = [];
        for (let i = 0; i <= 720; i += 1) {
          const dx = [0.4 * Math.cos((i * Math.PI) / 360), 0.4 * Math.sin((i * Math.PI) / 360)];
          if (this.piece(dx) === piece) points.push(screen(which ? this.image(dx) : dx));
          else if (points.length && points[points.length - 1] !== null) points.push(null);
        }
        const path = points.map((p, i) => (p ? `${i && points[i - 1] ? "L" : "M"}${p[0].toFixed(1)},${p[1].toFixed(1)}` : "")).join("");
        svg("path", drawn, { d: path, fill: "none", stroke: COLOURS[k % COLOURS.length], "stroke-width": 3 });
      });
      const axis = { stroke: "#99a", "stroke-width": 1 };
      svg("line", drawn, { x1: 0, y1: SIZE / 2, x2: SIZE, y2: SIZE / 2, ...axis });
      svg("line", drawn, { x1: SIZE / 2, y1: 0, x2: SIZE / 2, y2: SIZE, ...axis });
      const line = svg("line", drawn, { x1: SIZE / 2, y1: SIZE / 2, stroke: "#d62728", "stroke-width": 2 });
      const dot = svg("circle", drawn, { r: which ? 6 : 10, fill: "#d62728" });
      const caption = document.createElement("figcaption");
      caption.textContent = title;
      const value = document.createElement("output");
      value.className = which ? "fan-image" : "fan-start";
      box.append(caption, value);
      return { svg: drawn, line, dot, value };
    }

    // the guard that is reached first decides the piece
    piece(dx) {
      const times = this.map.times.map((row) => row[0] * dx[0] + row[1] * dx[1]);
      const first = times.indexOf(Math.min(...times));
      return this.map.pieces.find((piece) => piece.order[0] === first);
    }

    image(dx) {
      return this.piece(dx).matrix.map((row) => row[0] * dx[0] + row[1] * dx[1]);
    }

    drag(event) {
      const box = this.planes[0].svg.getBoundingClientRect();
      const at = (value, low, length) => REACH * (2 * ((value - low) / length) - 1);
      const dx = [at(event.clientX, box.left, box.width), -at(event.clientY, box.top, box.height)];
      this.move(dx.map((value) => Math.round(value * 100) / 100));
    }

    move(dx) {
      this.dx = dx.map((value) => Math.max(-REACH, Math.min(REACH, value)));
      [this.dx, this.image(this.dx)].forEach((v, i) => {
        const { line, dot, value } = this.planes[i], [x, y] = screen(v);
        line.setAttribute("x2", x);
        line.setAttribute("y2", y);
        dot.setAttribute("cx", x);
        dot.setAttribute("cy", y);
        value.textContent = text(v);
      });
      const { order, matrix } = this.piece(this.dx);
      const names = order.map((k) => this.map.guards[k]);
      this.words.textContent = `Crossed in the order ${names.join(", ")}: the matrix ${matrix.map(text).join(" ")}.`;
    }
  }

  for (const place of document.querySelectorAll(".fan")) place.fan = new Fan(place, window.RECORDINGS.fan);
})();
