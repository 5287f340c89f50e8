// The page in a browser, driven as a user drives it. `--shots DIR` also writes a picture of each view.
//
// Each test is told what it gets: a page on a server of its own. A test that throws has failed; all tests are run.
import { chromium } from "playwright-core";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.join(here, "../..");
const program = process.env.SALTUS ?? path.join(root, "target/debug/saltus");
const shots = process.argv.includes("--shots") ? process.argv[process.argv.indexOf("--shots") + 1] : null;
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : "";
const temporary = mkdtempSync(path.join(os.tmpdir(), "saltus-studio-"));
if (shots) mkdirSync(shots, { recursive: true });

/** A server; its address is the first line that it prints. */
function serve(...args) {
  const child = spawn(program, ["studio", "--no-open", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const address = new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      if (text.includes("\n")) resolve(text.split("\n")[0]);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { address, end: () => child.kill() };
}

function assert(condition, text) {
  if (!condition) throw new Error(text);
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"] });
const servers = [];

async function open(args = [], options = {}) {
  const server = serve(...args);
  servers.push(server);
  const address = await server.address;
  const context = await browser.newContext({ viewport: { width: 1400, height: 860 }, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(address);
  return { page, address, errors, close: async () => { await context.close(); server.end(); } };
}

async function shot(page, name) {
  if (shots) await page.screenshot({ path: path.join(shots, `${name}.png`) });
}

/** Waits until the status line fits. */
const status = (page, pattern) => page.waitForFunction((source) => new RegExp(source).test(document.querySelector(".status")?.textContent ?? ""), pattern, { timeout: 60_000 });

async function start(page, title) {
  await page.click(`.card:has-text("${title}")`);
  await status(page, "steps");
}

const tests = {
  async "a mistake has a squiggle, its cure runs"() {
    const file = path.join(temporary, "Decay.mo");
    writeFileSync(file, "model Decay\n  Real x(start = 1, fixed = true);\nequation\n  der(x) = -y;\nend Decay;\n");
    const { page, errors, close } = await open([file]);
    await page.waitForSelector(".cm-lintRange-error");
    assert((await page.textContent(".problems")).includes("y"), "the message names it");
    await shot(page, "error");
    await page.click(".problem button:has-text('Write x')");
    await page.waitForSelector(".cm-lintRange-error", { state: "detached" });
    await page.keyboard.press("Control+Enter");
    await status(page, "steps");
    await page.waitForSelector(".legend .entry:has-text('x')");
    assert(readFileSync(file, "utf8").includes("-y"), "nothing is written without a save");
    await page.keyboard.press("Control+s");
    await status(page, "Saved");
    assert(readFileSync(file, "utf8").includes("-x"), "saved");
    assert(errors.length === 0, errors.join("; "));
    await close();
  },

  async "all start models run at once"() {
    const { page, errors, close } = await open();
    await shot(page, "start");
    const titles = await page.$$eval(".card strong", (cards) => cards.map((card) => card.textContent));
    assert(titles.length >= 10, `${titles.length} models`);
    for (const title of titles) {
      if (title === "Robot") continue;
      await start(page, title);
      await page.waitForTimeout(60);
      await shot(page, `model-${title.replaceAll(/\W+/g, "-").toLowerCase()}`);
      await page.click(".brand");
    }
    assert(errors.length === 0, errors.join("; "));
    await close();
  },

  async "an event leads to its line"() {
    const { page, close } = await open();
    await start(page, "Bouncing ball");
    const plots = page.locator(".plots");
    await plots.focus();
    await page.keyboard.press("ArrowLeft");
    for (let k = 0; k < 40; k++) await page.keyboard.press("Shift+ArrowLeft");
    await page.keyboard.press("e");
    const values = await page.textContent(".legend b[data-name=v]");
    assert(values.includes("→"), `both sides of the jump: ${values}`);
    await page.keyboard.press("Enter");
    const line = await page.textContent(".cm-line.pointed");
    assert(line.includes("when h < 0"), line);
    const strip = await page.locator(".strip").boundingBox();
    await page.mouse.move(strip.x + 64 + ((strip.width - 78) * Math.sqrt(2 / 9.81)) / 3, strip.y + 8);
    await page.waitForSelector(".tip:not([hidden])");
    await shot(page, "event");
    await close();
  },

  async "a slider redraws at once, leaves a ghost, and can be undone"() {
    const { page, close } = await open();
    await start(page, "Bouncing ball");
    const slider = page.locator("#slider-e");
    for (let k = 0; k < 50; k++) {
      await slider.evaluate((input, value) => {
        input.value = String(value);
        input.dispatchEvent(new Event("input"));
        input.dispatchEvent(new Event("change"));
      }, 0.3 + 0.6 * ((k * 7) % 50) / 50);
      await page.waitForFunction((n) => window.saltusLatencies.length >= n, k + 1);
    }
    const latencies = (await page.evaluate(() => window.saltusLatencies)).sort((a, b) => a - b);
    const [half, most] = [latencies[25], latencies[Math.floor(0.95 * latencies.length)]];
    console.log(`  release to curve: half within ${half.toFixed(0)} ms, 95 of 100 within ${most.toFixed(0)} ms`);
    const before = await page.locator(".exact").first().inputValue();
    await page.click(".play button:has-text('Undo')");
    await page.waitForFunction((value) => document.querySelector(".exact").value !== value, before);
    await page.click(".play button:has-text('Pin')");
    await page.click("[aria-label='Sweep e']");
    await status(page, "9 runs");
    await shot(page, "play");
    await close();
  },

  async "curves can be chosen, zoomed and saved"() {
    const { page, close } = await open();
    await start(page, "Buck converter");
    await page.fill("[aria-label='Filter variables']", "iDi");
    await page.click("[aria-label='Draw iDiode']");
    await page.waitForSelector(".legend .entry:has(b[data-name=iDiode])");
    const chart = await page.locator(".chart canvas").first().boundingBox();
    await page.mouse.move(chart.x + 200, chart.y + 40);
    await page.mouse.down();
    await page.mouse.move(chart.x + 300, chart.y + 40, { steps: 4 });
    await page.mouse.up();
    await page.waitForTimeout(80);
    await shot(page, "zoomed");
    await page.selectOption("[aria-label='Horizontal axis']", "i");
    await page.waitForSelector(".phase-plot:not([hidden])");
    await page.waitForTimeout(80);
    await shot(page, "phase");
    await page.selectOption("[aria-label='Horizontal axis']", "time");
    for (const [name, check] of [["SVG", "<svg"], ["CSV", '"time"'], ["PNG", "PNG"]]) {
      const [download] = await Promise.all([page.waitForEvent("download"), page.click(`.plots .tools button:has-text('${name}')`)]);
      const saved = readFileSync(await download.path(), "latin1");
      assert(saved.slice(0, 200).includes(check), `${name}: ${saved.slice(0, 80)}`);
    }
    await close();
  },

  async "a run is saved as a page that opens from the disk"() {
    const { page, close } = await open();
    await start(page, "Bouncing ball");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".plots .tools button:has-text('HTML')")]);
    const file = path.join(temporary, "shared.html");
    await download.saveAs(file);
    const context = await browser.newContext({ viewport: { width: 1200, height: 1000 }, offline: true });
    const saved = await context.newPage();
    const errors = [];
    saved.on("pageerror", (error) => errors.push(String(error)));
    await saved.goto(`file://${file}`);
    await saved.waitForSelector(".legend .entry:has-text('v')");
    assert((await saved.textContent("pre")).includes("when h < 0"), "the text is there");
    await shot(saved, "shared");
    assert(errors.length === 0, errors.join("; "));
    await context.close();
    await close();
  },

  async "components are drawn, named and entered"() {
    const file = path.join(temporary, "Parts.mo");
    writeFileSync(file, `package Parts
  model Part
    parameter Real k = 3;
    Real x(start = 1, fixed = true);
  equation
    der(x) = -k*x;
    annotation(Icon(graphics = {Rectangle(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 255}), Text(extent = {{-80, 40}, {80, -40}}, textString = "k=%k")}));
  end Part;
  model Two
    Part a annotation(Placement(transformation(extent = {{-60, -20}, {-20, 20}})));
    Part b(k = 5) annotation(Placement(transformation(extent = {{20, -20}, {60, 20}})));
  end Two;
end Parts;
`);
    const { page, errors, close } = await open([file]);
    await page.waitForSelector(".class:not([hidden]) option", { state: "attached" });
    await page.click(".run");
    await status(page, "steps");
    await page.click(".views button:has-text('Diagram')");
    await page.waitForSelector(".paper text:has-text('k=5')");
    await page.hover(".paper [data-component=b]");
    await page.waitForSelector(".diagram .tip:not([hidden]) td:has-text('x')");
    await shot(page, "diagram");
    await page.dblclick(".paper [data-component=b]");
    await page.waitForSelector(".crumbs button:has-text('b')");
    assert(errors.length === 0, errors.join("; "));
    await close();
  },

  async "bodies in space move"() {
    const file = path.join(temporary, "Body.mo");
    writeFileSync(file, `model Body
  model Shape
    parameter String shapeType = "box";
    Real R_T[3, 3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    record Orientation
      Real T[3, 3];
    end Orientation;
    Orientation R(T = {{cos(time), sin(time), 0}, {-sin(time), cos(time), 0}, {0, 0, 1}});
    Real r[3] = {sin(time), 0, 0};
    Real r_shape[3] = {0, 0, 0};
    Real lengthDirection[3] = {1, 0, 0};
    Real widthDirection[3] = {0, 1, 0};
    Real length = 1;
    Real width = 0.2;
    Real height = 0.2;
    Real extra = 0;
    Real color[3] = {0, 120, 200};
  end Shape;
  Shape shape;
  annotation(experiment(StopTime = 3));
end Body;
`);
    const { page, errors, close } = await open([file]);
    await page.waitForSelector(".class:not([hidden]) option", { state: "attached" });
    await page.click(".run");
    await status(page, "steps");
    await page.click(".views button:has-text('3D')");
    await page.waitForSelector(".space canvas");
    await page.waitForTimeout(300);
    const picture = () => page.evaluate(() => document.querySelector(".space canvas").toDataURL());
    const before = await picture();
    await page.locator(".player input").evaluate((input) => {
      input.value = "1.5";
      input.dispatchEvent(new Event("input"));
    });
    await page.waitForTimeout(200);
    assert((await picture()) !== before, "the pixels differ");
    await shot(page, "space-test");
    assert(errors.length === 0, errors.join("; "));
    await close();
  },

  async "what the compiler knows is shown"() {
    const { page, errors, close } = await open();
    await start(page, "Cup and ball");
    await page.click(".views button:has-text('Understand')");
    for (const [tab, expected] of [["Equations", "taut"], ["Structure", "crossing functions"], ["Modes", "entered"], ["Events", "taut"], ["Steps", "steps by"], ["Why", "="]]) {
      await page.click(`.subtabs button:has-text('${tab}')`);
      await page.waitForFunction((text) => document.querySelector(".understood").textContent.includes(text), expected, { timeout: 30_000 });
      await page.waitForTimeout(50);
      await shot(page, `understand-${tab.toLowerCase()}`);
    }
    assert(errors.length === 0, errors.join("; "));
    await close();
  },

  async "a long run streams and is stopped"() {
    const file = path.join(temporary, "Long.mo");
    writeFileSync(file, "model Long\n  Real x(start = 0, fixed = true);\nequation\n  der(x) = cos(1000*time);\n  annotation(experiment(StopTime = 1e6));\nend Long;\n");
    const { page, close } = await open([file]);
    await page.waitForSelector(".class:not([hidden]) option", { state: "attached" });
    await page.click(".run");
    await page.waitForSelector(".run:has-text('Stop')");
    await page.waitForTimeout(600);
    await page.click(".run");
    await page.waitForSelector(".run:has-text('Run')", { timeout: 30_000 });
    await close();
  },

  async "a million rows stay smooth"() {
    const { page, close } = await open();
    await start(page, "Bouncing ball");
    const { frames, drawing, megabytes } = await page.evaluate(async () => {
      const { Chart } = window.saltusParts;
      const n = 1_000_000;
      const time = Float64Array.from({ length: n }, (_, k) => k / n);
      const chart = new Chart();
      const box = document.createElement("div");
      box.style.cssText = "position:fixed;inset:0;z-index:9;display:flex;background:white";
      chart.canvas.style.cssText = "width:100%;height:100%";
      box.append(chart.canvas);
      document.body.append(box);
      chart.traces = Array.from({ length: 10 }, (_, c) => ({
        time, values: time.map((t) => Math.sin(40 * t + c) + 0.3 * Math.sin(90_000 * t * (c + 1))), colour: "#0b66c3", alpha: 1, width: 1, dash: [],
      }));
      chart.view = { from: 0, to: 1 };
      chart.draw();
      const begun = performance.now();
      const count = 15;
      let drawing = 0;
      for (let k = 0; k < count; k++) {
        const width = 1 - 0.99 * (k / count);
        const started = performance.now();
        chart.view = { from: 0.3 * (1 - width), to: 0.3 * (1 - width) + width };
        chart.draw();
        drawing += performance.now() - started;
        await new Promise(requestAnimationFrame);
      }
      const seconds = (performance.now() - begun) / 1000;
      box.remove();
      return { frames: count / seconds, drawing: drawing / count, megabytes: performance.memory?.usedJSHeapSize / 1e6 };
    });
    console.log(`  1e6 rows, 10 curves: ${frames.toFixed(0)} pictures a second, ${drawing.toFixed(1)} ms of drawing each, heap ${megabytes?.toFixed(0)} MB`);
    // The rate depends on the machine, which may have no graphics card; what the page itself does does not.
    assert(drawing < 150, `${drawing} ms of drawing`);
    await close();
  },

  async "keyboard alone, dark, and phone"() {
    const { page, close } = await open([], { colorScheme: "dark" });
    await page.waitForSelector(".card");
    await page.focus(".card:has-text('Clutch')");
    await page.keyboard.press("Enter");
    await status(page, "steps");
    await shot(page, "dark");
    await page.setViewportSize({ width: 390, height: 800 });
    await page.waitForTimeout(100);
    await shot(page, "phone");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert(wide <= 390, `the page is ${wide} pixels wide`);
    await close();
  },

  async "nothing serious is found by axe"() {
    const { page, close } = await open([], { bypassCSP: true });
    const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
    const check = async (view) => {
      const { violations } = await page.evaluate(async (source) => {
        if (!window.axe) new Function(source)();
        return await window.axe.run(document, { resultTypes: ["violations"] });
      }, axe);
      const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
      assert(serious.length === 0, `${view}: ${serious.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join(" | ")}`).join("\n")}`);
    };
    await page.waitForSelector(".card");
    await check("start");
    await start(page, "Bouncing ball");
    await check("plots");
    await page.click(".views button:has-text('Understand')");
    await page.waitForSelector(".understood table");
    await check("understand");
    await close();
  },

  async "strangers are refused"() {
    const { address, close } = await open();
    const { port } = new URL(address);
    const get = (url, headers = {}) => fetch(url, { headers }).then((r) => r.status);
    assert((await get(`http://127.0.0.1:${port}/`)) === 401, "no token");
    assert((await get(`http://127.0.0.1:${port}/?token=x`)) === 401, "wrong token");
    assert((await get(address, { Origin: "https://example.org" })) === 403, "foreign origin");
    assert((await get(address.replace("/?", "/../../etc/passwd?"))) === 404, "a path outside");
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto("about:blank");
    const opened = await page.evaluate((url) => new Promise((resolve) => {
      const socket = new WebSocket(url);
      socket.onopen = () => resolve(true);
      socket.onerror = () => resolve(false);
    }), `ws://127.0.0.1:${port}/socket?token=${new URL(address).searchParams.get("token")}`);
    assert(!opened, "a page of somebody else has opened the socket");
    await context.close();
    await close();
  },

  async "a broken connection comes back"() {
    const { page, close } = await open();
    await start(page, "Clutch");
    await page.evaluate(() => window.saltusParts.socket.drop());
    await page.waitForTimeout(1000);
    await page.click(".run");
    await status(page, "steps");
    await close();
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (only && !name.includes(only)) continue;
  const begun = performance.now();
  try {
    await test();
    console.log(`ok   ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}: ${error.stack ?? error}`);
    const pages = browser.contexts().flatMap((context) => context.pages());
    if (shots && pages.length) await pages[pages.length - 1].screenshot({ path: path.join(shots, "failure.png") }).catch(() => {});
    for (const context of browser.contexts()) await context.close();
  }
}
for (const server of servers) server.end();
await browser.close();
console.log(failed ? `${failed} failed` : "all passed");
process.exit(failed ? 1 : 0);
