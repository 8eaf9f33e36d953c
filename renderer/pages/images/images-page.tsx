/** Images: what containers can start from, by machine; what is being fetched, and fetching more. */
import { Button, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { MachineCaches } from '../../../core/contract/caches.js';
import type { ImageView, MachineView } from '../../../core/contract/machines.js';
import { machinesRoute, routeHash } from '../../app/router.js';
import { EmptyState, ErrorState, LoadingNote, Skeleton } from '../../components/feedback.js';
import { Icon } from '../../components/icon.js';
import { PageHeader } from '../../components/page-header.js';
import { useShortcuts } from '../../components/shortcuts.js';
import { asRefusal, useTopic } from '../../state/hooks.js';
import { useCaches } from '../../state/use-caches.js';
import { useImages, type Images } from '../../state/use-images.js';
import { common } from '../../strings/common.js';
import { images as words } from '../../strings/images.js';
import { CacheSection } from './cache-section.js';
import { ImageTable } from './image-table.js';
import styles from './images-page.module.css';
import { PullForm } from './pull-form.js';
import { PullList } from './pull-list.js';

const noMachines: readonly MachineView[] = [];

export function ImagesPage() {
  const asked = useImages();
  const caches = useCaches();
  const overview = useTopic('overview', {});
  const machines = overview.kind === 'live' ? overview.value.machines : noMachines;
  const [filter, setFilter] = useState('');
  const [pulling, setPulling] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  useShortcuts(words.title, [
    {
      keys: '/',
      label: words.filter,
      run: () => search.current?.focus(),
    },
    {
      keys: 'p',
      label: words.pullTitle,
      run: () => {
        setPulling(true);
      },
    },
  ]);
  const all = asked.data?.images ?? [];
  const bytes = all.reduce((sum, image) => sum + image.sizeBytes, 0);
  return (
    <>
      <PageHeader
        crumbs={
          <nav className={styles['crumbs']} aria-label={common.machines}>
            <a href={routeHash(machinesRoute)}>{common.machines}</a>
            <Icon name="chevron-right" size={12} />
          </nav>
        }
        title={words.title}
        aside={
          all.length === 0 ? null : (
            <span className="iris-muted" role="status">
              {words.counts(all.length, bytes)}
            </span>
          )
        }
        actions={
          <>
            <TextInput
              ref={search}
              disabled={all.length === 0}
              className={styles['search'] ?? ''}
              aria-label={words.filter}
              placeholder={words.filter}
              leftSection={<Icon name="search" size={14} />}
              value={filter}
              onChange={(event) => {
                setFilter(event.currentTarget.value);
              }}
            />
            <Button
              leftSection={<Icon name="download" size={14} />}
              disabled={!machines.some(({ docker }) => docker.state === 'READY')}
              onClick={() => {
                setPulling(true);
              }}
            >
              {words.pull}
            </Button>
          </>
        }
      />
      <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.list}>
        {asked.error !== null && asked.data === undefined ? (
          <ErrorState
            what={words.what}
            refusal={asRefusal(asked.error)}
            onRetry={() => void asked.refetch()}
          />
        ) : asked.data === undefined ? (
          <div className={styles['page']}>
            <LoadingNote />
            <Skeleton width={140} height={13} />
            <Skeleton width="90%" />
            <Skeleton width="80%" />
            <Skeleton width="86%" />
          </div>
        ) : (
          <Loaded
            data={asked.data}
            caches={caches}
            machines={machines}
            filter={filter.trim().toLowerCase()}
            onPull={() => {
              setPulling(true);
            }}
          />
        )}
      </div>
      <PullForm
        opened={pulling}
        machines={machines}
        onClose={() => {
          setPulling(false);
        }}
      />
    </>
  );
}

interface LoadedProps {
  readonly data: Images;
  readonly caches: ReadonlyMap<string, MachineCaches>;
  readonly machines: readonly MachineView[];
  readonly filter: string;
  readonly onPull: () => void;
}

/** The machines that have images or could have, each with its own, in the order of the machines. */
function byMachine(data: Images, machines: readonly MachineView[]): [string, ImageView[]][] {
  const groups = new Map<string, ImageView[]>();
  for (const machine of machines) if (machine.docker.state === 'READY') groups.set(machine.id, []);
  for (const image of data.images) {
    const group = groups.get(image.machineId);
    if (group === undefined) groups.set(image.machineId, [image]);
    else group.push(image);
  }
  return [...groups];
}

function Loaded({ data, caches, machines, filter, onPull }: LoadedProps) {
  const groups = byMachine(data, machines);
  const matches = (image: ImageView) =>
    filter === '' ||
    image.id.includes(filter) ||
    image.names.some((name) => name.toLowerCase().includes(filter));
  const found = data.images.some(matches);
  if (data.images.length + data.pulls.length === 0) {
    return groups.length === 0 ? (
      <EmptyState icon="image" title={words.noDockerTitle} example={words.noDockerExample}>
        {words.noDockerBody}
      </EmptyState>
    ) : (
      <>
        <EmptyState
          icon="image"
          title={words.emptyTitle}
          example={words.emptyExample}
          action={<Button onClick={onPull}>{words.pullTitle}</Button>}
        >
          {words.emptyBody}
        </EmptyState>
        <div className={styles['page']}>
          {groups.map(([machine]) => {
            const found = caches.get(machine);
            return found === undefined ? null : (
              <div key={machine}>
                <h2 className={styles['machine']}>{machine}</h2>
                <CacheSection caches={found} />
              </div>
            );
          })}
        </div>
      </>
    );
  }
  return (
    <div className={styles['page']}>
      <PullList pulls={data.pulls} />
      {filter !== '' && !found ? <p className="iris-muted">{words.nothingFound(filter)}</p> : null}
      {groups.map(([machine, list]) => {
        const shown = list.filter(matches);
        if (filter !== '' && shown.length === 0) return null;
        const found = filter === '' ? caches.get(machine) : undefined;
        return (
          <div key={machine}>
            <ImageTable machine={machine} images={shown} />
            {found === undefined ? null : <CacheSection caches={found} />}
          </div>
        );
      })}
      <p className={styles['intro']}>{words.intro}</p>
    </div>
  );
}
