/** An icon as an element of its own, for what is drawn without React. */
import { iconFrame, iconShapes, type IconName, type IconShape } from './icon-shapes.js';

const namespace = 'http://www.w3.org/2000/svg';
const templates = new Map<string, SVGSVGElement>();

/** React's name of an attribute as SVG has it: only those of the stroke differ. */
const svgName = (name: string): string =>
  name.startsWith('stroke') ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;

export function svgElement<Tag extends 'svg' | 'rect' | 'circle' | 'path'>(
  tag: Tag,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[Tag] {
  const element = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(svgName(name), value);
  return element;
}

export function iconNode(name: IconName, size: number): SVGSVGElement {
  const key = `${name} ${size}`;
  let template = templates.get(key);
  if (template === undefined) {
    template = svgElement('svg', { ...iconFrame, width: String(size), height: String(size) });
    template.setAttribute('aria-hidden', 'true');
    const shapes: readonly IconShape[] = iconShapes[name];
    for (const [tag, attributes] of shapes) template.append(svgElement(tag, attributes));
    templates.set(key, template);
  }
  return document.importNode(template, true);
}
