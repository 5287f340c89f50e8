// Makes the page in dist/ from its source. `--check` compares what is there with what would be made, and changes nothing.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const check = process.argv.includes("--check");
const out = path.join(here, check ? "node_modules/.check" : "dist");
const files = ["index.html", "favicon.svg", "style.css", "main.js", "space.js", "share.js"];

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: { main: "src/main.ts", space: "src/space.ts", share: "src/share.ts", style: "src/style.css" },
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
for (const file of ["index.html", "favicon.svg"]) await copyFile(path.join(here, file), path.join(out, file));

if (check) {
  let same = true;
  for (const file of files) {
    const [made, there] = await Promise.all([
      readFile(path.join(out, file)),
      readFile(path.join(here, "dist", file)).catch(() => Buffer.alloc(0)),
    ]);
    if (!made.equals(there)) {
      console.error(`dist/${file} is not what src makes: run \`npm run build\` in web`);
      same = false;
    }
  }
  await rm(out, { recursive: true });
  process.exit(same ? 0 : 1);
}
