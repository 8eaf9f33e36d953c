/** What was dropped on the window and waits for the form that takes it. */
import type { DesktopBridge } from './bridge.js';
import { createStore } from './store.js';

export interface Dropped {
  readonly path: string;
  readonly isFolder: boolean;
  readonly file: File;
  /** How many were dropped with it: the form takes one. */
  readonly others: number;
}

export const dropped = createStore<Dropped | null>(null);

/** Takes what is dropped anywhere on the window; returns what ends it. */
export function takeDrops(bridge: DesktopBridge, onDrop: () => void): () => void {
  const over = (event: DragEvent) => {
    if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    const path = bridge.readDroppedPath(file);
    if (path === null) return;
    const isFolder = event.dataTransfer?.items[0]?.webkitGetAsEntry()?.isDirectory ?? false;
    dropped.set({ path, isFolder, file, others: (event.dataTransfer?.files.length ?? 1) - 1 });
    onDrop();
  };
  window.addEventListener('dragover', over);
  window.addEventListener('drop', drop);
  return () => {
    window.removeEventListener('dragover', over);
    window.removeEventListener('drop', drop);
  };
}
