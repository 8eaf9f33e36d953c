/** An icon as an element of its own, for what is drawn without React. */
import { iconFrame, iconShapes, type IconName, type IconShape } from './icon-shapes.js';

const namespace = 'http://www.w3.org/2000/svg';
const templates = new Map<string, SVGSVGElement>();

/** React's name of an attribute as SVG has it: only those of the stroke differ. */
const svgName = (name: string): string =>
  name.startsWith('stroke') ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) : name;

function svgElement<Tag extends 'svg' | 'rect' | 'circle' | 'path'>(
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

interface OnePath {
  readonly d: string;
  readonly fill: string | null;
  readonly stroke: string | null;
}

const paths = new Map<IconName, OnePath>();

/** The shapes of an icon as one path, painted as its first shape is. */
function onePathOf(name: IconName): OnePath {
  const known = paths.get(name);
  if (known !== undefined) return known;
  const shapes: readonly IconShape[] = iconShapes[name];
  const made = {
    d: shapes.map(([tag, attributes]) => outlineOf(tag, attributes)).join(''),
    fill: shapes[0]?.[1]['fill'] ?? null,
    stroke: shapes[0]?.[1]['stroke'] ?? null,
  };
  paths.set(name, made);
  return made;
}

function outlineOf(tag: IconShape[0], attributes: IconShape[1]): string {
  if (tag === 'path') return attributes['d'] ?? '';
  const number = (key: string): number => Number(attributes[key] ?? 0);
  if (tag === 'circle') {
    const r = number('r');
    return `M${number('cx') - r} ${number('cy')}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  }
  const [width, height, r] = [number('width'), number('height'), number('rx')];
  const corner = (x: number, y: number): string => `a${r} ${r} 0 0 1 ${x} ${y}`;
  return (
    `M${number('x') + r} ${number('y')}h${width - 2 * r}${corner(r, r)}v${height - 2 * r}${corner(-r, r)}` +
    `h${2 * r - width}${corner(-r, -r)}v${2 * r - height}${corner(r, -r)}z`
  );
}

/** An icon that changes into another one without a new element. Its parts must all be painted the same way. */
export function onePathIcon(size: number): {
  readonly root: SVGSVGElement;
  readonly show: (name: IconName) => void;
} {
  const root = svgElement('svg', { ...iconFrame, width: String(size), height: String(size) });
  root.setAttribute('aria-hidden', 'true');
  const path = svgElement('path', {});
  root.append(path);
  let shown: IconName | null = null;
  return {
    root,
    show(name) {
      if (name === shown) return;
      shown = name;
      const { d, fill, stroke } = onePathOf(name);
      path.setAttribute('d', d);
      path.setAttribute('fill', fill ?? iconFrame.fill);
      path.setAttribute('stroke', stroke ?? iconFrame.stroke);
    },
  };
}
