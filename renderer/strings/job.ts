/** Strings of the Job page and the log view. */
import { formatSize } from '../../core/formats/sizes.js';
import { formatCount } from './common.js';

export const log = {
  region: 'Log',
  keysTitle: 'Log',
  both: 'Both',
  out: 'stdout',
  err: 'stderr',
  streams: 'Which output is shown',
  errLegend: 'stderr',
  follow: 'Follow',
  following: 'Following the end',
  keyFollow: 'Follow the end of the log',
  find: 'Find',
  keyFind: 'Find in the log',
  copy: 'Copy',
  copySelection: 'Copy selection',
  copied: 'Copied.',
  copyFailed: 'The text could not be copied.',
  save: 'Save',
  saveHint: 'Save the whole log to a file',
  saved: (path: string): string => `Saved to ${path}.`,
  saveFailed: (reason: string): string => `The log was not saved: ${reason}`,
  more: 'More',
  screenReader: 'Text for screen readers',
  earlier: (bytes: number): string => `${formatSize(bytes)} before this`,
  loadEarlier: 'Load earlier',
  newer: (bytes: number): string => `${formatSize(bytes)} newer`,
  paused: 'Paused while you read',
  jumpToEnd: 'Jump to end',
  gap: (bytes: number): string =>
    `··· ${formatSize(bytes)} not shown here: printed faster than it can be read. Save keeps all of it. ···`,
  emptyRunning: 'Nothing printed yet',
  emptyRunningBody: 'What the command prints appears here as it comes.',
  emptyEnded: 'Nothing was printed',
  emptyEndedBody: 'The command ended without printing a line.',
  emptyStream: (stream: string, other: string): string =>
    `Nothing on ${stream}. There is output on ${other}.`,
  showOther: (other: string): string => `Show ${other}`,
  what: 'The log',
  sizes: (out: number, err: number): string => `stdout ${formatSize(out)}, stderr ${formatSize(err)}`,
  whole: 'Complete',
  findField: 'Find in what is shown',
  findPlaceholder: 'Find in the log',
  findNext: 'Next match',
  findPrevious: 'Previous match',
  findClose: 'Close find',
  matchCase: 'Match case',
  matchOf: (index: number, total: number, more: boolean): string =>
    index === 0
      ? `${formatCount(total)}${more ? '+' : ''} matches`
      : `${formatCount(index)} of ${formatCount(total)}${more ? '+' : ''}`,
  noMatch: 'No match here',
  findInFile: 'Whole log',
  findInFileHint: 'Search everything that was printed, also what is not shown',
  searchingFile: 'Searching the whole log',
  fileMatches: (count: number, more: boolean): string =>
    count === 0
      ? 'No line of the whole log holds this text.'
      : `${formatCount(count)}${more ? ' or more' : ''} ${count === 1 ? 'line' : 'lines'} in the whole log`,
  searchMore: 'Search further',
  closeMatches: 'Close the list',
} as const;

export const job = {
  title: 'Job',
} as const;
