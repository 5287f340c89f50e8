"""The language server by a client of another make (pytest-lsp, pygls)."""

import asyncio
import os
import sys

import pytest

pytest_lsp = pytest.importorskip("pytest_lsp")
types = pytest.importorskip("lsprotocol.types")
pytest_asyncio = pytest.importorskip("pytest_asyncio")

# SALTUS names another program; else the one of the package.
COMMAND = [os.environ["SALTUS"], "lsp"] if os.environ.get("SALTUS") else [sys.executable, "-m", "saltus", "lsp"]
URI = "file:///models/M.mo"
TEXT = """model M
  parameter Real k(unit="1/s") = 2 "Rate";
  Real x(start=1, fixed=true);
equation
  der(x) = -k*x;
end M;
"""


@pytest_lsp.fixture(config=pytest_lsp.ClientServerConfig(server_command=COMMAND))
async def client(lsp_client: pytest_lsp.LanguageClient):
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=types.ClientCapabilities(), workspace_folders=[])
    )
    yield
    await lsp_client.shutdown_session()


def opened(client, text):
    document = types.TextDocumentItem(uri=URI, language_id="modelica", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))


def at(line, character):
    return {
        "text_document": types.TextDocumentIdentifier(uri=URI),
        "position": types.Position(line=line, character=character),
    }


async def until(client, what):
    for _ in range(600):
        found = client.diagnostics.get(URI)
        if found is not None and what(found):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"no such diagnostics: {client.diagnostics}")


@pytest.mark.asyncio
async def test_messages_come_and_go(client):
    opened(client, TEXT.replace("-k*x", "-j*x"))
    found = await until(client, lambda list: len(list) == 1)
    assert found[0].code == "unknown-name"
    assert (found[0].range.start.line, found[0].range.start.character) == (4, 12)
    whole = types.TextDocumentContentChangeWholeDocument(text=TEXT)
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            text_document=types.VersionedTextDocumentIdentifier(uri=URI, version=2), content_changes=[whole]
        )
    )
    await until(client, lambda list: len(list) == 0)


@pytest.mark.asyncio
async def test_hover_definition_references(client):
    opened(client, TEXT)
    hover = await client.text_document_hover_async(types.HoverParams(**at(4, 12)))
    assert "parameter Real k = 2" in hover.contents.value
    definition = await client.text_document_definition_async(types.DefinitionParams(**at(4, 12)))
    assert (definition.range.start.line, definition.range.start.character) == (1, 17)
    context = types.ReferenceContext(include_declaration=True)
    places = await client.text_document_references_async(types.ReferenceParams(**at(4, 12), context=context))
    assert [place.range.start.line for place in places] == [1, 4]


@pytest.mark.asyncio
async def test_completion_symbols_formatting(client):
    opened(client, TEXT.replace("der(x) = -k*x", "der(x)=- k*x"))
    offers = await client.text_document_completion_async(types.CompletionParams(**at(4, 2)))
    assert "x" in [item.label for item in offers.items]
    document = types.TextDocumentIdentifier(uri=URI)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(text_document=document))
    assert [child.name for child in symbols[0].children] == ["k", "x"]
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(
        types.DocumentFormattingParams(text_document=document, options=options)
    )
    assert [edit.new_text for edit in edits] == [" ", " ", ""]


@pytest.mark.asyncio
async def test_rename_is_safe(client):
    opened(client, TEXT)
    edit = await client.text_document_rename_async(types.RenameParams(**at(1, 17), new_name="rate"))
    assert len(edit.changes[URI]) == 2
    with pytest.raises(Exception, match="something else"):
        await client.text_document_rename_async(types.RenameParams(**at(1, 17), new_name="x"))
