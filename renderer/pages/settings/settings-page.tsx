/** Settings of the window and the tray, and what this is: version, runtime, data folder. Each change is kept at once. */
import { Button, Switch } from '@mantine/core';
import { type ReactNode } from 'react';
import type { DesktopSettings } from '../../../core/contract/desktop-bridge.js';
import { Icon } from '../../components/icon.js';
import { PageHeader } from '../../components/page-header.js';
import { useToast } from '../../components/toasts.js';
import { Dash } from '../../components/values.js';
import { useRefused } from '../../components/use-refused.js';
import { useDesktop, useHostStatus } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { useStore } from '../../state/use-store.js';
import { settings as words } from '../../strings/settings.js';
import styles from './settings-page.module.css';

const themes = ['system', 'light', 'dark'] as const;
const closings = ['ask', 'tray', 'quit'] as const;

export function SettingsPage() {
  const desktop = useDesktop();
  const settings = useStore(desktop.settings);
  const info = useStore(desktop.info);
  const [refused, setRefused] = useRefused(words.notSaved);
  const change = (part: Partial<DesktopSettings>) => {
    setRefused(null);
    desktop.changeSettings(part).catch((error: unknown) => {
      setRefused(asRefusal(error).message);
    });
  };
  const notifies = info?.notificationsSupported !== false;
  return (
    <>
      <PageHeader title={words.title} />
      <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.title}>
        <div className={styles['page']}>
          {refused === null ? null : (
            <p role="alert" className={styles['refused']}>
              {words.notSaved(refused)}
            </p>
          )}
          <Part title={words.appearance}>
            <Choice
              legend={words.theme}
              name="theme"
              options={themes}
              labels={words.themes}
              value={settings.theme}
              onChange={(theme) => {
                change({ theme });
              }}
            />
            <p className={styles['hint']}>{words.themeHint}</p>
          </Part>
          <Part title={words.notifications}>
            <Switch
              label={words.notify}
              disabled={!notifies}
              checked={notifies && !settings.notificationsPaused}
              onChange={(event) => {
                change({ notificationsPaused: !event.currentTarget.checked });
              }}
            />
            <p className={styles['hint']}>{notifies ? words.notifyHint : words.notifyUnsupported}</p>
          </Part>
          <Part title={words.window}>
            <Choice
              legend={words.close}
              name="close"
              options={closings}
              labels={words.closing}
              value={settings.closeToTray}
              onChange={(closeToTray) => {
                change({ closeToTray });
              }}
            />
            <p className={styles['hint']}>{words.closeHint}</p>
          </Part>
          <About />
        </div>
      </div>
    </>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className={styles['part']}>
      <h2>{title}</h2>
      <div className={styles['body']}>{children}</div>
    </section>
  );
}

interface ChoiceProps<T extends string> {
  readonly legend: string;
  readonly name: string;
  readonly options: readonly T[];
  readonly labels: Readonly<Record<T, string>>;
  readonly value: T;
  readonly onChange: (value: T) => void;
}

function Choice<T extends string>({ legend, name, options, labels, value, onChange }: ChoiceProps<T>) {
  return (
    <fieldset className={styles['choice']}>
      <legend>{legend}</legend>
      {options.map((option) => (
        <label key={option}>
          <input
            type="radio"
            name={name}
            checked={option === value}
            onChange={() => {
              onChange(option);
            }}
          />
          {labels[option]}
        </label>
      ))}
    </fieldset>
  );
}

function About() {
  const toast = useToast();
  const info = useStore(useDesktop().info);
  const status = useHostStatus();
  const facts: readonly (readonly [string, string | null])[] = [
    [words.version, info?.appVersion ?? status?.appVersion ?? null],
    [words.runtime, info?.runtime ?? status?.runtime ?? null],
    [words.runtimeKind, info?.runtimeKind ?? null],
    [words.platform, info === null ? null : (words.platforms[info.platform] ?? info.platform)],
    [words.cluster, status?.clusterName ?? null],
    [words.controller, status === null ? null : words.controllerText(status.host, status.pid)],
    [words.health, status?.health ?? null],
    [words.user, status?.user ?? null],
    [words.dataFolder, status?.home ?? null],
    [words.contract, status === null ? null : String(status.contractVersion)],
    [
      words.database,
      status === null
        ? null
        : Object.entries(status.pragmas)
            .map(([name, value]) => `${name} ${value}`)
            .join(', '),
    ],
  ];
  const copy = () => {
    const text = facts.map(([name, value]) => `${name}: ${value ?? words.unknown}`).join('\n');
    navigator.clipboard.writeText(text).then(
      () => {
        toast({ tone: 'info', text: words.copied });
      },
      (error: unknown) => {
        toast({ tone: 'error', text: words.notCopied(asRefusal(error).message) });
      },
    );
  };
  return (
    <Part title={words.about}>
      <dl className={styles['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? <Dash reason={words.unknown} />}</dd>
          </div>
        ))}
      </dl>
      <div>
        <Button variant="default" leftSection={<Icon name="copy" size={14} />} onClick={copy}>
          {words.copy}
        </Button>
      </div>
    </Part>
  );
}
