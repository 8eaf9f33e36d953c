/**
 * Audit rows, newest first, read a page at a time. What is new is asked for when the controller tells that something changed, at most
 * every two seconds; rows never change, so what was read stays.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Refusal } from '../../../core/contract/errors.js';
import type { AuditEvent } from '../../../core/contract/views.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';

export interface AuditFeed {
  readonly events: readonly AuditEvent[];
  /** The first page is there. */
  readonly loaded: boolean;
  /** There may be older rows. */
  readonly more: boolean;
  readonly loadingOlder: boolean;
  readonly refusal: Refusal | null;
  readonly older: () => void;
  readonly retry: () => void;
}

interface Read {
  readonly events: readonly AuditEvent[];
  readonly loaded: boolean;
  readonly more: boolean;
  readonly loadingOlder: boolean;
  readonly refusal: Refusal | null;
}

const pageSize = 200;
const quietMs = 2000;
const nothing: Read = { events: [], loaded: false, more: false, loadingOlder: false, refusal: null };

/** The page of new rows before those known, as far as they do not overlap. */
export function withNewer(known: readonly AuditEvent[], page: readonly AuditEvent[]): readonly AuditEvent[] {
  const newest = known[0]?.id ?? -Infinity;
  const fresh = page.filter(({ id }) => id > newest);
  if (fresh.length === 0) return known;
  // More came than a page holds: what lies between is not known, so it begins anew.
  return fresh.length === page.length && known.length > 0 && page.length === pageSize
    ? page
    : [...fresh, ...known];
}

/** `entity` null: everything. `stamp`: anything whose change means that something happened. */
export function useAudit(entity: string | null, stamp: unknown): AuditFeed {
  const host = useHost();
  const [state, setState] = useState<{ readonly of: string | null; readonly read: Read }>({
    of: entity,
    read: nothing,
  });
  // What was read of another entity is nothing of this one.
  const read = state.of === entity ? state.read : nothing;
  const setRead = useCallback(
    (change: (before: Read) => Read) => {
      setState((before) => ({ of: entity, read: change(before.of === entity ? before.read : nothing) }));
    },
    [entity],
  );
  const [tries, setTries] = useState(0);
  const askSoon = useRef<() => void>(() => undefined);

  useEffect(() => {
    let ended = false;
    let asking = false;
    let wanted = false;
    let timer: ReturnType<typeof setTimeout> | null = null;
    const filter = entity === null ? {} : { entity };
    const ask = () => {
      asking = true;
      wanted = false;
      host
        .call('audit.list', { ...filter, limit: pageSize })
        .then(
          ({ events }) => {
            if (ended) return;
            setRead((before) => {
              const next = withNewer(before.events, events);
              const anew = next === events || !before.loaded;
              return {
                ...before,
                events: next,
                loaded: true,
                refusal: null,
                more: anew ? events.length === pageSize : before.more,
              };
            });
          },
          (error: unknown) => {
            if (!ended) setRead((before) => ({ ...before, refusal: asRefusal(error) }));
          },
        )
        .finally(() => {
          asking = false;
          if (ended) return;
          timer = setTimeout(() => {
            timer = null;
            if (wanted) ask();
          }, quietMs);
        });
    };
    askSoon.current = () => {
      wanted = true;
      if (!asking && timer === null) ask();
    };
    ask();
    const stop = host.subscribe('jobs', {}, { snapshot: () => undefined, delta: () => askSoon.current() });
    return () => {
      ended = true;
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [host, entity, tries, setRead]);

  const first = useRef(true);
  useEffect(() => {
    if (first.current) first.current = false;
    else askSoon.current();
  }, [stamp]);

  const { loadingOlder, more } = read;
  const oldest = read.events.at(-1)?.id;
  const older = useCallback(() => {
    if (loadingOlder || !more || oldest === undefined) return;
    setRead((before) => ({ ...before, loadingOlder: true }));
    host
      .call('audit.list', { ...(entity === null ? {} : { entity }), beforeId: oldest, limit: pageSize })
      .then(
        ({ events }) => {
          setRead((before) => ({
            ...before,
            // It may have begun anew meanwhile.
            events: before.events.at(-1)?.id === oldest ? [...before.events, ...events] : before.events,
            more: before.events.at(-1)?.id === oldest ? events.length === pageSize : before.more,
            loadingOlder: false,
            refusal: null,
          }));
        },
        (error: unknown) => {
          setRead((before) => ({ ...before, loadingOlder: false, refusal: asRefusal(error) }));
        },
      );
  }, [host, entity, oldest, more, loadingOlder, setRead]);
  const retry = useCallback(() => {
    setTries((count) => count + 1);
  }, []);
  return { ...read, older, retry };
}
