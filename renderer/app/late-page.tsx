/**
 * A page whose code is not part of the first script: the window starts on Jobs, and what it does not show then would only make it
 * read longer. React's own lazy would hold each such page back for a third of a second after its empty fallback.
 */
import { useEffect, useSyncExternalStore, type ComponentType } from 'react';

export interface LatePage<P> {
  readonly Page: ComponentType<P>;
  /** Fetches the code ahead of need. */
  readonly prepare: () => void;
}

type Code<P> =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'there'; readonly Page: ComponentType<P> }
  | { readonly kind: 'failed'; readonly error: unknown };

export function latePage<P extends object>(load: () => Promise<ComponentType<P>>): LatePage<P> {
  let code: Code<P> = { kind: 'unknown' };
  let loading = false;
  const listeners = new Set<() => void>();

  function settle(next: Code<P>): void {
    code = next;
    loading = false;
    for (const listener of [...listeners]) listener();
  }

  function prepare(): void {
    if (loading || code.kind === 'there') return;
    loading = true;
    load().then(
      (Page) => {
        settle({ kind: 'there', Page });
      },
      (error: unknown) => {
        settle({ kind: 'failed', error });
      },
    );
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  function Page(props: P) {
    const now = useSyncExternalStore(subscribe, () => code);
    useEffect(prepare, []);
    // The page's own boundary says so and offers to try again.
    if (now.kind === 'failed') throw now.error;
    return now.kind === 'there' ? <now.Page {...props} /> : null;
  }

  return { Page, prepare };
}
