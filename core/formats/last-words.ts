/** What a task said last, as a part of the sentence that tells how it ended. */
const mark = ' It said last: ';

/** `last`: a line of its own text; null: there is none. */
export function withLastWords(sentence: string, last: string | null): string {
  return last === null ? sentence : `${sentence}${mark}${last}`;
}

/** Where the lines themselves are shown beside it. */
export function withoutLastWords(message: string): string {
  const at = message.indexOf(mark);
  return at < 0 ? message : message.slice(0, at);
}

/** That line need be no sentence, and another follows. */
export function ended(message: string): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}
