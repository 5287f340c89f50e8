// The grammar colours what it should.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const textmate = require("vscode-textmate");

const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => {
    const file = new URL("../syntaxes/modelica.tmLanguage.json", import.meta.url);
    return textmate.parseRawGrammar(fs.readFileSync(file, "utf8"), "modelica.json");
  },
});
const grammar = await registry.loadGrammar("source.modelica");
const scopes = (line, word) => {
  const { tokens } = grammar.tokenizeLine(line, textmate.INITIAL);
  const at = line.indexOf(word);
  return tokens.find((token) => token.startIndex <= at && at < token.endIndex).scopes.at(-1);
};
assert.equal(scopes("partial model A extends B; // c", "A"), "entity.name.type.modelica");
assert.equal(scopes("parameter Real k(unit=\"m\")=1.5e3;", "parameter"), "storage.modifier.modelica");
assert.equal(scopes("parameter Real k(unit=\"m\")=1.5e3;", "Real"), "support.type.modelica");
assert.equal(scopes("parameter Real k(unit=\"m\")=1.5e3;", "\"m"), "string.quoted.double.modelica");
assert.equal(scopes("parameter Real k(unit=\"m\")=1.5e3;", "1.5e3"), "constant.numeric.modelica");
assert.equal(scopes("der(x) = -'a b'; // c", "der"), "support.function.modelica");
assert.equal(scopes("der(x) = -'a b'; // c", "'a b'"), "variable.other.quoted.modelica");
assert.equal(scopes("der(x) = -'a b'; // c", "// c"), "comment.line.double-slash.modelica");
assert.equal(scopes("end A;", "end"), "keyword.control.modelica");
console.log("the grammar colours");
