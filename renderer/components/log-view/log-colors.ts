/** Colours of the log's terminal for each theme. The terminal raises any text below 4.5:1 against its background by itself. */
import type { ITheme } from '@xterm/xterm';
import { errorMarkColor } from './sgr.js';

type Ansi = Omit<ITheme, 'background' | 'foreground' | 'extendedAnsi'>;

const light: Ansi = {
  black: '#1c1d21',
  red: '#b3261e',
  green: '#1b7036',
  yellow: '#7a5200',
  blue: '#1a5fb4',
  magenta: '#8a2e9c',
  cyan: '#0a6a78',
  white: '#5c5f69',
  brightBlack: '#6b6e78',
  brightRed: '#c4312a',
  brightGreen: '#20803f',
  brightYellow: '#8a5a00',
  brightBlue: '#2a6fc9',
  brightMagenta: '#9c3fb0',
  brightCyan: '#0f7889',
  brightWhite: '#3a3c43',
  selectionBackground: '#cfd1f5',
  selectionInactiveBackground: '#dfe0f3',
};

const dark: Ansi = {
  black: '#8f93a0',
  red: '#f58a83',
  green: '#62c487',
  yellow: '#e0a93e',
  blue: '#72b0f8',
  magenta: '#d99bf0',
  cyan: '#5fc9d6',
  white: '#d5d7de',
  brightBlack: '#9598a2',
  brightRed: '#ff9f98',
  brightGreen: '#7fd9a0',
  brightYellow: '#f0c063',
  brightBlue: '#94c4ff',
  brightMagenta: '#e6b5f7',
  brightCyan: '#80dbe6',
  brightWhite: '#ffffff',
  selectionBackground: '#3b3e6b',
  selectionInactiveBackground: '#32344f',
};

/** Marks of found text. The addon takes hexadecimal colours only. */
export interface MatchColors {
  readonly matchBackground: string;
  readonly matchOverviewRuler: string;
  readonly activeMatchBackground: string;
  readonly activeMatchColorOverviewRuler: string;
}

const lightMatches: MatchColors = {
  matchBackground: '#ffe8a3',
  matchOverviewRuler: '#c99700',
  activeMatchBackground: '#ffbf47',
  activeMatchColorOverviewRuler: '#8a5a00',
};

const darkMatches: MatchColors = {
  matchBackground: '#5a4a14',
  matchOverviewRuler: '#b38f2b',
  activeMatchBackground: '#8f6d10',
  activeMatchColorOverviewRuler: '#e0a93e',
};

export function matchColors(scheme: 'light' | 'dark'): MatchColors {
  return scheme === 'light' ? lightMatches : darkMatches;
}

/** Text and background come from the window's tokens, so that the log sits in the page. */
export function logTheme(scheme: 'light' | 'dark', element: Element): ITheme {
  const tokens = getComputedStyle(element);
  const background =
    tokens.getPropertyValue('--iris-bg').trim() || (scheme === 'light' ? '#ffffff' : '#1b1c20');
  const foreground =
    tokens.getPropertyValue('--iris-text').trim() || (scheme === 'light' ? '#1c1d21' : '#e4e5e9');
  const extendedAnsi: string[] = [];
  // Entry 255 alone is redefined; the list starts at entry 16.
  extendedAnsi[errorMarkColor - 16] = background;
  return {
    ...(scheme === 'light' ? light : dark),
    background,
    foreground,
    cursor: background,
    cursorAccent: background,
    extendedAnsi,
    scrollbarSliderBackground: tokens.getPropertyValue('--iris-line-strong').trim() || '#8888',
    overviewRulerBorder: background,
  };
}
