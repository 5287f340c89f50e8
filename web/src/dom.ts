// Elements of the page, made in place.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, unknown>;

/** An element: `on…` are listeners, `class` and others attributes, known properties are set as such. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "hidden") Reflect.set(element, name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

function add(element: HTMLElement, children: (Child | Child[])[]) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

/** Replaces the content of an element. */
export function fill(element: HTMLElement, ...children: (Child | Child[])[]) {
  element.replaceChildren();
  add(element, children);
}

/** Offers a file for download. */
export function download(name: string, content: BlobPart, kind: string) {
  const url = URL.createObjectURL(new Blob([content], { type: kind }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function button(label: string, title: string, onclick: () => void, more: Attributes = {}) {
  return h("button", { type: "button", title, onclick, ...more }, label);
}
