/** Requests of the page to main: sender check, parse, then the handler; anything else is an answer with a code and a log line. */
import { ipcMain } from 'electron';
import { RefusalError } from '../../core/contract/errors.js';
import type { Answer } from './channels.js';
import { requestSchemas, type RequestChannel, type RequestParameters } from './requests.js';
import { senderFault, type SenderRule } from './sender.js';

export type RequestHandlers = {
  readonly [C in RequestChannel]: (...parameters: RequestParameters<C>) => unknown;
};

/** Returns the function that takes the handlers away again. */
export function handleRequests(
  handlers: RequestHandlers,
  rule: SenderRule,
  log: (line: string) => void,
): () => void {
  const registered: RequestChannel[] = [];
  function handle<C extends RequestChannel>(channel: C): void {
    // One handler's parameters are what its own schema gives; TypeScript cannot follow that through the index.
    const handler = handlers[channel] as (...parameters: readonly unknown[]) => unknown;
    ipcMain.handle(channel, async (event, ...parameters: unknown[]): Promise<Answer> => {
      const fault = senderFault(event, rule);
      if (fault !== null) {
        log(`Refused ${channel} from ${fault}.`);
        return { ok: false, code: 'PERMISSION_DENIED', message: 'This page may not ask that.' };
      }
      const parsed = requestSchemas[channel].safeParse(parameters);
      if (!parsed.success) {
        const issue = parsed.error.issues[0];
        const where = issue === undefined || issue.path.length === 0 ? 'parameters' : issue.path.join('.');
        log(`Refused ${channel}: ${where}: ${issue?.message ?? 'not valid'}.`);
        return {
          ok: false,
          code: 'INVALID_ARGUMENT',
          message: `${channel}: ${where}: ${issue?.message ?? 'not valid'}.`,
        };
      }
      try {
        return { ok: true, value: await handler(...parsed.data) };
      } catch (error) {
        log(`${channel} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        const code = error instanceof RefusalError ? error.refusal.code : 'INTERNAL';
        return { ok: false, code, message: error instanceof Error ? error.message : String(error) };
      }
    });
    registered.push(channel);
  }
  for (const channel of Object.keys(requestSchemas) as RequestChannel[]) handle(channel);
  return () => {
    for (const channel of registered) ipcMain.removeHandler(channel);
  };
}
