/** Fetches of images: how far each is and how long it may still take, or why it ended. */
import { Button } from '@mantine/core';
import type { ImagePull } from '../../../core/contract/machines.js';
import { useTimeText } from '../../components/clock.js';
import { Icon, type IconName } from '../../components/icon.js';
import { useRefused } from '../../components/use-refused.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { images as words } from '../../strings/images.js';
import styles from './images-page.module.css';

const looks: Readonly<Record<ImagePull['state'], { readonly icon: IconName; readonly color: string }>> = {
  PULLING: { icon: 'download', color: 'var(--iris-running)' },
  DONE: { icon: 'check', color: 'var(--iris-succeeded)' },
  FAILED: { icon: 'cross', color: 'var(--iris-failed)' },
  CANCELLED: { icon: 'stop', color: 'var(--iris-killed)' },
};

export function PullList({ pulls }: { readonly pulls: readonly ImagePull[] }) {
  if (pulls.length === 0) return null;
  const newest = [...pulls].sort((a, b) => b.startedAtMs - a.startedAtMs);
  return (
    <section aria-label={words.pulls}>
      <h2 className={styles['machine']}>{words.pulls}</h2>
      <ul className={styles['pulls']}>
        {newest.map((pull) => (
          <PullLine key={`${pull.machineId} ${pull.image}`} pull={pull} />
        ))}
      </ul>
    </section>
  );
}

/** Below that an estimate would jump. */
const estimateFromShare = 0.03;

function PullLine({ pull }: { readonly pull: ImagePull }) {
  const host = useHost();
  const [refused, setRefused] = useRefused((message) => words.cancelFailed(pull.image, message));
  const { doneBytes, totalBytes, state } = pull;
  const share = totalBytes === null || totalBytes === 0 ? null : Math.min(1, doneBytes / totalBytes);
  const left = useTimeText((now) =>
    state !== 'PULLING' || share === null || share < estimateFromShare
      ? ''
      : share === 1
        ? words.unpacking
        : words.left(((now - pull.startedAtMs) / share) * (1 - share)),
  );
  const act = (method: 'image.cancel' | 'image.pull') => {
    setRefused(null);
    host.call(method, { machineId: pull.machineId, image: pull.image }).catch((error: unknown) => {
      setRefused(asRefusal(error).message);
    });
  };
  const text = [words.progress(doneBytes, totalBytes), words.layers(pull.layersDone, pull.layers)];
  return (
    <li className={styles['pull']}>
      <span className={styles['pullState']} style={{ color: looks[state].color }}>
        <Icon name={looks[state].icon} size={14} />
        {words.pullStates[state]}
      </span>
      <span className="iris-ellipsis">
        <span className="iris-mono" title={pull.image}>
          {pull.image}
        </span>{' '}
        <span className="iris-muted">{words.pullOn(pull.machineId)}</span>
      </span>
      {state === 'PULLING' ? (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={words.cancelPull(pull.image)}
          onClick={() => {
            act('image.cancel');
          }}
        >
          {words.cancel}
        </Button>
      ) : state === 'DONE' ? (
        <span />
      ) : (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={words.againOf(pull.image)}
          onClick={() => {
            act('image.pull');
          }}
        >
          {words.again}
        </Button>
      )}
      {state === 'PULLING' ? (
        <span className={styles['progress']}>
          <progress
            aria-label={words.progressOf(pull.image)}
            {...(share === null ? {} : { value: share })}
            max={1}
          />
          <span>{[...text, ...(left === '' ? [] : [left])].join(', ')}</span>
        </span>
      ) : null}
      {pull.message === null ? null : <span className={styles['pullMessage']}>{pull.message}</span>}
      {refused === null ? null : (
        <span className={`${styles['pullMessage'] ?? ''} ${styles['refused'] ?? ''}`} role="alert">
          {words.cancelFailed(pull.image, refused)}
        </span>
      )}
    </li>
  );
}
