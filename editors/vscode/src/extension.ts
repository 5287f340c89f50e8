// The extension: starts the language server, and runs the program for its commands.

import * as fs from "fs";
import * as path from "path";
import { execFile } from "child_process";
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;
let output: vscode.OutputChannel;

/** The program: the setting, else the one that comes with the extension, else the one on PATH. */
function program(context: vscode.ExtensionContext): string {
  const set = vscode.workspace.getConfiguration("saltus").get<string>("path", "");
  if (set) return set;
  const name = process.platform === "win32" ? "saltus.exe" : "saltus";
  const bundled = context.asAbsolutePath(path.join("bin", name));
  return fs.existsSync(bundled) ? bundled : name;
}

function libraries(): string[] {
  return vscode.workspace.getConfiguration("saltus").get<string[]>("libraryPaths", []);
}

async function start(context: vscode.ExtensionContext): Promise<void> {
  const run: ServerOptions = { command: program(context), args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [{ language: "modelica" }],
    initializationOptions: { libraryPaths: libraries() },
    synchronize: {
      configurationSection: "saltus",
      fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{mo,order}"),
    },
    outputChannel: output,
    markdown: { isTrusted: { enabledCommands: ["saltus.explain"] } },
  };
  client = new LanguageClient("saltus", "Saltus", run, options);
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`The language server could not be started (${program(context)} lsp): ${error}. Set "saltus.path".`);
  }
}

interface Ran {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** Runs the program in the folder of a file. */
function run(context: vscode.ExtensionContext, args: string[], folder: string | undefined): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(program(context), args, { cwd: folder, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      resolve({ ok: !error, stdout, stderr: stderr || (error ? String(error) : "") });
    });
  });
}

/** The model that a command is about: of the code lens, else the last one of the file that is open. */
function target(model: string | undefined, file: string | undefined): { args: string[]; folder: string; name: string } | undefined {
  const open = file ?? vscode.window.activeTextEditor?.document.uri.fsPath;
  if (!open) {
    vscode.window.showInformationMessage("Open a Modelica file first.");
    return undefined;
  }
  const folder = path.dirname(open);
  // A class of a library is named; the folder around the library is given.
  let library = folder;
  while (fs.existsSync(path.join(library, "package.mo"))) library = path.dirname(library);
  const isInLibrary = library !== folder;
  const options = libraries().flatMap((each) => ["--library", each]);
  if (isInLibrary && model) return { args: [model, "--library", library, ...options], folder, name: model };
  return { args: [open, ...(model ? ["--model", model] : []), ...options], folder, name: model ?? path.basename(open, ".mo") };
}

async function saved(file: string | undefined): Promise<void> {
  const document = vscode.workspace.textDocuments.find((each) => !file || each.uri.fsPath === file);
  if (document?.isDirty) await document.save();
}

async function simulate(context: vscode.ExtensionContext, model?: string, file?: string): Promise<string | undefined> {
  await saved(file);
  const about = target(model, file);
  if (!about) return undefined;
  const results = path.join(context.globalStorageUri.fsPath, "results");
  fs.mkdirSync(results, { recursive: true });
  const result = path.join(results, `${about.name}.csv`);
  const done = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Simulating ${about.name}` },
    () => run(context, ["simulate", ...about.args, "--output", result], about.folder),
  );
  output.appendLine(done.stderr + done.stdout);
  if (!done.ok) {
    output.show(true);
    vscode.window.showErrorMessage(`${about.name}: ${done.stderr.split("\n")[0]}`);
    return undefined;
  }
  return result;
}

async function plot(context: vscode.ExtensionContext, model?: string, file?: string): Promise<void> {
  const result = await simulate(context, model, file);
  if (!result) return;
  const header = fs.readFileSync(result, "utf8").split("\n", 1)[0];
  const names = [...header.matchAll(/"((?:[^"]|"")*)"/g)].map((each) => each[1]).filter((name) => name !== "time");
  const chosen = await vscode.window.showQuickPick(names, { canPickMany: true, title: "Variables to plot" });
  if (!chosen || chosen.length === 0) return;
  const picture = result.replace(/\.csv$/, ".svg");
  const drawn = await run(context, ["plot", result, ...chosen, "--output", picture], undefined);
  if (!drawn.ok) {
    vscode.window.showErrorMessage(drawn.stderr);
    return;
  }
  show(path.basename(result, ".csv"), fs.readFileSync(picture, "utf8"));
}

/** A picture in a tab of its own. Scripts do not run in it. */
function show(title: string, svg: string): void {
  const panel = vscode.window.createWebviewPanel("saltus.picture", title, vscode.ViewColumn.Beside, { enableScripts: false });
  const policy = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`;
  panel.webview.html = `<!DOCTYPE html><html><head>${policy}</head><body style="background:white">${svg}</body></html>`;
}

async function structure(context: vscode.ExtensionContext, model?: string, file?: string): Promise<void> {
  await saved(file);
  const about = target(model, file);
  if (!about) return;
  const shown = await run(context, ["show", ...about.args, "--stage", "structure"], about.folder);
  const content = shown.ok ? shown.stdout : shown.stderr;
  const document = await vscode.workspace.openTextDocument({ content, language: "plaintext" });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

async function check(context: vscode.ExtensionContext, model?: string, file?: string): Promise<void> {
  await saved(file);
  const about = target(model, file);
  if (!about) return;
  const checked = await run(context, ["check", ...about.args], about.folder);
  output.appendLine(checked.stderr + checked.stdout);
  if (checked.ok) vscode.window.showInformationMessage(checked.stdout.trim());
  else {
    output.show(true);
    vscode.window.showErrorMessage(checked.stderr.split("\n")[0]);
  }
}

async function newPackage(): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (!folder) {
    vscode.window.showInformationMessage("Open a folder first.");
    return;
  }
  const name = await vscode.window.showInputBox({
    prompt: "Name of the package",
    validateInput: (text) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? undefined : "letters, digits and _, not a digit first"),
  });
  if (!name) return;
  const root = vscode.Uri.joinPath(folder, name);
  const files: [string, string][] = [
    ["package.mo", `package ${name} "What it is for"\n  annotation (version="0.1.0");\nend ${name};\n`],
    ["package.order", "Example\n"],
    [
      "Example.mo",
      `within ${name};\nmodel Example "A decay"\n  parameter Real k=1 "Rate";\n  Real x(start=1, fixed=true);\nequation\n  der(x) = -k*x;\n  annotation (experiment(StopTime=5));\nend Example;\n`,
    ],
  ];
  for (const [file, text] of files) {
    await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(root, file), Buffer.from(text, "utf8"));
  }
  await vscode.window.showTextDocument(vscode.Uri.joinPath(root, "Example.mo"));
}

async function explain(context: vscode.ExtensionContext, code?: string): Promise<void> {
  const asked = code ?? (await vscode.window.showInputBox({ prompt: "The error code" }));
  if (!asked) return;
  const page = await run(context, ["explain", asked], undefined);
  const document = await vscode.workspace.openTextDocument({ content: page.stdout || page.stderr, language: "markdown" });
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  output = vscode.window.createOutputChannel("Saltus");
  const command = (name: string, work: (...args: never[]) => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(`saltus.${name}`, work));
  command("simulate", async (model?: string, file?: string) => {
    const result = await simulate(context, model, file);
    if (result) vscode.window.showInformationMessage(`The result is ${result}`);
  });
  command("plot", (model?: string, file?: string) => plot(context, model, file));
  command("structure", (model?: string, file?: string) => structure(context, model, file));
  command("test", (model?: string, file?: string) => check(context, model, file));
  command("newPackage", () => newPackage());
  command("explain", (code?: string) => explain(context, code));
  command("restart", async () => {
    await client?.stop();
    await start(context);
  });
  await start(context);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}
