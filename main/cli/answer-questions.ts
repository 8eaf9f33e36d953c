/** While a command waits for a machine: what its SSH client asks is asked here, where there is a terminal. */
import type { Question } from '../../core/contract/questions.js';
import type { Connection } from './connection.js';
import type { Context } from './context.js';
import { printable } from './format.js';

/** Returns what ends it. Without a terminal nobody listens, and so nothing is asked. */
export function answerQuestions(
  context: Pick<Context, 'terminal' | 'output'>,
  connection: Connection,
  address: string,
  keep: boolean,
): () => void {
  const { terminal, output } = context;
  if (terminal === null) return () => undefined;
  let asking: { readonly id: string; readonly ended: AbortController } | null = null;

  const seen = (question: Question | null): void => {
    if (question?.id === asking?.id) return;
    asking?.ended.abort();
    asking = null;
    if (question === null) return;
    const ended = new AbortController();
    asking = { id: question.id, ended };
    void answer(question, ended.signal);
  };

  const answer = async (question: Question, signal: AbortSignal): Promise<void> => {
    if (question.wrongBefore) await output.note('that was not right.');
    const words = `${question.machine ?? question.address}: ${printable(question.text)} `;
    const text = await terminal.askHidden(words, signal);
    // Ended by somebody else: another window, or the machine.
    if (signal.aborted) return;
    const params = { questionId: question.id, answer: text, keep: keep && question.mayKeep };
    await connection.call('question.answer', params).catch((error: unknown) => output.note(String(error)));
  };

  const stop = connection.subscribe(
    'questions',
    { address },
    {
      snapshot: ({ question }) => seen(question),
      delta: ({ question }) => seen(question),
      ended: () => seen(null),
    },
  );
  return () => {
    seen(null);
    stop();
  };
}
