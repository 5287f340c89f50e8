// Modelica for the editor: colours, comments, words to complete.

import { completeAnyWord, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { HighlightStyle, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";

const KEYWORDS = new Set(
  ("algorithm and annotation assert block break class connect connector constant constrainedby der discrete each else elseif elsewhen encapsulated end " +
    "enumeration equation expandable extends external final flow for function if import impure in initial inner input loop model not operator or outer " +
    "output package parameter partial protected public pure record redeclare replaceable return stream then type when while within").split(" "),
);
const TYPES = new Set(["Real", "Integer", "Boolean", "String"]);
const BUILTINS = new Set(
  ("abs acos asin atan atan2 backSample cardinality ceil change cos cosh cross delay diagonal div edge exp fill floor hold homotopy identity integer inStream log " +
    "log10 max min mod ndims noEvent ones pre previous product reinit rem sample scalar semiLinear sign sin sinh size skew smooth spatialDistribution sqrt sum " +
    "symmetric tan tanh terminal terminate time transpose vector zeros actualStream").split(" "),
);

interface State { comment: boolean; text: boolean }

const language = StreamLanguage.define<State>({
  name: "modelica",
  startState: () => ({ comment: false, text: false }),
  token(stream, state) {
    if (state.comment) {
      state.comment = !stream.skipTo("*/") || !stream.match("*/");
      if (state.comment) stream.skipToEnd();
      return "comment";
    }
    if (state.text) {
      while (!stream.eol()) {
        const c = stream.next();
        if (c === "\\") stream.next();
        else if (c === '"') {
          state.text = false;
          break;
        }
      }
      return "string";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.comment = true;
      return "comment";
    }
    if (stream.eat('"')) {
      state.text = true;
      return "string";
    }
    if (stream.match(/^'(\\.|[^'\\])*'/)) return "variableName";
    if (stream.match(/^\d+(\.\d*)?([eE][+-]?\d+)?/)) return "number";
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word) {
      const text = (word as RegExpMatchArray)[0];
      if (text === "true" || text === "false") return "bool";
      if (KEYWORDS.has(text)) return "keyword";
      if (TYPES.has(text)) return "typeName";
      return BUILTINS.has(text) ? "function" : "variableName";
    }
    stream.next();
    return null;
  },
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: {
    commentTokens: { line: "//", block: { open: "/*", close: "*/" } },
    closeBrackets: { brackets: ["(", "[", "{", '"'] },
    indentOnInput: /^\s*(end|equation|algorithm|else|elseif|elsewhen|protected|public)\b/,
  },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)" },
  { tag: tags.typeName, color: "var(--code-type)" },
  { tag: tags.function(tags.variableName), color: "var(--code-function)" },
  { tag: [tags.number, tags.bool], color: "var(--code-number)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: tags.comment, color: "var(--faint)", fontStyle: "italic" },
]);

const words = [...KEYWORDS].map((label) => ({ label, type: "keyword" }))
  .concat([...TYPES].map((label) => ({ label, type: "type" })), [...BUILTINS].map((label) => ({ label, type: "function" })));

function complete(context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/\w+/);
  if (!word || (word.from === word.to && !context.explicit)) return null;
  return { from: word.from, options: words, validFor: /^\w*$/ };
}

export function modelica(): LanguageSupport {
  return new LanguageSupport(language, [
    language.data.of({ autocomplete: complete }),
    language.data.of({ autocomplete: completeAnyWord }),
    syntaxHighlighting(colours),
  ]);
}
