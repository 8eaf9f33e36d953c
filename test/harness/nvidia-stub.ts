/** A stand-in nvidia-smi that replays captures; what it answers can be changed while it is used. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const captures = path.resolve(import.meta.dirname, '../fixtures/nvidia-smi');

export const capture = (name: string): string => readFileSync(path.join(captures, name), 'utf8');

/** `all` answers whatever has no answer of its own; with a file `hang` it ignores signals and never answers, with `slow` it answers once that is gone. */
const script = (folder: string) => `#!/bin/sh
d='${folder}'
echo "$*" >>"$d/calls"
stuck() { trap '' TERM INT HUP; while [ -e "$d/hang" ]; do sleep 0.05; done; exit 1; }
[ -e "$d/hang" ] && stuck
while [ -e "$d/slow" ]; do sleep 0.05; done
say() { if [ -e "$d/$1" ]; then cat "$d/$1"; else cat "$d/all"; fi; }
case "$*" in
  *--loop-ms=*) while [ -e "$d/loop" ]; do [ -e "$d/hang" ] && stuck; cat "$d/loop" 2>/dev/null; sleep 0.05; done ;;
  "-q -x -i "*) id=$(echo "$4" | tr : _); while [ -e "$d/hang-$id" ]; do sleep 0.05; done; if [ -e "$d/card-$id" ]; then cat "$d/card-$id"; else say missing; exit 15; fi ;;
  "-L") while [ -e "$d/hang-list" ]; do sleep 0.05; done; [ -e "$d/list" ] && cat "$d/list" ;;
  "topo -m") while [ -e "$d/hang-topo" ]; do sleep 0.05; done; [ -e "$d/topo" ] && cat "$d/topo" ;;
  --query-compute-apps*) [ -e "$d/apps" ] && cat "$d/apps" ;;
  --query-gpu*) [ -e "$d/query" ] && cat "$d/query" ;;
  *) say all; [ -e "$d/fails" ] && exit 15; exit 0 ;;
esac
`;

type Answer = 'all' | 'missing' | 'list' | 'topo' | 'apps' | 'query' | 'loop' | 'hang' | 'slow' | 'fails';

export class NvidiaStub {
  readonly folder = mkdtempSync(path.join(os.tmpdir(), 'iris-nvidia-'));
  /** Named as the real one, so that its folder can be put on PATH. */
  readonly command = path.join(this.folder, 'nvidia-smi');

  constructor(name: string) {
    writeFileSync(this.command, script(this.folder));
    chmodSync(this.command, 0o755);
    chmodSync(this.folder, 0o755);
    this.show(capture(name));
  }

  /** The whole description, and each card of it when asked for alone. */
  show(text: string): void {
    this.put('all', text);
    for (const { busId, alone } of cardsIn(text)) this.putCard(busId, alone);
  }

  put(answer: Answer, text: string): void {
    this.write(answer, text);
  }

  /** What it answers when asked for that card alone, by address or number. */
  putCard(id: string, text: string): void {
    this.write(`card-${id.replaceAll(':', '_')}`, text);
  }

  /** It answers nothing when asked for that card alone. */
  hangCard(id: string): void {
    this.write(`hang-${id.replaceAll(':', '_')}`, '');
  }

  /** The list, or how cards are joined, is not told. */
  hangAt(answer: 'list' | 'topo', on: boolean): void {
    if (on) this.write(`hang-${answer}`, '');
    else this.remove(`hang-${answer}`);
  }

  take(answer: Answer): void {
    this.remove(answer);
  }

  /** These compute on the card at that place of the bus, and no others. */
  compute(busId: string, ...pids: readonly (number | undefined)[]): void {
    const processes = pids.map(
      (pid) =>
        `<process_info><pid>${pid}</pid><type>C</type><process_name>python train.py</process_name><used_memory>7 MiB</used_memory></process_info>`,
    );
    const [before = '', of = '', ...rest] = this.answer('all').split(new RegExp(`(?=<gpu id="${busId})`));
    const shown = `<processes>${processes.join('')}</processes>`;
    this.show([before, of.replace(/<processes>[\s\S]*?<\/processes>/, shown), ...rest].join(''));
  }

  /** From now on the tool tells nothing but that this card is lost, except of the others by name. */
  lose(busId: string): void {
    const text = `Unable to determine the device handle for GPU${busId.slice(4)}: Unknown Error\n`;
    rmSync(path.join(this.folder, `card-${busId.replaceAll(':', '_')}`), { force: true });
    this.put('fails', '');
    this.put('missing', text);
    this.put('all', text);
  }

  answer(name: Answer): string {
    return readFileSync(path.join(this.folder, name), 'utf8');
  }

  calls(): string[] {
    const file = path.join(this.folder, 'calls');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  dispose(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private remove(name: string): void {
    rmSync(path.join(this.folder, name), { force: true });
  }

  private write(name: string, text: string): void {
    const file = path.join(this.folder, name);
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
}

function cardsIn(text: string): { busId: string; alone: string }[] {
  const first = text.indexOf('<gpu id=');
  if (first < 0) return [];
  const head = text.slice(0, first);
  return [...text.matchAll(/<gpu id="([^"]+)">[\s\S]*?<\/gpu>/g)].map(([whole, busId = '']) => ({
    busId,
    alone: `${head}${whole}\n</nvidia_smi_log>\n`,
  }));
}
