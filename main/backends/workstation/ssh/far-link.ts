/** One connection to one machine: its SSH client, which is also the master others share, and the far hand at its other end. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { rmSync } from 'node:fs';
import { perlFromInput } from '../perl-from-input.js';
import { messageOf } from '../process/error-code.js';
import { formatSshAddress } from './address.js';
import farClaimsText from './far-claims.pl?raw';
import type { Asking } from './asking.js';
import farHandText from './far-hand.pl?raw';
import { farFrame, FarWords, type FarText, type FarWord } from './far-words.js';
import {
  endWhole,
  newSocket,
  sshArgs,
  sshEnvironment,
  sshProgram,
  type SshCommandOptions,
} from './ssh-command.js';
import { clientFailure, silentFailure, sshFailure, type SshFailure } from './ssh-failure.js';

export interface FarLinkOptions {
  readonly ssh: SshCommandOptions;
  /** Its name; null: it is only looked at. */
  readonly machine?: string | null | undefined;
  /** Null: nobody can be asked anything. */
  readonly asking?: Asking | null | undefined;
  readonly socketFolder: string;
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** Until the hand's first word. */
  readonly helloWithinMs: number;
  /** It is asked so often, and given up when it has said nothing for so long. */
  readonly pingEveryMs: number;
  readonly silentAfterMs: number;
  readonly onWord: (word: FarWord) => void;
  /** `clock`: how far the machine's clock is ahead; from the answer that was quickest lately. */
  readonly onContact: (clockSkewMs: number | null) => void;
  /** Told once, and nothing after it. */
  readonly onLost: (failure: SshFailure) => void;
}

export interface FarLink {
  /** Path of the control socket. */
  readonly socket: string;
  send(...texts: readonly FarText[]): void;
  close(): Promise<void>;
}

/** What would be asked for has nobody to answer it. */
function loginFailure(failure: SshFailure, host: string, machine: string | null = null): SshFailure {
  const where =
    machine === null
      ? 'check it from a terminal or the window'
      : `irisctl machine connect ${machine} on a terminal, or the window`;
  return {
    ...failure,
    unanswered: 'nobody',
    advice: `Set up a key once: ssh-copy-id ${host}. A key with a passphrase must be in the agent (ssh-add), or be asked for: ${where}.`,
  };
}

const leaveMs = 1000;
const mostErrorText = 8192;
/** A skew is measured no better than half of the round trip: the quickest of so many counts. */
const skewSamples = 8;
const indistinctMs = 50;

export function openFarLink(options: FarLinkOptions): FarLink {
  const { monotonicMs, asking = null } = options;
  const ssh: SshCommandOptions = { ...options.ssh, asking };
  const socket = newSocket(options.socketFolder);
  const host = formatSshAddress(ssh.address).replace(/^ssh:\/\//, '');
  const hand = Buffer.from(farClaimsText + farHandText);
  const words = new FarWords();
  const pings = new Map<number, { readonly sentMs: number; readonly sentAtMs: number }>();
  const skews: { readonly tripMs: number; readonly skewMs: number }[] = [];
  let nextPing = 0;
  let heardMs = monotonicMs();
  /** Looks since something was heard. A thread that was kept busy, or asleep, has not looked, and so has missed nothing. */
  let quietLooks = 0;
  let spoke = false;
  let over = false;
  let errorText = '';

  const child: ChildProcessWithoutNullStreams = spawn(
    sshProgram(ssh.client),
    sshArgs(ssh, { socket, master: true }, perlFromInput(hand.length)),
    { stdio: 'pipe', detached: true, env: sshEnvironment(ssh) },
  );

  function lost(failure: SshFailure): void {
    if (over) return;
    const judged = spoke ? failure : judgedLogin(failure);
    finish();
    endWhole(child);
    options.onLost(judged);
  }

  function judgedLogin(failure: SshFailure): SshFailure {
    if (asking !== null) return asking.judge(failure);
    return failure.kind === 'login' ? loginFailure(failure, host, options.machine) : failure;
  }

  function finish(): void {
    over = true;
    clearInterval(timer);
    asking?.close();
    rmSync(socket, { force: true });
  }

  const silent = (what: string): SshFailure => ({
    kind: 'silent',
    message: `${host} ${what}.`,
    advice: 'Is it on and connected to this network?',
    isPassing: true,
  });

  if (asking !== null)
    asking.stop = () =>
      lost({
        kind: 'login',
        unanswered: 'nobody',
        message: `${host} asks for something, and nobody is there to answer.`,
        advice: asking.advice,
      });

  // What has arrived is read first.
  const timer = setInterval(() => setImmediate(look), options.pingEveryMs);
  timer.unref();

  function look(): void {
    if (over) return;
    if (asking?.isOpen === true) heard();
    else quietLooks += 1;
    const quietMs = quietLooks * options.pingEveryMs;
    if (!spoke) {
      if (quietMs >= options.helloWithinMs) lost(silentFailure(host, options.helloWithinMs));
      return;
    }
    if (quietMs >= options.silentAfterMs) {
      lost(silent(`has said nothing for ${Math.round((monotonicMs() - heardMs) / 1000)} s`));
      return;
    }
    ping();
  }

  function heard(): void {
    heardMs = monotonicMs();
    quietLooks = 0;
  }

  function ping(): void {
    pings.set(nextPing, { sentMs: monotonicMs(), sentAtMs: options.nowMs() });
    send('ping', String(nextPing));
    nextPing += 1;
  }

  function send(...texts: readonly FarText[]): void {
    if (!over) child.stdin.write(farFrame(texts));
  }

  function pong(word: FarWord): void {
    const asked = pings.get(word.number(0) ?? -1);
    const theirs = word.number(1);
    if (asked === undefined || theirs === null) return;
    pings.delete(word.number(0) ?? -1);
    const tripMs = monotonicMs() - asked.sentMs;
    skews.push({ tripMs, skewMs: Math.round(theirs - (asked.sentAtMs + tripMs / 2)) });
    if (skews.length > skewSamples) skews.shift();
  }

  function skew(): number | null {
    const best = skews.reduce<(typeof skews)[number] | null>(
      (found, one) => (found === null || one.tripMs < found.tripMs ? one : found),
      null,
    );
    if (best === null) return null;
    // Less than what can be told apart is none: clocks that are kept agree better than this is measured.
    return Math.abs(best.skewMs) <= best.tripMs / 2 + indistinctMs ? 0 : best.skewMs;
  }

  /** Asked anew after each word. */
  const isOver = (): boolean => over;

  function take(word: FarWord): void {
    if (word.kind === 'hello') {
      spoke = true;
      // What was said of a wrong answer before the right one explains no later end.
      errorText = '';
      asking?.succeeded();
      ping();
    }
    if (word.kind === 'pong') {
      pong(word);
      options.onContact(skew());
    } else options.onWord(word);
  }

  child.stdout.on('data', (piece: Buffer) => {
    if (over) return;
    let said: readonly FarWord[];
    try {
      said = words.push(piece);
    } catch (error) {
      lost({ kind: 'shell', message: `${host}: ${messageOf(error)}.`, advice: `Try: ssh ${host} true.` });
      return;
    }
    heard();
    for (const word of said) {
      // The one before may have been the last that counts.
      if (isOver()) return;
      try {
        take(word);
      } catch (error) {
        // A fault here, as of a full disk, costs this connection; what depends on it is looked at anew with the next.
        const message = `What ${host} said could not be dealt with here: ${messageOf(error)}.`;
        lost({ kind: 'other', message, advice: 'It is tried again by itself; tasks there go on meanwhile.' });
      }
    }
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorText = (errorText + text).slice(-mostErrorText);
  });
  // Followed by its end.
  child.stdin.on('error', () => undefined);
  child.on('error', (error) => {
    lost(clientFailure(sshProgram(ssh.client), messageOf(error)));
  });
  child.on('close', (code, signal) => {
    if (over) return;
    if (spoke && code !== 255) {
      const how = signal ?? `exit code ${code ?? 'unknown'}`;
      const words_ = errorText.trim().split('\n').at(-1) ?? '';
      lost({
        kind: 'cut',
        message: `What watches over the tasks on ${host} ended (${how}${words_ === '' ? '' : `: ${words_}`}).`,
        advice: 'It is started again by itself; tasks there go on meanwhile.',
      });
      return;
    }
    lost(sshFailure(host, code, errorText, words.noise()));
  });
  child.stdin.write(hand);

  return {
    socket,
    send,
    close: () => {
      if (over || child.exitCode !== null || child.signalCode !== null) {
        if (!over) finish();
        return Promise.resolve();
      }
      finish();
      return new Promise((resolve) => {
        const force = setTimeout(() => endWhole(child), leaveMs);
        child.once('close', () => {
          clearTimeout(force);
          resolve();
        });
        child.stdin.end();
        // With others on its connection a master does not leave by itself.
        child.kill('SIGTERM');
      });
    },
  };
}
