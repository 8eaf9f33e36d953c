/** While somebody listens: how fetches of images go on every machine, and that images came or went. */
import type { ImageNews } from '../../core/contract/machines.js';
import type { Backend, ImageControl, ImageNewsKind } from '../backends/backend.js';

export class ImageWatch {
  private readonly watched = new Map<ImageControl, () => void>();
  private changes = 0;
  private cacheChanges = 0;
  private listening = false;

  constructor(
    private readonly backend: Pick<Backend, 'observe' | 'images'>,
    private readonly changed: () => void,
  ) {}

  listen(on: boolean): void {
    this.listening = on;
    this.machinesChanged();
  }

  /** A machine came, went, or found its Docker. */
  machinesChanged(): void {
    const controls = new Set(this.listening ? this.controls() : []);
    for (const [control, end] of this.watched) {
      if (controls.has(control)) continue;
      end();
      this.watched.delete(control);
      this.told('images');
    }
    for (const control of controls)
      if (!this.watched.has(control))
        this.watched.set(
          control,
          control.watch((what) => this.told(what)),
        );
  }

  news(): ImageNews {
    const pulls = this.controls().flatMap((control) => [...control.pulls()]);
    return { changes: this.changes, cacheChanges: this.cacheChanges, pulls };
  }

  private told(what: ImageNewsKind): void {
    if (what === 'images') this.changes += 1;
    else if (what === 'caches') this.cacheChanges += 1;
    if (this.listening) this.changed();
  }

  private controls(): readonly ImageControl[] {
    return this.backend.observe().flatMap(({ id }) => this.backend.images?.(id) ?? []);
  }
}
