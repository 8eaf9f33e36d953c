/** What the containers of one machine share: how much it takes, once somebody wants to know, and its emptying. */
import { ActionIcon, Button } from '@mantine/core';
import { useState } from 'react';
import {
  cacheTargets,
  type CacheName,
  type CacheView,
  type MachineCaches,
} from '../../../core/contract/caches.js';
import { useConfirm } from '../../components/confirm.js';
import { Icon } from '../../components/icon.js';
import { RelativeTime } from '../../components/time.js';
import { useRefused } from '../../components/use-refused.js';
import { Dash, Size } from '../../components/values.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { caches as words } from '../../strings/caches.js';
import styles from './cache-section.module.css';

export function CacheSection({ caches: found }: { readonly caches: MachineCaches }) {
  const { machineId, caches, state, measuredAtMs, message, removing, left } = found;
  const { measure, empty, asking, refused } = useCacheActions(found);
  const isMeasuring = state === 'MEASURING' || asking === 'measure';
  const isKnown = measuredAtMs !== null;
  const bytes = caches.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  return (
    <section className={styles['section']} aria-label={words.of(machineId)} aria-busy={isMeasuring}>
      <div className={styles['head']}>
        <h3>{words.title}</h3>
        {isKnown ? (
          <span className="iris-muted" role="status">
            {words.sum(bytes)}, {words.measured} <RelativeTime atMs={measuredAtMs} long />
          </span>
        ) : null}
        <span className={styles['buttons']}>
          <Button
            size="compact-sm"
            variant="default"
            disabled={isMeasuring}
            aria-label={words.measureOn(machineId)}
            onClick={measure}
          >
            {isMeasuring ? words.measuring : isKnown ? words.measureAgain : words.measure}
          </Button>
          {isKnown && bytes > 0 ? (
            <Button
              size="compact-sm"
              variant="default"
              disabled={asking !== null}
              aria-label={words.emptyAllOn(machineId)}
              onClick={() => void empty(caches.filter(isEmptiable).map(({ name }) => name))}
            >
              {words.emptyAll}
            </Button>
          ) : null}
        </span>
      </div>
      {refused === null ? null : (
        <p className={styles['refused']} role="alert">
          {refused}
        </p>
      )}
      {message === null ? null : (
        <p className={styles['refused']} role="alert">
          {message}
        </p>
      )}
      {removing ? <p className="iris-muted">{words.removing}</p> : null}
      {left === null ? null : <p className={styles['note']}>{left.message}</p>}
      {isKnown ? (
        <table className={styles['table']} aria-label={words.of(machineId)}>
          <thead>
            <tr>
              <th scope="col">{words.name}</th>
              <th scope="col">{words.holds}</th>
              <th scope="col">{words.target}</th>
              <th scope="col" className={styles['number']}>
                {words.size}
              </th>
              <td />
            </tr>
          </thead>
          <tbody>
            {caches.map((cache) => (
              <CacheRow key={cache.name} cache={cache} busy={asking !== null} onEmpty={empty} />
            ))}
          </tbody>
        </table>
      ) : isMeasuring ? (
        <p className="iris-muted">{words.measuringNote}</p>
      ) : message === null ? (
        <p className="iris-muted">{words.unknown}</p>
      ) : null}
    </section>
  );
}

function isEmptiable({ bytes }: CacheView): boolean {
  return bytes !== null && bytes > 0;
}

interface CacheRowProps {
  readonly cache: CacheView;
  readonly busy: boolean;
  readonly onEmpty: (names: readonly CacheName[]) => Promise<void>;
}

function CacheRow({ cache, busy, onEmpty }: CacheRowProps) {
  const { name, bytes, note } = cache;
  return (
    <tr>
      <th scope="row" className="iris-mono">
        {name}
      </th>
      <td>
        {words.contents[name]}
        {note === null ? null : <span className={styles['note']}>{note}</span>}
      </td>
      <td className="iris-mono">{cacheTargets[name]}</td>
      <td className={styles['number']}>
        {bytes === null ? <Dash reason={words.notMeasured} /> : <Size bytes={bytes} />}
      </td>
      <td className={styles['action']}>
        <ActionIcon
          aria-label={words.empty(name)}
          title={bytes === 0 ? words.nothing : words.empty(name)}
          disabled={busy || !isEmptiable(cache)}
          onClick={() => void onEmpty([name])}
        >
          <Icon name="trash" size={14} />
        </ActionIcon>
      </td>
    </tr>
  );
}

function useCacheActions({ machineId, caches }: MachineCaches) {
  const host = useHost();
  const confirm = useConfirm();
  const [refused, setRefused] = useRefused((message) => `${words.of(machineId)}: ${message}`);
  const [asking, setAsking] = useState<'measure' | 'empty' | null>(null);
  const act = async (
    what: 'measure' | 'empty',
    inWords: (message: string) => string,
    work: () => Promise<unknown>,
  ): Promise<void> => {
    setRefused(null);
    setAsking(what);
    try {
      await work();
    } catch (error) {
      setRefused(inWords(asRefusal(error).message));
    } finally {
      setAsking(null);
    }
  };
  const measure = (): void =>
    void act('measure', words.notMeasuredFor, () => host.call('cache.measure', { machineId }));
  const empty = async (names: readonly CacheName[]): Promise<void> => {
    const bytes = caches
      .filter(({ name }) => names.includes(name))
      .reduce((sum, one) => sum + (one.bytes ?? 0), 0);
    const yes = await confirm({
      title: words.emptyTitle(names, machineId),
      body: words.emptyBody(names, bytes),
      action: words.emptyAction(names),
      danger: true,
    });
    if (!yes) return;
    const requestId = crypto.randomUUID();
    await act('empty', words.notEmptied, () =>
      host.call('cache.empty', { requestId, machineId, names: [...names] }),
    );
  };
  return { measure, empty, asking, refused };
}
