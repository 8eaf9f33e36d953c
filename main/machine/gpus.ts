/** The graphics cards of this machine, through nvidia-smi. */
import { spawn } from 'node:child_process';
import { plainGpu, type GpuView } from '../../core/contract/gpus.js';
import type { NvidiaCard } from '../../core/formats/nvidia-smi/card.js';
import { parseNvidiaSmi } from '../../core/formats/nvidia-smi/xml.js';

/** A process that computes on a card; what only draws the desktop is none. */
export interface GpuProcess {
  /** Of the card. */
  readonly uuid: string;
  readonly pid: number;
  readonly name: string;
  readonly usedBytes: number | null;
}

export interface GpuReading {
  readonly gpus: readonly GpuView[];
  readonly processes: readonly GpuProcess[];
  /** Why there are none, or what is wrong with reading them; null when all is well. */
  readonly note: string | null;
}

export interface GpuReader {
  /** Answers within the time limit whatever the tool does; never rejects. */
  read(isOwn: (pid: number) => boolean): Promise<GpuReading>;
}

export interface GpuReaderOptions {
  readonly nowMs: () => number;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 10_000;
/** A machine without the tool is asked again this seldom: somebody may install a driver. */
const absentForMs = 60_000;
const maxOutputBytes = 16 * 1024 * 1024;

type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly reason: string };

export function createGpuReader(options: GpuReaderOptions): GpuReader {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  let cards: readonly GpuView[] = [];
  /** A call that was given up but still lives; a driver in trouble is not asked a second time. */
  let hanging: { readonly sinceMs: number } | null = null;
  let absentAtMs: number | null = null;
  let asking: Promise<Answer> | null = null;

  /** What was known stays listed, with no values and the reason. */
  function silent(reason: string): GpuReading {
    const gpus = cards.map((card) => ({
      ...card,
      utilizationPercent: null,
      memoryUsedBytes: null,
      temperatureCelsius: null,
      powerWatts: null,
      note: 'not answering',
    }));
    return { gpus, processes: [], note: reason };
  }

  function ask(): Promise<Answer> {
    return new Promise((resolve) => {
      const child = spawn(options.command ?? 'nvidia-smi', options.args ?? ['-q', '-x'], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, LC_ALL: 'C' },
      });
      const pieces: Buffer[] = [];
      let length = 0;
      const take = (piece: Buffer): void => {
        length += piece.length;
        if (length <= maxOutputBytes) pieces.push(piece);
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      const timer = setTimeout(() => {
        hanging = { sinceMs: options.nowMs() };
        child.kill('SIGKILL');
        // In the kernel's hands it may not even die: nothing of it may hold this program.
        child.unref();
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ kind: 'failed', reason: `nvidia-smi did not answer within ${timeoutMs / 1000} s` });
      }, timeoutMs);
      child.once('error', (error) => {
        clearTimeout(timer);
        hanging = null;
        const absent = 'code' in error && error.code === 'ENOENT';
        resolve(
          absent
            ? { kind: 'absent' }
            : { kind: 'failed', reason: `nvidia-smi could not be run: ${error.message}` },
        );
      });
      child.once('exit', () => {
        hanging = null;
      });
      child.once('close', () => {
        clearTimeout(timer);
        resolve({ kind: 'text', text: Buffer.concat(pieces).toString('utf8') });
      });
    });
  }

  return {
    read: async (isOwn) => {
      if (hanging !== null) {
        const seconds = Math.max(0, Math.round((options.nowMs() - hanging.sinceMs) / 1000));
        return silent(
          `nvidia-smi has not answered for ${seconds + Math.round(timeoutMs / 1000)} s; it is not asked again before it ends`,
        );
      }
      if (absentAtMs !== null && Math.abs(options.nowMs() - absentAtMs) < absentForMs) return absent;
      // Who asks meanwhile gets the same answer: a driver in trouble is asked once.
      asking ??= ask().finally(() => {
        asking = null;
      });
      const answer = await asking;
      absentAtMs = answer.kind === 'absent' ? options.nowMs() : null;
      if (answer.kind === 'absent') return absent;
      if (answer.kind === 'failed') return silent(answer.reason);
      const reading = parseNvidiaSmi(answer.text);
      if (!reading.ok) return silent(reading.reason);
      cards = reading.cards.map((card) => viewOf(card, isOwn));
      return {
        gpus: cards,
        processes: reading.cards.flatMap(processesOf),
        note: cards.length === 0 ? 'nvidia-smi lists no cards' : null,
      };
    },
  };
}

const absent: GpuReading = { gpus: [], processes: [], note: 'nvidia-smi is not installed' };

function processesOf(card: NvidiaCard): GpuProcess[] {
  return card.processes
    .filter(({ type }) => type.includes('C'))
    .map(({ pid, name, usedBytes }) => ({ uuid: card.uuid, pid, name, usedBytes }));
}

function viewOf(card: NvidiaCard, isOwn: (pid: number) => boolean): GpuView {
  return {
    ...plainGpu,
    processes: [],
    claimedBy: [],
    uuid: card.uuid,
    index: card.index,
    name: card.name,
    variant: card.variant,
    utilizationPercent: card.utilizationPercent,
    memoryUsedBytes: card.memoryUsedBytes,
    memoryTotalBytes: card.memoryTotalBytes,
    temperatureCelsius: card.temperatureCelsius,
    powerWatts: card.powerWatts,
    note: card.note,
    busyByOthers: processesOf(card).some(({ pid }) => !isOwn(pid)),
  };
}
