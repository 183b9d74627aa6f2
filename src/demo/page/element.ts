/** Builds the page from functions: no text ever passes through an HTML parser. */
export type Child = Node | string | number | null | undefined | false;

type Value = string | number | boolean | null | undefined;
type Listeners = { readonly [Name in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[Name]) => void };
type Attributes = Readonly<Record<string, Value>>;

export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  setAttributes(made, attributes);
  append(made, children);
  return made;
}

/** A push button; `icon` goes before its words. */
export function button(words: string, press: () => void, attributes: Attributes = {}, icon?: Node): HTMLButtonElement {
  const made = element('button', { type: 'button', ...attributes }, icon, element('span', {}, words));
  made.addEventListener('click', press);
  return made;
}

export function listen(target: HTMLElement, listeners: Listeners): void {
  for (const [name, listener] of Object.entries(listeners)) {
    target.addEventListener(name, listener as EventListener);
  }
}

/** `null`, `undefined` and `false` take an attribute away. */
export function setAttributes(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) target.removeAttribute(name);
    else if (target.getAttribute(name) !== String(value))
      target.setAttribute(name, value === true ? '' : String(value));
  }
}

/** Leaves the node alone if it says this already, so that selections and screen readers are not disturbed. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

export function show(target: HTMLElement, isShown: boolean): void {
  if (target.hidden === isShown) target.hidden = !isShown;
}

export function replaceChildren(target: Element, ...children: readonly Child[]): void {
  target.replaceChildren();
  append(target, children);
}

function append(target: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    target.append(typeof child === 'number' ? String(child) : child);
  }
}

export interface Part<Item> {
  readonly node: HTMLElement;
  update(item: Item): void;
}

/** Keeps one child for each item, by its key, in the order of the items; what stays is not made anew. */
export function keyedList<Item>(
  parent: Element,
  keyOf: (item: Item) => string,
  make: (item: Item) => Part<Item>,
): (items: readonly Item[]) => void {
  const parts = new Map<string, Part<Item>>();
  return (items) => {
    const keys = new Set(items.map(keyOf));
    for (const [key, { node }] of parts) {
      if (keys.has(key)) continue;
      node.remove();
      parts.delete(key);
    }
    let before: Element | null = parent.firstElementChild;
    for (const item of items) {
      const key = keyOf(item);
      let part = parts.get(key);
      if (part === undefined) {
        part = make(item);
        parts.set(key, part);
      }
      part.update(item);
      if (part.node === before) before = before.nextElementSibling;
      else parent.insertBefore(part.node, before);
    }
  };
}
