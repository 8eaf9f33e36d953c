/** Names of slices, which only the list of cards tells. Under another name one that somebody has could be given out once more. */
import type { NvidiaCard } from '../../core/formats/nvidia-smi/card.js';
import { parseCardsList, type ListedCard } from '../../core/formats/nvidia-smi/cards-list.js';
import { failureSentence, lostCardOf } from '../../core/formats/nvidia-smi/failures.js';
import type { CardsTool } from './nvidia-tool.js';

export class SliceNames {
  private known: readonly ListedCard[] = [];

  listed(): readonly ListedCard[] {
    return this.known;
  }

  /** Null; or why slices of these cannot be named. */
  async look(tool: CardsTool, cards: readonly NvidiaCard[]): Promise<string | null> {
    const divided = cards.filter(({ slices }) => slices.length > 0);
    if (divided.length === 0) return null;
    const answer = await tool.run(['-L']);
    if (answer.kind !== 'text') return answer.kind === 'failed' ? answer.reason : null;
    const listed = parseCardsList(answer.text);
    const isTold = listed.length > 0 || answer.text.trim() === '';
    if (isTold && lostCardOf(answer.text) === null) {
      this.known = listed;
      return null;
    }
    // While one card is lost it need not tell of the others: they go by the names they had.
    this.known = [...listed, ...this.known.filter(({ uuid }) => listed.every((card) => card.uuid !== uuid))];
    return divided.every(({ uuid, note }) => note === 'lost' || this.known.some((card) => card.uuid === uuid))
      ? null
      : failureSentence(answer.text);
  }
}
