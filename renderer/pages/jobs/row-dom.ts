/**
 * Writers of what a row shows. Each remembers what it wrote last, since asking an element costs as much as telling it, and telling it the
 * same again would have it laid out and painted once more.
 */
import styles from './job-row.module.css';

export type RowAction = 'check' | 'children' | 'stop' | 'run' | 'menu';

/** The attribute a button of a row says by what it does. */
export const actionAttribute = 'data-action';

export const classOf = (...names: readonly string[]): string =>
  names.map((name) => styles[name] ?? '').join(' ');

export function span(className: string | undefined): HTMLElement {
  const element = document.createElement('span');
  if (className !== undefined && className !== '') element.className = className;
  return element;
}

export function cell(...names: readonly string[]): HTMLElement {
  const element = span(classOf('cell', ...names));
  element.setAttribute('role', 'gridcell');
  return element;
}

export function button(
  action: RowAction,
  className: string | undefined,
  icon: SVGElement | null,
): HTMLElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.tabIndex = -1;
  element.className = className ?? '';
  element.setAttribute(actionAttribute, action);
  if (icon !== null) element.append(icon);
  return element;
}

/** A text of its own at the end of an element. */
export function textIn(parent: Element): (text: string) => void {
  const node = document.createTextNode('');
  let written = '';
  parent.append(node);
  return (text) => {
    if (text !== written) node.data = written = text;
  };
}

/** Null takes the attribute away. */
export function attributeOf(element: Element, name: string): (value: string | null) => void {
  let written: string | null = element.getAttribute(name);
  return (value) => {
    if (value === written) return;
    written = value;
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, value);
  };
}

/** Shows `child` in its parent only while wanted. */
export function setThere(parent: Element, child: Element, there: boolean, before: Node | null = null): void {
  if (there === (child.parentNode === parent)) return;
  if (there) parent.insertBefore(child, before);
  else child.remove();
}
