/** Where a window may open again: a remembered place is used only if enough of it lies on a display there is now. */

export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface WindowPlace extends Partial<Pick<Rectangle, 'x' | 'y'>> {
  readonly width: number;
  readonly height: number;
  readonly maximized: boolean;
}

export const designSize = { width: 1280, height: 800 } as const;
export const minimumSize = { width: 900, height: 600 } as const;

/** Pixels of the title bar that must be reachable, so that the window can be moved back by hand. */
const reachable = { width: 120, height: 40 } as const;

/**
 * The place to open at. Sizes are cut to the display's work area and raised to the minimum; a position off every display is dropped, which
 * lets the system choose. `displays` are work areas, the primary one first.
 */
export function validPlace(remembered: WindowPlace | null, displays: readonly Rectangle[]): WindowPlace {
  const primary = displays[0] ?? { x: 0, y: 0, ...designSize };
  const wanted = remembered ?? { ...designSize, maximized: false };
  const { x, y } = wanted;
  const home =
    x === undefined || y === undefined
      ? undefined
      : displays.find((display) =>
          overlaps({ x, y, width: wanted.width, height: reachable.height }, display),
        );
  const area = home ?? primary;
  const width = clamp(wanted.width, minimumSize.width, Math.max(minimumSize.width, area.width));
  const height = clamp(wanted.height, minimumSize.height, Math.max(minimumSize.height, area.height));
  const size = { width, height, maximized: wanted.maximized };
  return home === undefined || x === undefined || y === undefined ? size : { ...size, x, y };
}

function overlaps(title: Rectangle, area: Rectangle): boolean {
  const width = Math.min(title.x + title.width, area.x + area.width) - Math.max(title.x, area.x);
  // The top edge itself must be on the display: a title bar above it cannot be grabbed.
  const height = Math.min(title.y + title.height, area.y + area.height) - Math.max(title.y, area.y);
  return width >= reachable.width && height >= reachable.height;
}

function clamp(value: number, least: number, most: number): number {
  return Math.round(Math.min(Math.max(value, least), most));
}
