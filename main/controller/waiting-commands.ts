/** Commands that wait for their round, with who waits for them. */
import { RefusalError, refusal, type Refusal, type Result } from '../../core/contract/errors.js';
import type { Command } from './round.js';

export interface Waiting {
  readonly command: Command;
  resolve(answer: unknown): void;
  reject(error: RefusalError): void;
}

/** By their place. */
export function answerAll(waiting: readonly Waiting[], answers: readonly Result<unknown>[]): void {
  for (const [index, entry] of waiting.entries()) {
    const answer = answers[index];
    if (answer === undefined)
      entry.reject(new RefusalError(refusal('INTERNAL', 'The command was not answered.')));
    else if (answer.ok) entry.resolve(answer.value);
    else entry.reject(new RefusalError(answer.refusal));
  }
}

export function refuseAll(waiting: readonly Waiting[], reason: Refusal): void {
  for (const entry of waiting) entry.reject(new RefusalError(reason));
}
