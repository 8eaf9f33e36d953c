/** Adds a machine: its address, a look at it step by step, its key accepted by hand where it is not known, a name. */
import { Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useEffect, useId, useRef, useState } from 'react';
import {
  machineName,
  sshAddress,
  type MachineCheck,
  type MachineView,
} from '../../../core/contract/machines.js';
import { Dialog } from '../../components/dialog.js';
import { useToast } from '../../components/toasts.js';
import { useIsShown } from '../../components/use-is-shown.js';
import { useRefused } from '../../components/use-refused.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { newRequestId } from '../../state/request-id.js';
import { addMachine as words } from '../../strings/add-machine.js';
import { common } from '../../strings/common.js';
import styles from './add-machine.module.css';
import { CheckSteps } from './check-steps.js';

export interface AddMachineProps {
  readonly opened: boolean;
  /** Their names are taken. */
  readonly known: readonly MachineView[];
  readonly onClose: () => void;
}

export function AddMachine({ opened, known, onClose }: AddMachineProps) {
  return (
    <Dialog opened={opened} onClose={onClose} title={words.title} size={620}>
      <Wizard known={known} onClose={onClose} />
    </Dialog>
  );
}

type Look =
  | { readonly kind: 'none' }
  | { readonly kind: 'looking'; readonly address: string }
  | { readonly kind: 'failed'; readonly message: string }
  | {
      readonly kind: 'looked';
      readonly address: string;
      readonly checks: readonly MachineCheck[];
      readonly usable: boolean;
      readonly acceptKey: string | null;
    };

/** What the machine is called when nobody says otherwise: the first part of its host's name. */
export function nameFor(address: string): string {
  const host = address
    .replace(/^ssh:\/\//i, '')
    .replace(/^[^@]*@/, '')
    .replace(/:\d+$/, '');
  const name = /^[\d.]+$|^\[/.test(host) ? host.replace(/[[\]]/g, '') : (host.split('.')[0] ?? '');
  return machineName.safeParse(name).success ? name : '';
}

const hostOf = (address: string): string => address.replace(/^ssh:\/\//i, '');

function expectedOf(result: {
  readonly error?: { readonly issues: readonly { readonly message: string }[] };
}) {
  return result.error?.issues[0]?.message ?? null;
}

function Wizard({ known, onClose }: Omit<AddMachineProps, 'opened'>) {
  const host = useHost();
  const toast = useToast();
  const [address, setAddress] = useState('');
  const [tried, setTried] = useState(false);
  const [look, setLook] = useState<Look>({ kind: 'none' });
  const [compared, setCompared] = useState(false);
  const [name, setName] = useState('');
  /** A name that was typed stays whatever machine it is for. */
  const nameTyped = useRef(false);
  /** Which look is waited for: an answer about an address that stood there before must not pass for this one's. */
  const wantedLook = useRef(0);
  const [adding, setAdding] = useState(false);
  const isShown = useIsShown();
  const [refused, setRefused] = useRefused(words.notAdded);
  const nameField = useRef<HTMLInputElement>(null);
  const whyId = useId();
  const acceptBox = useRef<HTMLInputElement>(null);
  // What comes next is where the keyboard goes on, once it is drawn.
  useEffect(() => {
    if (look.kind === 'looked') (look.usable ? nameField.current : acceptBox.current)?.focus();
  }, [look]);
  const addressRead = sshAddress.safeParse(address);
  const nameRead = machineName.safeParse(name.trim());
  const taken = known.some(({ id }) => id === name.trim());

  const check = (acceptKey: string | null) => {
    setTried(true);
    setRefused(null);
    if (!addressRead.success || look.kind === 'looking') return;
    const wanted = addressRead.data;
    const mine = ++wantedLook.current;
    setLook({ kind: 'looking', address: wanted });
    setCompared(false);
    host.call('machine.check', { address: wanted, acceptKey }).then(
      ({ checks, usable }) => {
        if (mine !== wantedLook.current) return;
        setLook({ kind: 'looked', address: wanted, checks, usable, acceptKey });
        if (usable && !nameTyped.current) setName(nameFor(wanted));
      },
      (error: unknown) => {
        if (mine !== wantedLook.current) return;
        setLook({ kind: 'failed', message: asRefusal(error).message });
      },
    );
  };
  const add = async () => {
    if (look.kind !== 'looked' || !nameRead.success || taken || adding) return;
    setAdding(true);
    setRefused(null);
    const mine = wantedLook.current;
    try {
      const { machine, checks } = await host.call('machine.add', {
        requestId: newRequestId(),
        name: nameRead.data,
        address: look.address,
        acceptKey: look.acceptKey,
      });
      if (machine === null) {
        if (mine === wantedLook.current) setLook({ ...look, checks, usable: false });
        return;
      }
      toast({ tone: 'info', text: words.added(machine.id) });
      // Another may be on its way by then.
      if (isShown.current) onClose();
    } catch (error) {
      setRefused(asRefusal(error).message);
    } finally {
      setAdding(false);
    }
  };
  const keyCheck =
    look.kind === 'looked'
      ? look.checks.find((item) => item.step === 'host-key' && item.outcome === 'FAILED')
      : undefined;
  const key = keyCheck?.fingerprint;
  const usable = look.kind === 'looked' && look.usable;

  return (
    <div className={styles['wizard']}>
      <p className="iris-muted">{words.intro}</p>
      <form
        className={styles['row']}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          check(null);
        }}
      >
        <TextInput
          className={styles['grow'] ?? ''}
          data-autofocus
          label={words.address}
          placeholder={words.addressExample}
          classNames={{ input: 'iris-mono' }}
          spellCheck={false}
          value={address}
          error={tried && !addressRead.success ? words.wrong(address, expectedOf(addressRead) ?? '') : null}
          onChange={(event) => {
            setAddress(event.currentTarget.value);
            wantedLook.current += 1;
            setLook({ kind: 'none' });
            setTried(false);
          }}
        />
        <Button
          type="submit"
          mt={20}
          variant={usable ? 'default' : 'filled'}
          loading={look.kind === 'looking'}
        >
          {look.kind === 'looked' ? words.checkAgain : words.check}
        </Button>
      </form>
      {look.kind === 'failed' ? (
        <p role="alert" className={styles['refused']}>
          {words.failed(look.message)}
        </p>
      ) : null}
      {look.kind === 'looking' ? <CheckSteps address={look.address} checks={null} /> : null}
      {look.kind === 'looked' ? <CheckSteps address={look.address} checks={look.checks} /> : null}
      {look.kind === 'looked' && key !== null && key !== undefined ? (
        <form
          className={styles['key']}
          onSubmit={(event) => {
            event.preventDefault();
            if (compared) check(key);
          }}
        >
          {/* In a small window the step that says so is out of sight here. */}
          <p id={whyId} className={styles['found']}>
            {keyCheck?.message}
            {keyCheck?.advice === null ? null : <span className={styles['advice']}>{keyCheck?.advice}</span>}
          </p>
          <span className="iris-muted">{words.fingerprint}</span>
          <code className={`${styles['fingerprint'] ?? ''} iris-mono`}>{key}</code>
          <Checkbox
            ref={acceptBox}
            label={words.acceptKey(hostOf(look.address))}
            aria-describedby={whyId}
            checked={compared}
            onChange={(event) => {
              setCompared(event.currentTarget.checked);
            }}
          />
          <div>
            <Button type="submit" variant="default" disabled={!compared}>
              {words.accept}
            </Button>
          </div>
        </form>
      ) : null}
      {look.kind === 'looked' ? (
        <p role="status" className={usable ? styles['good'] : styles['bad']}>
          {usable ? words.usable : words.notUsable}
        </p>
      ) : null}
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        {usable ? (
          <TextInput
            ref={nameField}
            label={words.name}
            description={words.nameHint}
            classNames={{ input: 'iris-mono' }}
            spellCheck={false}
            value={name}
            error={
              taken
                ? words.nameTaken(name.trim())
                : name !== '' && !nameRead.success
                  ? words.wrong(name, expectedOf(nameRead) ?? '')
                  : null
            }
            onChange={(event) => {
              nameTyped.current = event.currentTarget.value !== '';
              setName(event.currentTarget.value);
            }}
          />
        ) : null}
        {refused === null ? null : (
          <p role="alert" className={styles['refused']}>
            {words.notAdded(refused)}
          </p>
        )}
        <Group justify="flex-end" mt="lg" gap="sm">
          <Button variant="default" onClick={onClose}>
            {common.cancel}
          </Button>
          <Button type="submit" loading={adding} disabled={!usable || !nameRead.success || taken}>
            {words.add(usable && nameRead.success ? nameRead.data : '')}
          </Button>
        </Group>
      </form>
    </div>
  );
}
