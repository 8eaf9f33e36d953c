/** The window's own icons as data, 16 px, one stroke: drawn by React and, in the long list, without it. */

/** An element of SVG and its attributes, as React names them. */
export type IconShape = readonly ['circle' | 'path' | 'rect', Readonly<Record<string, string>>];

export const iconShapes = {
  clock: [
    ['circle', { cx: '8', cy: '8', r: '5.75' }],
    ['path', { d: 'M8 4.75V8l2.25 1.5' }],
  ],
  arrow: [['path', { d: 'M2.5 8h10M8.75 4.25 12.5 8l-3.75 3.75' }]],
  hammer: [
    ['path', { d: 'm9 7-5.6 5.6a1.1 1.1 0 0 1-1.5-1.5L7.5 5.5M6 4l2-1.75h2.5L13.75 5.5 11.5 7.75 9.25 5.5' }],
  ],
  dot: [['circle', { cx: '8', cy: '8', r: '4.5', fill: 'currentColor', stroke: 'none' }]],
  check: [['path', { d: 'm3 8.5 3.25 3.25L13 4.75' }]],
  cross: [['path', { d: 'm4 4 8 8m0-8-8 8' }]],
  stop: [
    ['rect', { x: '4', y: '4', width: '8', height: '8', rx: '1', fill: 'currentColor', stroke: 'none' }],
  ],
  rewind: [['path', { d: 'M8 4 3 8l5 4zM13.5 4l-5 4 5 4z', fill: 'currentColor' }]],
  'broken-link': [
    [
      'path',
      {
        d: 'M6.75 4.75 8.5 3a2.9 2.9 0 0 1 4.25 4.25L11 9M9.25 11.25 7.5 13a2.9 2.9 0 0 1-4.25-4.25L5 7M2 2l12 12',
      },
    ],
  ],
  'no-entry': [
    ['circle', { cx: '8', cy: '8', r: '5.75' }],
    ['path', { d: 'M4.75 8h6.5' }],
  ],
  linked: [
    [
      'path',
      {
        d: 'M6.5 9.5 9.5 6.5M7 5l1.5-1.75a2.9 2.9 0 0 1 4.25 4.25L11 9M9 11l-1.5 1.75a2.9 2.9 0 0 1-4.25-4.25L5 7',
      },
    ],
  ],
  overview: [
    ['rect', { x: '2.5', y: '2.5', width: '4.5', height: '6', rx: '0.75' }],
    ['rect', { x: '9', y: '2.5', width: '4.5', height: '3.5', rx: '0.75' }],
    ['rect', { x: '2.5', y: '11', width: '4.5', height: '2.5', rx: '0.75' }],
    ['rect', { x: '9', y: '8.5', width: '4.5', height: '5', rx: '0.75' }],
  ],
  budget: [['path', { d: 'M3.4 12.5a5.75 5.75 0 1 1 9.2 0M8 9.5 10.5 6M8 9.5h.01' }]],
  list: [['path', { d: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01' }]],
  plus: [['path', { d: 'M8 3v10M3 8h10' }]],
  minus: [['path', { d: 'M3 8h10' }]],
  hold: [['path', { d: 'M5.5 3.5v9M10.5 3.5v9' }]],
  release: [['path', { d: 'M5 3.25v9.5L12.5 8z' }]],
  queue: [['path', { d: 'M2.5 4h7M2.5 8h11M2.5 12h5M12 2.5v3M10 10.5v3' }]],
  'to-front': [['path', { d: 'M3 2.75h10M8 13.5V6M4.75 9.25 8 6l3.25 3.25' }]],
  'to-back': [['path', { d: 'M3 13.25h10M8 2.5V10M4.75 6.75 8 10l3.25-3.25' }]],
  search: [
    ['circle', { cx: '7', cy: '7', r: '4.25' }],
    ['path', { d: 'm10.25 10.25 3.25 3.25' }],
  ],
  bell: [['path', { d: 'M4 11V7a4 4 0 0 1 8 0v4l1.25 1.5H2.75zM6.75 14h2.5' }]],
  'bell-off': [
    [
      'path',
      {
        d: 'M4 11V7c0-.7.18-1.36.5-1.93M6.2 3.43A4 4 0 0 1 12 7v2.5M11.5 12.5H2.75L4 11M6.75 14h2.5M2 2l12 12',
      },
    ],
  ],
  rerun: [['path', { d: 'M13 8a5 5 0 1 1-1.6-3.67M13 2.5v2.75h-2.75' }]],
  edit: [['path', { d: 'm10.5 3.25 2.25 2.25-7 7-3 .75.75-3zM9 4.75 11.25 7' }]],
  copy: [
    ['rect', { x: '5.5', y: '5.5', width: '8', height: '8', rx: '1' }],
    ['path', { d: 'M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2' }],
  ],
  'chevron-right': [['path', { d: 'm6 4 4 4-4 4' }]],
  'chevron-down': [['path', { d: 'm4 6 4 4 4-4' }]],
  'chevron-up': [['path', { d: 'm4 10 4-4 4 4' }]],
  'chevron-left': [['path', { d: 'm10 4-4 4 4 4' }]],
  rail: [
    ['rect', { x: '2.5', y: '3', width: '11', height: '10', rx: '1' }],
    ['path', { d: 'M6.5 3v10' }],
  ],
  folder: [['path', { d: 'M2.5 12.5v-9h4l1.5 2h5.5v7z' }]],
  file: [['path', { d: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3' }]],
  download: [['path', { d: 'M8 2.5v7.25M4.75 6.75 8 10l3.25-3.25M3 13h10' }]],
  follow: [['path', { d: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10' }]],
  info: [
    ['circle', { cx: '8', cy: '8', r: '5.75' }],
    ['path', { d: 'M8 7.25V11M8 5h.01' }],
  ],
  warning: [['path', { d: 'M8 2.5 14 13H2zM8 6.5v3M8 11.25h.01' }]],
  keyboard: [
    ['rect', { x: '1.75', y: '4', width: '12.5', height: '8', rx: '1' }],
    ['path', { d: 'M4.5 6.75h.01M7 6.75h.01M9.5 6.75h.01M12 6.75h.01M5 9.5h6' }],
  ],
  sun: [
    ['circle', { cx: '8', cy: '8', r: '2.75' }],
    [
      'path',
      {
        d: 'M8 1.75v1.5M8 12.75v1.5M1.75 8h1.5M12.75 8h1.5M3.6 3.6l1.05 1.05M11.35 11.35l1.05 1.05M12.4 3.6l-1.05 1.05M4.65 11.35 3.6 12.4',
      },
    ],
  ],
  moon: [['path', { d: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z' }]],
  contrast: [
    ['circle', { cx: '8', cy: '8', r: '5.5' }],
    ['path', { d: 'M8 2.5a5.5 5.5 0 0 1 0 11z', fill: 'currentColor' }],
  ],
  more: [['path', { d: 'M3.5 8h.01M8 8h.01M12.5 8h.01', strokeWidth: '2.5' }]],
  person: [
    ['circle', { cx: '8', cy: '5.25', r: '2.5' }],
    ['path', { d: 'M3 13.25a5 5 0 0 1 10 0' }],
  ],
  machine: [
    ['rect', { x: '2.5', y: '3', width: '11', height: '7.5', rx: '0.75' }],
    ['path', { d: 'M6 13.25h4M8 10.5v2.75' }],
  ],
  power: [['path', { d: 'M8 2.5v5M5 4.25a4.75 4.75 0 1 0 6 0' }]],
  image: [['path', { d: 'm8 2.25 5.25 2.75v6L8 13.75 2.75 11V5zM2.75 5 8 7.75 13.25 5M8 7.75v6' }]],
  activity: [['path', { d: 'M2 8.5h3l1.75-5 3 9.5 1.75-4.5H14' }]],
  settings: [
    ['path', { d: 'M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6' }],
    ['circle', { cx: '10.25', cy: '4.5', r: '1.75' }],
    ['circle', { cx: '5.75', cy: '11.5', r: '1.75' }],
  ],
  trash: [['path', { d: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.25 4.5l.6 8.5h6.3l.6-8.5' }]],
  drain: [['path', { d: 'M2.5 3.5h11L9.5 8.5v4l-3 1v-5z' }]],
  filter: [['path', { d: 'M2.5 4h11M4.5 8h7M6.5 12h3' }]],
} as const satisfies Record<string, readonly IconShape[]>;

export type IconName = keyof typeof iconShapes;

/** Attributes of the drawing itself. */
export const iconFrame = {
  viewBox: '0 0 16 16',
  fill: 'none',
  stroke: 'currentColor',
  strokeWidth: '1.4',
  strokeLinecap: 'round',
  strokeLinejoin: 'round',
} as const;
