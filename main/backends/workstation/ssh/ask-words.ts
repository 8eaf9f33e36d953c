/** What the SSH client's prompts ask for. Pure. */
import type { Question } from '../../../../core/contract/questions.js';

/** What is to be asked of somebody. */
export type Asked = Pick<Question, 'kind' | 'subject' | 'text'>;

const longestText = 500;

/**
 * Null: nobody is asked, and the client is answered nothing. So it is with every question that is answered by yes or no: above all
 * whether an unknown host key is right, which is never decided in passing. `hint` is what the client says of the kind of its question.
 */
export function askedBy(prompt: string, hint: string): Asked | null {
  const text = prompt
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, longestText);
  if (hint === 'none') return { kind: 'notice', subject: '', text };
  if (hint !== '' || isYesOrNo(text)) return null;
  // Who asks is told in front of what a machine itself asks, so that none can ask for the passphrase of a key here.
  const theirs = /^\(([^()\s]+@[^()\s]+)\) (.*)$/.exec(text);
  if (theirs !== null) return { kind: 'code', subject: theirs[1] ?? '', text };
  const key = /^Enter passphrase for (?:key |RSA key )?'?(.+?)'?: ?$/.exec(text);
  if (key !== null) return { kind: 'passphrase', subject: key[1] ?? '', text };
  const password = /^(\S+@\S+)'s password: ?$/.exec(text);
  if (password !== null) return { kind: 'password', subject: password[1] ?? '', text };
  return text === '' ? null : { kind: 'code', subject: '', text };
}

function isYesOrNo(text: string): boolean {
  return /\byes\b.*\bno\b|\[y\/n\]|\(y\/n\)|type 'yes'|continue connecting|authenticity of host/i.test(text);
}

/** Before 8.5 a machine's own questions could not be told from the client's, so nothing is answered from memory there. */
export function tellsWhoAsks(version: string): boolean {
  const [, major = '0', minor = '0'] = /OpenSSH_(?:for_Windows_)?(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(major) > 8 || (Number(major) === 8 && Number(minor) >= 5);
}
