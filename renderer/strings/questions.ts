/** Strings of what the SSH client asks on the way to a machine. */
import type { Question } from '../../core/contract/questions.js';

const fields: Readonly<Record<Question['kind'], string>> = {
  passphrase: 'Passphrase',
  password: 'Password',
  code: 'Answer',
  notice: '',
};

export const questions = {
  title: ({ machine, address }: Question): string => `Log in to ${machine ?? address}`,
  body: ({ kind, subject, machine, address }: Question): string => {
    const where = machine === null ? address : `${machine} (${address})`;
    if (kind === 'passphrase')
      return `The key ${subject} is used to log in to ${where}. It needs its passphrase.`;
    if (kind === 'password') return `${where} asks for the password of ${subject}.`;
    return kind === 'code' ? `${where} itself asks:` : `On the way to ${where}:`;
  },
  field: ({ kind }: Question): string => fields[kind],
  wrongBefore: 'That was not right.',
  keep: 'Keep it in memory until the controller ends',
  keepHint: 'It is never written down. Without this you are asked again when the connection is lost.',
  answer: 'Log in',
} as const;
