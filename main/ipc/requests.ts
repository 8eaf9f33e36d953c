/** What the page may ask of main, as schemas. Surplus parameters and fields are refused. */
import { z } from 'zod';
import {
  closingAnswerSchema,
  desktopSettingsChangeSchema,
  logStreamChoices,
} from '../../core/contract/desktop-bridge.js';
import { channels } from './channels.js';

const path = z
  .string()
  .max(4096)
  .refine((value) => !value.includes('\0'));

/** Parameters of each request, by channel. */
export const requestSchemas = {
  [channels.pickFolder]: z.tuple([path.nullable()]),
  [channels.saveText]: z.tuple([
    // A job's name may have 255 characters, and something is put behind it.
    z.string().min(1).max(1024),
    z.string().regex(/^[0-9a-f]{16}$/),
    z.enum(logStreamChoices),
  ]),
  [channels.info]: z.tuple([]),
  [channels.answerClosing]: z.tuple([closingAnswerSchema]),
  [channels.getSettings]: z.tuple([]),
  [channels.setSettings]: z.tuple([desktopSettingsChangeSchema]),
} as const;

export type RequestChannel = keyof typeof requestSchemas;
export type RequestParameters<C extends RequestChannel> = z.output<(typeof requestSchemas)[C]>;
