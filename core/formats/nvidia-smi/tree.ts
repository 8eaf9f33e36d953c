/** A parsed XML document, of whose shape nothing is assumed: newer drivers add parts and rename them. */

/** Text, or named parts. */
export type Node = string | { readonly [name: string]: Node | readonly Node[] };

export function child(node: Node | undefined, name: string): Node | undefined {
  if (node === undefined || typeof node === 'string') return undefined;
  const found = Object.hasOwn(node, name) ? node[name] : undefined;
  return found === undefined || typeof found === 'string' || !isList(found) ? found : found[0];
}

export function list(node: Node | undefined, name: string): readonly Node[] {
  if (node === undefined || typeof node === 'string') return [];
  const found = Object.hasOwn(node, name) ? node[name] : undefined;
  if (found === undefined) return [];
  return typeof found === 'string' || !isList(found) ? [found] : found;
}

function isList(value: Node | readonly Node[]): value is readonly Node[] {
  return Array.isArray(value);
}

export function textOf(node: Node | undefined): string | undefined {
  return typeof node === 'string' ? node.trim() : undefined;
}

/** The text at a path of names. */
export function textAt(node: Node | undefined, ...names: readonly string[]): string | undefined {
  return textOf(names.reduce<Node | undefined>((at, name) => child(at, name), node));
}
