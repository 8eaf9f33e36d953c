/** An Electron application with a window and a thread, as the real one has: the thread measures, and this one notes whether it is held up. */
import { app, BrowserWindow } from 'electron';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RoundMessage, RoundPhase, RoundReport } from '../round-result.js';

const tickMs = 5;

const folder = process.env['BENCH_FOLDER'];
const out = process.env['BENCH_OUT'];
const thread = process.env['BENCH_THREAD'];
if (folder === undefined || out === undefined || thread === undefined)
  throw new Error('BENCH_FOLDER, BENCH_OUT and BENCH_THREAD are to be set.');

app.setPath('userData', path.join(folder, 'profile'));
void app.whenReady().then(async () => {
  const window = new BrowserWindow({ width: 1280, height: 800, autoHideMenuBar: true });
  await window.loadURL('data:text/html,<!doctype html><title>round</title>');
  measure(thread, out);
});

function measure(file: string, to: string): void {
  const longest: Partial<Record<RoundPhase, number>> = {};
  let phase: RoundPhase = 'load';
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    longest[phase] = Math.max(longest[phase] ?? 0, now - last - tickMs);
    last = now;
  }, tickMs);
  const worker = new Worker(file, { name: 'controller' });
  worker.on('message', (message: RoundMessage) => {
    if (message.kind === 'phase') {
      phase = message.phase;
      return;
    }
    const report: RoundReport = { result: message.result, longestBlockMs: longest };
    writeFileSync(to, JSON.stringify(report));
    app.exit(0);
  });
  worker.on('error', (error) => {
    writeFileSync(to, JSON.stringify({ error: error.stack ?? error.message }));
    app.exit(1);
  });
}
