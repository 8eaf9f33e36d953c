/** An icon in the colour of the text around it. Decorative: the word beside says it. */
import { createElement, memo } from 'react';
import { iconFrame, iconShapes, type IconName, type IconShape } from './icon-shapes.js';

export type { IconName } from './icon-shapes.js';

export interface IconProps {
  readonly name: IconName;
  readonly size?: number;
}

export const Icon = memo(function Icon({ name, size = 16 }: IconProps) {
  const shapes: readonly IconShape[] = iconShapes[name];
  return (
    <svg
      {...iconFrame}
      width={size}
      height={size}
      aria-hidden="true"
      focusable="false"
      style={{ flex: 'none', display: 'block' }}
    >
      {shapes.map(([tag, attributes], index) => createElement(tag, { key: index, ...attributes }))}
    </svg>
  );
});
