/** Every action, page, machine and job by a few letters: a text field over a list, the first entry chosen, Enter runs it. */
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { shownStateOf } from '../../core/contract/shown-state.js';
import { Dialog } from '../components/dialog.js';
import { Icon } from '../components/icon.js';
import { KeyHint } from '../components/key-hint.js';
import { StateBadge } from '../components/state-badge.js';
import { RelativeTime } from '../components/time.js';
import { useCall } from '../state/hooks.js';
import { createStore } from '../state/store.js';
import { useStore } from '../state/use-store.js';
import { common } from '../strings/common.js';
import { matchesAction, matchesJob, usePaletteActions, type PaletteAction } from './palette-actions.js';
import styles from './palette.module.css';
import { jobRoute, navigate } from './router.js';

const jobsShown = 8;
const machinesShown = 8;
const openStore = createStore(false);

export function openPalette(): void {
  openStore.set(true);
}

function closePalette(): void {
  openStore.set(false);
}

interface Entry {
  readonly key: string;
  /** Heading it stands under. */
  readonly group: string;
  readonly content: ReactNode;
  readonly run: () => void;
}

function actionEntry(group: string, action: PaletteAction): Entry {
  return {
    key: action.label,
    group,
    content: (
      <>
        <Icon name={action.icon} />
        <span className={`${styles['label'] ?? ''} iris-ellipsis`}>{action.label}</span>
        {action.keys === undefined ? null : <KeyHint keys={action.keys} />}
      </>
    ),
    run: action.run,
  };
}

export function Palette({ onHelp }: { readonly onHelp: () => void }) {
  const opened = useStore(openStore);
  useEffect(() => closePalette, []);
  return (
    <Dialog
      opened={opened}
      onClose={closePalette}
      attributes={{ content: { 'aria-label': common.palette } }}
      centered={false}
      withCloseButton={false}
      yOffset="12vh"
      size={620}
      padding={0}
      overlayProps={{ backgroundOpacity: 0.35 }}
      transitionProps={{ duration: 0 }}
    >
      <PaletteBody onHelp={onHelp} />
    </Dialog>
  );
}

function PaletteBody({ onHelp }: { readonly onHelp: () => void }) {
  const { actions, pages, machines } = usePaletteActions(onHelp);
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const [search] = useDebouncedValue(query.trim(), 120);
  const list = useRef<HTMLDivElement>(null);
  const answer = useCall(
    'job.list',
    {
      filter: search === '' ? {} : { search: search.slice(0, 500), rootsOnly: false },
      sort: { key: 'submitted', descending: true },
      offset: 0,
      limit: jobsShown,
    },
    { keepPrevious: true },
  );
  // Until the answer to what is typed is here, Enter must not run what an earlier one found.
  const old = answer.isPlaceholderData || search !== query.trim();
  const found = (answer.data?.rows ?? []).filter((job) => !old || matchesJob(job, query));

  const entries: readonly Entry[] = [
    ...actions
      .filter((action) => matchesAction(action, query))
      .map((action) => actionEntry(common.paletteActions, action)),
    ...pages
      .filter((action) => matchesAction(action, query))
      .map((action) => actionEntry(common.palettePages, action)),
    // There may be a thousand, so only those that are asked for, and of these the first.
    ...machines
      .filter((action) => query.trim() !== '' && matchesAction(action, query))
      .slice(0, machinesShown)
      .map((action) => actionEntry(common.paletteMachines, action)),
    ...found.map((job): Entry => ({
      key: job.id,
      group: common.paletteJobs,
      content: (
        <>
          <span className={styles['state']}>
            <StateBadge state={shownStateOf(job)} />
          </span>
          <span className="iris-ellipsis">{job.name}</span>
          <span className={`${styles['command'] ?? ''} iris-mono iris-ellipsis`}>{job.commandLine}</span>
          <span className="iris-muted">
            <RelativeTime atMs={job.submittedAtMs} />
          </span>
        </>
      ),
      run: () => {
        navigate(jobRoute(job.id));
      },
    })),
  ];
  const at = Math.min(chosen, entries.length - 1);

  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  const runEntry = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    closePalette();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || entries.length === 0) return;
    if (event.key === 'ArrowDown') setChosen((at + 1) % entries.length);
    else if (event.key === 'ArrowUp') setChosen((at - 1 + entries.length) % entries.length);
    else if (event.key === 'Enter') runEntry(entries[at]);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <div className={styles['search']}>
        <Icon name="search" />
        <input
          data-autofocus
          className={styles['input']}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={entries.length === 0 ? undefined : `palette-${at}`}
          aria-label={common.paletteSearch}
          placeholder={common.paletteSearch}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className={styles['list']} ref={list} id="palette-list" role="listbox" aria-label={common.palette}>
        {entries.map((entry, index) => (
          <div key={`${entry.group} ${entry.key}`} role="presentation">
            {entry.group === entries[index - 1]?.group ? null : (
              <div className={styles['group']} role="presentation">
                {entry.group}
              </div>
            )}
            <div
              id={`palette-${index}`}
              role="option"
              aria-selected={index === at}
              className={styles['entry']}
              onMouseMove={() => {
                if (index !== at) setChosen(index);
              }}
              onClick={() => {
                runEntry(entry);
              }}
            >
              {entry.content}
            </div>
          </div>
        ))}
      </div>
      {entries.length === 0 ? <p className={styles['empty']}>{common.paletteNothing}</p> : null}
    </>
  );
}
