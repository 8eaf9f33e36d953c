/** `debug record` and `debug replay`: rounds of the scheduler written down, and decided again. */
import { createReadStream } from 'node:fs';
import { constants, createGunzip } from 'node:zlib';
import { InvalidArgumentError, type Command } from 'commander';
import { RefusalError, refusal } from '../../../core/contract/errors.js';
import { RoundDecoder } from '../../../core/scheduling/record.js';
import { differences, replay } from '../../../core/scheduling/replay.js';
import type { Context } from '../context.js';
import { exitCodes } from '../exit-codes.js';
import { isoTime } from '../format.js';

type Act = (work: () => Promise<number>) => () => Promise<void>;

export function addDebugCommands(program: Command, context: Context, act: Act): void {
  const debug = program.command('debug').description('look into the scheduler');
  debug
    .command('record <SWITCH>')
    .description('write each round to a file (on), or end that (off)')
    .action((word: string) => act(() => recordCommand(context, switchOf(word)))());
  debug
    .command('replay <FILE>')
    .description('decide recorded rounds again; exit code 1 when one comes out differently')
    .action((file: string) => act(() => replayCommand(context, file))());
}

async function recordCommand(context: Context, on: boolean): Promise<number> {
  const { path } = await context.link.persist((connection) => connection.call('debug.record', { on }));
  if (context.output.json) await context.output.value({ path });
  else await context.output.text(path === null ? 'Rounds are not recorded.\n' : `${path}\n`);
  return exitCodes.ok;
}

async function replayCommand(context: Context, file: string): Promise<number> {
  const decoder = new RoundDecoder();
  const differ: { round: number; nowMs: number; parts: readonly string[] }[] = [];
  let rounds = 0;
  for await (const line of linesOf(file)) {
    const { input, decision } = decoded(decoder, line, file);
    rounds += 1;
    const parts = differences(replay(input), decision);
    if (parts.length > 0) differ.push({ round: rounds, nowMs: input.nowMs, parts });
  }
  const { output } = context;
  if (output.json) await output.value({ rounds, differ });
  else {
    for (const { round, nowMs, parts } of differ)
      await output.text(`round ${round} (${isoTime(nowMs)}): ${parts.join(', ')} differ\n`);
    await output.text(`${rounds} rounds decided again, ${differ.length} came out differently.\n`);
  }
  return differ.length > 0 ? exitCodes.differs : exitCodes.ok;
}

function decoded(decoder: RoundDecoder, line: string, file: string): ReturnType<RoundDecoder['decode']> {
  try {
    return decoder.decode(line);
  } catch (error) {
    throw noRecord(file, error);
  }
}

function noRecord(file: string, error: unknown): RefusalError {
  const reason = (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
  return new RefusalError(
    refusal('INVALID_ARGUMENT', `${file} is no record of rounds that can be read: ${reason}.`),
  );
}

/** Whole lines of a record; of one whose host was killed those that reached the file. */
async function* linesOf(file: string): AsyncGenerator<string> {
  try {
    // The end of the stream may be missing: what is there is given.
    const gunzip = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
    const source = createReadStream(file);
    source.on('error', (error) => gunzip.destroy(error));
    let rest = '';
    for await (const part of source.pipe(gunzip).setEncoding('utf8')) {
      const lines = `${rest}${String(part)}`.split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    throw noRecord(file, error);
  }
}

function switchOf(word: string): boolean {
  if (word === 'on' || word === 'off') return word === 'on';
  throw new InvalidArgumentError(`${word} is no switch; expected on or off.`);
}
