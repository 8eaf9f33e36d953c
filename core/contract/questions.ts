/** What the SSH client asks on the way to a machine: passphrases, passwords, codes. Answers are never kept on a disk nor told to anybody. */
import { z } from 'zod';

export const questionSchema = z.strictObject({
  id: z.string(),
  /** Its name; null: it is only looked at. */
  machine: z.string().nullable(),
  /** `ssh://[user@]host[:port]` */
  address: z.string(),
  /** passphrase: of a key here; password: of the login there; code: what the machine itself asks; notice: a key waits for a touch. */
  kind: z.enum(['passphrase', 'password', 'code', 'notice']),
  /** The key's file, or `user@host`. */
  subject: z.string(),
  /** In the words of the SSH client or, of a code, of the machine. */
  text: z.string(),
  /** The answer may be kept in memory, so that it is not asked for again. */
  mayKeep: z.boolean(),
  /** The answer before this was not right. */
  wrongBefore: z.boolean(),
  /** Given up at that time. */
  expiresAtMs: z.number().int(),
});
export type Question = z.infer<typeof questionSchema>;

/** One at a time: the others wait for their turn. */
export const openQuestionSchema = z.strictObject({ question: questionSchema.nullable() });

export const longestAnswer = 1024;
