// Plays recordings (see recordings.py): <div class="player" data-recording="plate"></div>. Needs three.min.js, nothing from elsewhere.
(() => {
  "use strict";
  const ON = "#d62728", OFF = "#c9d1da";

  function unpacked(text, Kind) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Kind(bytes.buffer);
  }

  function element(kind, parent, properties) {
    const made = Object.assign(document.createElement(kind), properties);
    parent.append(made);
    return made;
  }

  function mesh(shape) {
    const material = new THREE.MeshLambertMaterial({ color: shape.colour });
    const [a, b, c] = shape.size;
    let made;
    if (shape.shape === "box") made = new THREE.Mesh(new THREE.BoxGeometry(a, b, c), material);
    if (shape.shape === "sphere") made = new THREE.Mesh(new THREE.SphereGeometry(a, 20, 14), material);
    if (shape.shape === "cylinder") {
      made = new THREE.Mesh(new THREE.CylinderGeometry(a, a, b, 12), material);
      made.rotation.x = Math.PI / 2; // (three.js has its axis along y)
    }
    if (shape.shape === "capsule") {
      const from = new THREE.Vector3(...shape.from), to = new THREE.Vector3(...shape.to);
      const along = to.clone().sub(from);
      made = new THREE.Mesh(new THREE.CapsuleGeometry(a, along.length(), 6, 12), material);
      made.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.clone().normalize());
      made.position.copy(from.add(to).multiplyScalar(0.5));
    }
    if (shape.at) made.position.set(...shape.at);
    return made;
  }

  class Player {
    constructor(place, recording) {
      this.recording = recording;
      this.poses = unpacked(recording.poses, Float32Array);
      this.touching = unpacked(recording.touching, Uint8Array);
      this.seconds = (recording.frames - 1) / recording.fps;
      this.time = 0;
      this.playing = false;
      this.build(place);
      this.show();
    }

    build(place) {
      const { bodies, camera, lamps, title, speed } = this.recording;
      this.canvas = element("canvas", place, { className: "player-view" });
      this.canvas.setAttribute("role", "img");
      this.canvas.setAttribute("aria-label", title);
      const controls = element("div", place, { className: "player-controls" });
      this.button = element("button", controls, { textContent: "Play", onclick: () => this.toggle() });
      this.slider = element("input", controls, { type: "range", min: 0, max: this.seconds, step: 0.001, value: 0 });
      this.slider.setAttribute("aria-label", "time");
      this.slider.oninput = () => { this.time = Number(this.slider.value); this.show(); };
      this.clock = element("output", controls, {});
      this.speed = speed;
      const choice = element("select", controls, { onchange: () => { this.speed = Number(choice.value); } });
      choice.setAttribute("aria-label", "speed");
      for (const value of [...new Set([0.05, speed, 1])].sort()) {
        element("option", choice, { value, textContent: `${value} of real time`, selected: value === speed });
      }
      const row = element("div", place, { className: "player-lamps" });
      this.lamps = lamps.map((name) => element("span", row, { className: "lamp", title: name }));
      this.count = element("output", row, { className: "player-count" });

      this.renderer = new THREE.WebGLRenderer({ canvas: this.canvas, antialias: true, preserveDrawingBuffer: true });
      this.scene = new THREE.Scene();
      this.scene.background = new THREE.Color("#f4f6f8");
      this.scene.add(new THREE.AmbientLight("#ffffff", 1.6));
      const sun = new THREE.DirectionalLight("#ffffff", 1.8);
      sun.position.set(2, -3, 5);
      this.scene.add(sun);
      const size = 1.5 * Math.hypot(...camera.at.map((value, k) => value - camera.to[k])); // (no line behind the camera)
      const floor = new THREE.GridHelper(size, 24, "#b0bac4", "#d8dee4");
      floor.rotation.x = Math.PI / 2;
      this.scene.add(floor);
      this.bodies = bodies.map((shapes) => {
        const group = new THREE.Group();
        for (const shape of shapes) {
          const made = mesh(shape);
          if (shape.lamp !== undefined) {
            group.userData = { lamp: shape.lamp, material: made.material, colour: shape.colour, stretch: shape.stretch };
          }
          group.add(made);
        }
        this.scene.add(group);
        return group;
      });
      this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 50);
      this.camera.up.set(0, 0, 1);
      this.camera.position.set(...camera.at);
      this.orbit = new THREE.OrbitControls(this.camera, this.canvas);
      this.orbit.target.set(...camera.to);
      this.orbit.update();
      this.orbit.addEventListener("change", () => this.draw());
      new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
      this.resize();
    }

    resize() {
      const width = this.canvas.parentElement.clientWidth, height = Math.round(Math.min(420, 0.62 * width));
      this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
      this.renderer.setSize(width, height);
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
      this.draw();
    }

    toggle() {
      this.playing = !this.playing;
      this.button.textContent = this.playing ? "Pause" : "Play";
      if (this.playing) {
        if (this.time >= this.seconds) this.time = 0;
        this.last = performance.now();
        requestAnimationFrame((now) => this.tick(now));
      }
    }

    tick(now) {
      if (!this.playing) return;
      this.time = Math.min(this.time + (this.speed * (now - this.last)) / 1000, this.seconds);
      this.last = now;
      this.show();
      if (this.time >= this.seconds) this.toggle();
      else requestAnimationFrame((later) => this.tick(later));
    }

    show() {
      const { frames, fps } = this.recording;
      const place = Math.min(this.time * fps, frames - 1), frame = Math.min(Math.floor(place), frames - 2), part = place - frame;
      const many = this.bodies.length, one = new THREE.Quaternion(), two = new THREE.Quaternion();
      const nearest = Math.round(place), lamps = this.lamps.length;
      this.bodies.forEach((body, i) => {
        const a = 7 * (frame * many + i), b = a + 7 * many, p = this.poses;
        body.position.set(...[0, 1, 2].map((k) => p[a + k] + part * (p[b + k] - p[a + k])));
        one.fromArray(p, a + 3);
        two.fromArray(p, b + 3);
        body.quaternion.slerpQuaternions(one, two, part);
        const { lamp, material, colour, stretch } = body.userData;
        if (stretch) body.scale.z = body.position.z / stretch;
        if (material) material.color.set(this.touching[nearest * lamps + lamp] ? ON : colour);
      });
      let on = 0;
      this.lamps.forEach((lamp, k) => {
        const touches = this.touching[nearest * lamps + k];
        on += touches;
        lamp.style.background = touches ? ON : OFF;
      });
      this.slider.value = this.time;
      this.clock.textContent = `t = ${this.time.toFixed(3)} s`;
      this.count.textContent = `${on} of ${lamps} touch`;
      this.draw();
    }

    draw() {
      this.renderer.render(this.scene, this.camera);
    }
  }

  for (const place of document.querySelectorAll(".player[data-recording]")) {
    try {
      place.player = new Player(place, window.RECORDINGS[place.dataset.recording]);
    } catch (error) { // (a browser without WebGL)
      place.textContent = `This page needs WebGL to show the recording: ${error.message}`;
    }
  }
})();
