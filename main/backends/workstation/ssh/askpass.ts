/**
 * What the SSH client runs to ask: `askpass FOLDER PROMPT`. Hands the prompt to whoever opened the folder, prints the answer and ends; with
 * exit code 1 when there is none.
 */
import { readFileSync, readdirSync, unlinkSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';

const [folder = '', prompt = ''] = process.argv.slice(2);

/** Whoever takes the file away has the token. */
function takeToken(): string | null {
  for (const name of readdirSync(folder).filter((file) => /^t\d+$/.test(file))) {
    const file = path.join(folder, name);
    try {
      const token = readFileSync(file, 'utf8');
      unlinkSync(file);
      return token;
    } catch {
      // Another question was quicker.
    }
  }
  return null;
}

function answerOf(text: string): string | null {
  try {
    const said: unknown = JSON.parse(text);
    const answer = typeof said === 'object' && said !== null && 'answer' in said ? said.answer : null;
    return typeof answer === 'string' ? answer : null;
  } catch {
    return null; // cut off
  }
}

function end(answer: string | null): void {
  if (answer === null) process.exit(1);
  process.stdout.write(`${answer}\n`, () => process.exit(0));
}

try {
  const token = takeToken();
  if (token === null) end(null);
  let text = '';
  const socket = net.connect(path.join(folder, 's'));
  socket.on('connect', () => {
    socket.write(`${JSON.stringify({ token, prompt, hint: process.env['SSH_ASKPASS_PROMPT'] ?? '' })}\n`);
  });
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.on('error', () => end(null));
  socket.on('end', () => end(answerOf(text)));
} catch {
  end(null); // the folder is gone: nobody asks any more
}
