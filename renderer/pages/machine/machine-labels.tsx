/** Attributes and taints, and the address the machine is woken by: what is set of it by hand. */
import { ActionIcon, Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { MachineView } from '../../../core/contract/machines.js';
import { Icon } from '../../components/icon.js';
import type { MachineActions } from '../../components/use-machine-actions.js';
import { machine as words } from '../../strings/machine.js';
import styles from './machine-page.module.css';

export interface MachineLabelsProps {
  readonly machine: MachineView;
  readonly actions: MachineActions;
}

export function MachineLabels({ machine, actions }: MachineLabelsProps) {
  const refused = actions.refusals.get(machine.id);
  const attributes = Object.entries(machine.attributes).sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    <section aria-label={words.labels}>
      <h2 className={styles['section']}>{words.labels}</h2>
      {refused === undefined ? null : <p className={styles['refused']}>{refused}</p>}
      <div className={styles['labels']}>
        <Pairs
          title={words.attributes}
          hint={words.attributesHint}
          add={words.addAttribute}
          field={words.newAttribute}
          pairs={attributes.map(([key, value]) => ({ key, value: String(value) }))}
          fixed={({ key }) => machine.setByHand?.includes(key) !== true}
          onAdd={({ key, value }) =>
            actions.change(machine, { kind: 'attributes', attributes: { [key]: value } })
          }
          onRemove={({ key }) =>
            void actions.change(machine, { kind: 'attributes', attributes: { [key]: null } })
          }
        />
        <Pairs
          title={words.taints}
          hint={words.taintsHint}
          add={words.addTaint}
          field={words.newTaint}
          pairs={machine.taints}
          onAdd={(pair) =>
            actions.change(machine, {
              kind: 'taints',
              taints: [...machine.taints.filter(({ key }) => key !== pair.key), pair],
            })
          }
          onRemove={(pair) =>
            void actions.change(machine, {
              kind: 'taints',
              taints: machine.taints.filter(({ key, value }) => key !== pair.key || value !== pair.value),
            })
          }
        />
        {machine.address === null ? null : <WakeAddress machine={machine} actions={actions} />}
      </div>
    </section>
  );
}

interface Pair {
  readonly key: string;
  readonly value: string;
}

interface PairsProps {
  readonly title: string;
  readonly hint: string;
  readonly add: string;
  readonly field: string;
  readonly pairs: readonly Pair[];
  /** Those that cannot be taken away. */
  readonly fixed?: (pair: Pair) => boolean;
  /** Resolves true when it is set. */
  readonly onAdd: (pair: Pair) => Promise<boolean>;
  readonly onRemove: (pair: Pair) => void;
}

function Pairs({ title, hint, add, field, pairs, fixed, onAdd, onRemove }: PairsProps) {
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(false);
  const submit = async () => {
    const read = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(text);
    setWrong(read === null);
    if (read === null) return;
    if (await onAdd({ key: read[1] ?? '', value: read[2] ?? '' })) setText('');
  };
  return (
    <div className={styles['pairs']}>
      <h3>{title}</h3>
      <p className={styles['reason']}>{hint}</p>
      {pairs.length === 0 ? (
        <p className="iris-muted">{words.none}</p>
      ) : (
        <ul>
          {pairs.map((pair) => {
            const written = `${pair.key}=${pair.value}`;
            const isFixed = fixed?.(pair) === true;
            return (
              <li
                key={written}
                data-fixed={isFixed || undefined}
                title={isFixed ? words.ownAttribute : undefined}
              >
                <code className="iris-mono">{written}</code>
                {isFixed ? null : (
                  <ActionIcon
                    size={20}
                    aria-label={words.removePair(written)}
                    onClick={() => {
                      onRemove(pair);
                    }}
                  >
                    <Icon name="cross" size={12} />
                  </ActionIcon>
                )}
              </li>
            );
          })}
        </ul>
      )}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <TextInput
          aria-label={field}
          placeholder={words.pairExample}
          classNames={{ input: 'iris-mono' }}
          spellCheck={false}
          value={text}
          error={wrong ? words.pairWrong(text) : null}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setWrong(false);
          }}
        />
        <Button type="submit" variant="default" disabled={text.trim() === ''}>
          {add}
        </Button>
      </form>
    </div>
  );
}

function WakeAddress({ machine, actions }: MachineLabelsProps) {
  const [text, setText] = useState(machine.wakeAddress ?? '');
  const wanted = text.trim() === '' ? null : text.trim();
  return (
    <div className={styles['pairs']}>
      <h3>{words.wakeAddress}</h3>
      <p className={styles['reason']}>{machine.wakeAddress ?? words.wakeNone}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void actions.change(machine, { kind: 'wake-address', wakeAddress: wanted });
        }}
      >
        <TextInput
          aria-label={words.wakeAddress}
          placeholder={words.wakeExample}
          classNames={{ input: 'iris-mono' }}
          spellCheck={false}
          maxLength={17}
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
          }}
        />
        <Button type="submit" variant="default" disabled={wanted === machine.wakeAddress}>
          {words.setWake}
        </Button>
      </form>
    </div>
  );
}
