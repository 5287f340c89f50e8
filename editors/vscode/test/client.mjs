// The server from the client library that VS Code uses: SALTUS names the program, else target/debug/saltus or target/release/saltus.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import rpc from "vscode-jsonrpc/node.js";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const candidates = [process.env.SALTUS, path.join(root, "target/debug/saltus"), path.join(root, "target/release/saltus")];
const program = candidates.find((each) => each && fs.existsSync(each));
if (!program) {
  console.log("skipped: no saltus program was built (cargo build, or set SALTUS)");
  process.exit(0);
}

const server = spawn(program, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const connection = rpc.createMessageConnection(new rpc.StreamMessageReader(server.stdout), new rpc.StreamMessageWriter(server.stdin));
const published = [];
let waiting;
connection.onNotification("textDocument/publishDiagnostics", (params) => {
  published.push(params);
  waiting?.();
});
connection.listen();

const uri = "file:///models/M.mo";
const text = "model M\n  Real x(start=1, fixed=true);\nequation\n  der(x) = -y;\nend M;\n";
const { capabilities } = await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
assert.equal(capabilities.positionEncoding, "utf-16");
await connection.sendNotification("initialized", {});
await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "modelica", version: 1, text } });
while (!published.some((params) => params.diagnostics.length > 0)) await new Promise((resolve) => (waiting = resolve));
const found = published.at(-1).diagnostics[0];
assert.equal(found.code, "unknown-name");
assert.deepEqual(found.range.start, { line: 3, character: 12 });

const at = { textDocument: { uri }, position: { line: 3, character: 6 } };
const hover = await connection.sendRequest("textDocument/hover", at);
assert.match(hover.contents.value, /Real x/);
const definition = await connection.sendRequest("textDocument/definition", at);
assert.deepEqual(definition.range.start, { line: 1, character: 7 });
const symbols = await connection.sendRequest("textDocument/documentSymbol", { textDocument: { uri } });
assert.equal(symbols[0].children[0].name, "x");
const offers = await connection.sendRequest("textDocument/completion", { ...at, position: { line: 3, character: 12 } });
assert.ok(offers.items.some((item) => item.label === "x"));
await connection.sendRequest("shutdown");
const ended = new Promise((resolve) => server.on("exit", resolve));
await connection.sendNotification("exit");
assert.equal(await ended, 0);
console.log("the server answers the client library");
