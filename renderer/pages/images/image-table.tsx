/** The images of one machine, largest first, each removable where nothing uses it. */
import { ActionIcon } from '@mantine/core';
import { useState } from 'react';
import type { ImageView } from '../../../core/contract/machines.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { useConfirm } from '../../components/confirm.js';
import { Icon } from '../../components/icon.js';
import { RelativeTime } from '../../components/time.js';
import { Dash, Size } from '../../components/values.js';
import { useRefused } from '../../components/use-refused.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { useImagesAgain } from '../../state/use-images.js';
import { images as words } from '../../strings/images.js';
import styles from './images-page.module.css';

export interface ImageTableProps {
  readonly machine: string;
  readonly images: readonly ImageView[];
}

function shortId(id: string): string {
  return id.replace(/^sha256:/, '').slice(0, 12);
}

export function ImageTable({ machine, images }: ImageTableProps) {
  const sorted = [...images].sort((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1));
  return (
    <section aria-label={machine}>
      <h2 className={styles['machine']}>{machine}</h2>
      {sorted.length === 0 ? (
        <p className="iris-muted">{words.noneOn}</p>
      ) : (
        <table className={styles['table']} aria-label={`${words.title}, ${machine}`}>
          <thead>
            <tr>
              <th scope="col">{words.name}</th>
              <th scope="col" className={styles['number']}>
                {words.size}
              </th>
              <th scope="col">{words.created}</th>
              <th scope="col">{words.inUse}</th>
              <td />
            </tr>
          </thead>
          <tbody>
            {sorted.map((image) => (
              <ImageRow key={image.id} image={image} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function ImageRow({ image }: { readonly image: ImageView }) {
  const host = useHost();
  const confirm = useConfirm();
  const again = useImagesAgain();
  const name = image.names[0] ?? shortId(image.id);
  const [refused, setRefused] = useRefused((message) => `${name}: ${words.notRemoved(message)}`);
  const [removing, setRemoving] = useState(false);
  const remove = async () => {
    const yes = await confirm({
      title: words.removeTitle(name, image.machineId),
      body: words.removeBody(formatSize(image.sizeBytes)),
      action: words.removeAction,
      danger: true,
    });
    if (!yes) return;
    setRefused(null);
    setRemoving(true);
    try {
      await host.call('image.remove', { machineId: image.machineId, imageId: image.id });
      await again();
    } catch (error) {
      setRefused(asRefusal(error).message);
    } finally {
      setRemoving(false);
    }
  };
  return (
    <tr aria-busy={removing}>
      <th scope="row">
        <span className={styles['names']} title={image.id}>
          {image.names.length === 0 ? (
            <span className="iris-muted">{words.noName(shortId(image.id))}</span>
          ) : (
            image.names.map((item) => (
              <span key={item} className="iris-mono iris-ellipsis">
                {item}
              </span>
            ))
          )}
          {refused === null ? null : (
            <span className={styles['refused']} role="alert">
              {words.notRemoved(refused)}
            </span>
          )}
        </span>
      </th>
      <td className={styles['number']}>
        <Size bytes={image.sizeBytes} />
      </td>
      <td>
        <RelativeTime atMs={image.createdAtMs} long />
      </td>
      <td>{image.inUse === 0 ? <Dash reason={words.notInUse} /> : words.inUseBy(image.inUse)}</td>
      <td className={styles['action']}>
        <ActionIcon
          aria-label={words.remove(name)}
          title={image.inUse > 0 ? words.isUsed : words.remove(name)}
          disabled={image.inUse > 0 || removing}
          onClick={() => void remove()}
        >
          <Icon name="trash" size={14} />
        </ActionIcon>
      </td>
    </tr>
  );
}
