// Bodies of a mechanism in space: the shapes of Modelica.Mechanics.MultiBody, moved by a run. Loaded when it is wanted: it brings three.js.

import {
  AmbientLight, BoxGeometry, BufferGeometry, Color, Curve, CylinderGeometry, DirectionalLight, ExtrudeGeometry, GridHelper, HemisphereLight, LatheGeometry, Matrix4, Mesh,
  MeshStandardMaterial, PerspectiveCamera, Scene, Shape, SphereGeometry, TubeGeometry, Vector2, Vector3, WebGLRenderer, Box3, Path,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { button, fill, h } from "./dom";
import { show } from "./numbers";
import type { Run } from "./runs";
import type { Variable } from "./types";

export interface SpaceHost {
  run(): Run | null;
  variables(): Iterable<Variable>;
  /** Makes sure that the run has these variables. */
  fetch(names: string[]): Promise<void>;
  cursor(): number | null;
  setCursor(time: number): void;
}

/** What a shape reads at each time. */
const NUMBERS = [
  "r[1]", "r[2]", "r[3]", "R.T[1,1]", "R.T[1,2]", "R.T[1,3]", "R.T[2,1]", "R.T[2,2]", "R.T[2,3]", "R.T[3,1]", "R.T[3,2]", "R.T[3,3]",
  "r_shape[1]", "r_shape[2]", "r_shape[3]", "lengthDirection[1]", "lengthDirection[2]", "lengthDirection[3]",
  "widthDirection[1]", "widthDirection[2]", "widthDirection[3]", "length", "width", "height", "extra", "color[1]", "color[2]", "color[3]",
] as const;

interface Body { prefix: string; mesh: Mesh<BufferGeometry, MeshStandardMaterial> }

export class Space {
  readonly element: HTMLElement;
  private readonly box = h("div", { class: "space" });
  private readonly scrub = h("input", { type: "range", min: 0, max: 1, step: "any", "aria-label": "Time" });
  private readonly label = h("span", { class: "value" });
  private readonly speed = h("select", { "aria-label": "Speed" }, [0.1, 0.25, 0.5, 1, 2, 5].map((x) => h("option", { value: x, selected: x === 1 }, `${x}×`)));
  private readonly playButton = button("▶ Play", "Play or pause (Space)", () => this.toggle());
  private renderer: WebGLRenderer | null = null;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(40, 1, 0.001, 1e5);
  private controls: OrbitControls | null = null;
  private bodies: Body[] = [];
  private shownModel = -1;
  private playing = false;
  private last = 0;
  private time = 0;

  constructor(private readonly host: SpaceHost) {
    this.element = h("div", { class: "space-view" }, this.box, h("div", { class: "row player" }, this.playButton, this.scrub, this.label, this.speed,
      button("Fit", "Show all bodies", () => this.fit())));
    this.scrub.addEventListener("input", () => {
      this.playing = false;
      this.goTo(this.scrub.valueAsNumber, true);
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== " " || (event.target as Element).tagName === "BUTTON") return;
      event.preventDefault();
      this.toggle();
    });
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  /** Shows the run that is there now. */
  async open() {
    const run = this.host.run();
    const shapes = [...this.host.variables()].filter((v) => v.name.endsWith(".shapeType") && typeof v.value === "string");
    const prefixes = shapes.map((v) => v.name.slice(0, -"shapeType".length));
    if (!run || !prefixes.length) {
      this.stop();
      fill(this.box, h("div", { class: "empty" }, h("h2", {}, "Nothing in space"), h("p", {}, run ? "This model has no shapes of Modelica.Mechanics.MultiBody." : "Run a model with bodies of Modelica.Mechanics.MultiBody.")));
      this.shownModel = -1;
      return;
    }
    await this.host.fetch(prefixes.flatMap((prefix) => NUMBERS.map((name) => prefix + name)));
    if (this.host.run() !== run) return;
    if (!this.renderer) this.begin();
    if (this.renderer && this.renderer.domElement.parentElement !== this.box) fill(this.box, this.renderer.domElement);
    const isOther = run.result.model !== this.shownModel;
    this.shownModel = run.result.model;
    [this.scrub.min, this.scrub.max] = [String(run.result.span[0]), String(run.result.span[1])];
    this.build(run, shapes);
    this.goTo(this.host.cursor() ?? run.result.span[0]);
    this.resize();
    if (isOther) this.fit();
  }

  /** The view is not seen any more. */
  stop() {
    this.playing = false;
    this.playButton.textContent = "▶ Play";
  }

  private begin() {
    const canvas = h("canvas", { role: "img", "aria-label": "Bodies in space", tabindex: "0" });
    this.renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(window.devicePixelRatio || 1);
    const sun = new DirectionalLight(0xffffff, 2.2);
    sun.position.set(3, 6, 4);
    this.scene.add(new HemisphereLight(0xffffff, 0x889099, 1.4), new AmbientLight(0xffffff, 0.25), sun);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.render());
  }

  private build(run: Run, shapes: Variable[]) {
    for (const { mesh } of this.bodies) {
      this.scene.remove(mesh);
      mesh.geometry.dispose();
      mesh.material.dispose();
    }
    this.bodies = shapes.map((shape) => {
      const prefix = shape.name.slice(0, -"shapeType".length);
      const at = (name: string) => run.at(prefix + name, run.result.span[0])?.[1] ?? 0;
      const material = new MeshStandardMaterial({ color: new Color(at("color[1]") / 255, at("color[2]") / 255, at("color[3]") / 255), roughness: 0.55, metalness: 0.15 });
      const mesh = new Mesh(geometry(String(shape.value), at("extra"), at("width"), at("height")), material);
      mesh.matrixAutoUpdate = false;
      this.scene.add(mesh);
      return { prefix, mesh };
    });
  }

  private goTo(time: number, tell = false) {
    const run = this.host.run();
    if (!run) return;
    this.time = time;
    this.scrub.value = String(time);
    this.label.textContent = `${show(time, 4)} s`;
    for (const body of this.bodies) place(body, run, time);
    this.render();
    if (tell) this.host.setCursor(time);
  }

  /** The cursor of the curves has moved. */
  follow(time: number | null) {
    if (time !== null && !this.playing && this.element.offsetParent) this.goTo(time);
  }

  private toggle() {
    this.playing = !this.playing;
    this.playButton.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    this.last = performance.now();
    if (this.playing) requestAnimationFrame((now) => this.step(now));
  }

  private step(now: number) {
    const run = this.host.run();
    if (!this.playing || !run || !this.element.offsetParent) return this.stop();
    const [start, end] = run.result.span;
    let time = this.time + ((now - this.last) / 1000) * Number(this.speed.value);
    this.last = now;
    if (time >= end) time = start;
    this.goTo(time, true);
    requestAnimationFrame((next) => this.step(next));
  }

  private fit() {
    const box = new Box3();
    for (const { mesh } of this.bodies) {
      mesh.geometry.computeBoundingBox();
      if (mesh.geometry.boundingBox) box.union(mesh.geometry.boundingBox.clone().applyMatrix4(mesh.matrix));
    }
    if (box.isEmpty()) return;
    const centre = box.getCenter(new Vector3());
    const size = Math.max(box.getSize(new Vector3()).length(), 1e-6);
    this.camera.position.copy(centre).add(new Vector3(0.55, 0.4, 1).normalize().multiplyScalar(1.5 * size));
    this.camera.near = size / 1000;
    this.camera.far = size * 100;
    this.camera.updateProjectionMatrix();
    this.scene.children.filter((child) => child instanceof GridHelper).forEach((child) => this.scene.remove(child));
    const grid = new GridHelper(size * 2, 20, 0x889499, 0x889499);
    grid.position.set(centre.x, Math.min(0, box.min.y), centre.z);
    grid.material.transparent = true;
    grid.material.opacity = 0.35;
    this.scene.add(grid);
    this.controls?.target.copy(centre);
    this.controls?.update();
    this.render();
  }

  private resize() {
    const { clientWidth: w, clientHeight: high } = this.box;
    if (!this.renderer || !w || !high) return;
    this.renderer.setSize(w, high, true);
    this.camera.aspect = w / high;
    this.camera.updateProjectionMatrix();
    this.render();
  }

  private render() {
    if (!this.renderer) return;
    this.scene.background = new Color(getComputedStyle(this.element).getPropertyValue("--panel").trim() || "#f6f7f8");
    this.renderer.render(this.scene, this.camera);
  }
}

/** Shapes of length, width and height 1 along x, from the origin on. */
function geometry(kind: string, extra: number, width: number, height: number): BufferGeometry {
  const along = (geometry: BufferGeometry) => geometry.rotateZ(-Math.PI / 2).translate(0.5, 0, 0);
  switch (kind) {
    case "sphere": return new SphereGeometry(0.5, 32, 20).translate(0.5, 0, 0);
    case "cylinder": return along(new CylinderGeometry(0.5, 0.5, 1, 36));
    case "cone": return along(new CylinderGeometry(0.5 * Math.min(1, Math.max(0, extra)), 0.5, 1, 36));
    case "pipe": case "pipecylinder": return along(tube(Math.min(0.98, Math.max(0.02, extra || 0.8))));
    case "spring": return new TubeGeometry(new Helix(Math.max(1, extra)), 40 * Math.max(1, Math.round(extra)), Math.min(0.2, height / (2 * Math.max(width, 1e-9))), 8);
    case "gearwheel": return gear(Math.max(4, Math.round(Math.abs(extra)) || 12));
    case "beam": return beam();
    default: return new BoxGeometry(1, 1, 1).translate(0.5, 0, 0);
  }
}

function tube(inner: number): BufferGeometry {
  const r = 0.5 * inner;
  return new LatheGeometry([new Vector2(r, -0.5), new Vector2(0.5, -0.5), new Vector2(0.5, 0.5), new Vector2(r, 0.5), new Vector2(r, -0.5)], 36);
}

class Helix extends Curve<Vector3> {
  constructor(private readonly windings: number) {
    super();
  }

  override getPoint(t: number, target = new Vector3()): Vector3 {
    const angle = 2 * Math.PI * this.windings * t;
    return target.set(t, 0.5 * Math.cos(angle), 0.5 * Math.sin(angle));
  }
}

function gear(teeth: number): BufferGeometry {
  const outline = new Shape();
  for (let k = 0; k < 2 * teeth; k++) {
    for (const part of [0.1, 0.9]) {
      const angle = ((k + part) / teeth) * Math.PI;
      const r = k % 2 ? 0.44 : 0.5;
      const [y, z] = [r * Math.cos(angle), r * Math.sin(angle)];
      if (k === 0 && part === 0.1) outline.moveTo(y, z);
      else outline.lineTo(y, z);
    }
  }
  outline.holes.push(new Path().absarc(0, 0, 0.12, 0, 2 * Math.PI, true));
  return new ExtrudeGeometry(outline, { depth: 1, bevelEnabled: false }).rotateY(Math.PI / 2);
}

/** A flat bar with round ends. */
function beam(): BufferGeometry {
  const outline = new Shape();
  outline.absarc(0, 0, 0.5, Math.PI / 2, (3 * Math.PI) / 2, false);
  outline.lineTo(1, -0.5);
  outline.absarc(1, 0, 0.5, -Math.PI / 2, Math.PI / 2, false);
  return new ExtrudeGeometry(outline, { depth: 1, bevelEnabled: false }).translate(0, 0, -0.5);
}

const [ex, ey, ez, shift] = [new Vector3(), new Vector3(), new Vector3(), new Vector3()];
const turn = new Matrix4(), basis = new Matrix4();

/** Position and orientation of a body at a time: `R.T` turns vectors of the world into the frame `R`. */
function place({ prefix, mesh }: Body, run: Run, time: number) {
  const at = (name: (typeof NUMBERS)[number]) => run.at(prefix + name, time)?.[1] ?? 0;
  turn.set(
    at("R.T[1,1]"), at("R.T[2,1]"), at("R.T[3,1]"), 0,
    at("R.T[1,2]"), at("R.T[2,2]"), at("R.T[3,2]"), 0,
    at("R.T[1,3]"), at("R.T[2,3]"), at("R.T[3,3]"), 0,
    0, 0, 0, 1,
  );
  ex.set(at("lengthDirection[1]"), at("lengthDirection[2]"), at("lengthDirection[3]")).normalize();
  ey.set(at("widthDirection[1]"), at("widthDirection[2]"), at("widthDirection[3]"));
  ez.crossVectors(ex, ey);
  if (ez.lengthSq() < 1e-20) ez.crossVectors(ex, Math.abs(ex.x) < 0.9 ? ey.set(1, 0, 0) : ey.set(0, 1, 0));
  ez.normalize();
  ey.crossVectors(ez, ex);
  shift.set(at("r_shape[1]"), at("r_shape[2]"), at("r_shape[3]")).applyMatrix4(turn).add(new Vector3(at("r[1]"), at("r[2]"), at("r[3]")));
  basis.makeBasis(ex.multiplyScalar(nonzero(at("length"))), ey.multiplyScalar(nonzero(at("width"))), ez.multiplyScalar(nonzero(at("height"))));
  mesh.matrix.copy(turn).multiply(basis).setPosition(shift);
}

/** A matrix must be regular to be lit. */
function nonzero(x: number): number {
  return Math.abs(x) < 1e-9 ? 1e-9 : x;
}
