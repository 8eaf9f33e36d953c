/** Somebody who answers what SSH clients ask, as a test says. */
import path from 'node:path';
import type { Question } from '../../core/contract/questions.js';
import { AskDesk } from '../../main/backends/workstation/ssh/ask-desk.js';
import { eventually } from './process-backend.js';

export class Answerer {
  /** What was asked, in order. */
  readonly asked: Question[] = [];
  readonly desk: AskDesk;
  private current: Question | null = null;

  constructor(limitMs?: number) {
    this.desk = new AskDesk({
      nowMs: () => Date.now(),
      helperFile: () => path.resolve(import.meta.dirname, '..', '..', 'out', 'main', 'askpass.js'),
      limitMs,
      onChange: () => {
        const question = this.desk.open(null);
        if (question !== null && question.id !== this.current?.id) this.asked.push(question);
        this.current = question;
      },
    });
  }

  /** The question that is open once so many were asked. */
  async question(count: number): Promise<Question> {
    await eventually(() => this.current !== null && this.asked.length >= count, `question ${count} is asked`);
    const question = this.asked[count - 1];
    if (question === undefined || this.current?.id !== question.id)
      throw new Error(`question ${count} is not the open one`);
    return question;
  }

  async answer(count: number, text: string | null, keep = false): Promise<Question> {
    const question = await this.question(count);
    this.desk.answer(question.id, text, keep);
    return question;
  }
}
