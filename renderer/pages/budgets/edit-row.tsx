/** A budget being edited in its place in the table. Saving asks once, naming what would change. */
import { Button, Checkbox, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { upperBands, bands, type UpperBand, type Band } from '../../../core/contract/states.js';
import { useConfirm } from '../../components/confirm.js';
import { useIsShown } from '../../components/use-is-shown.js';
import { useRefused } from '../../components/use-refused.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { newRequestId } from '../../state/request-id.js';
import { bandWords, budgets as words } from '../../strings/budgets.js';
import { common } from '../../strings/common.js';
import { editOf, type BudgetDraft, type LimitKind } from './budget-edit.js';
import styles from './budgets-page.module.css';

export interface EditRowProps {
  /** What holds now. */
  readonly before: BudgetDraft;
  /** The user is yet to be named. */
  readonly isNew: boolean;
  /** Columns of the table. */
  readonly columns: number;
  readonly onDone: () => void;
}

const kinds: readonly { readonly value: LimitKind; readonly label: string }[] = [
  { value: 'default', label: words.kindDefault },
  { value: 'unlimited', label: words.kindUnlimited },
  { value: 'number', label: words.kindNumber },
];

/** Upper bands are given by rights; one that was set as the best band is kept as a choice. */
function bandChoices(current: Band): { value: Band; label: string }[] {
  return bands
    .filter((band) => band === 'INTERACTIVE' || band === 'BATCH' || band === current)
    .map((band) => ({ value: band, label: bandWords[band] }));
}

export function EditRow({ before, isNew, columns, onDone }: EditRowProps) {
  const host = useHost();
  const confirm = useConfirm();
  const [draft, setDraft] = useState(before);
  const [tried, setTried] = useState(false);
  const [saving, setSaving] = useState(false);
  const isShown = useIsShown();
  const [refused, setRefused] = useRefused((message) => `${draft.user.trim()}: ${words.refused(message)}`);
  const edit = editOf(before, draft);
  const errors = tried ? edit.errors : {};
  const change = (part: Partial<BudgetDraft>) => {
    setDraft({ ...draft, ...part });
    setRefused(null);
  };

  const save = async () => {
    setTried(true);
    if (Object.keys(edit.errors).length > 0) return;
    if (edit.sentences.length === 0) {
      onDone();
      return;
    }
    const user = draft.user.trim();
    const yes = await confirm({
      title: words.confirmTitle(user),
      body: (
        <ul className={styles['changes']}>
          {edit.sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      ),
      action: words.confirmAction,
    });
    if (!yes) return;
    setSaving(true);
    try {
      await host.call('budget.set', { requestId: newRequestId(), user, change: edit.change });
      // Another row may be edited by then.
      if (isShown.current) onDone();
    } catch (error) {
      setRefused(asRefusal(error).message);
      setSaving(false);
    }
  };

  return (
    <>
      <tr
        className={styles['editing']}
        onKeyDown={(event) => {
          // With the choices of a field open it closes these.
          const choosing =
            event.target instanceof Element && event.target.getAttribute('aria-expanded') === 'true';
          if (event.key === 'Escape' && !choosing) {
            event.stopPropagation();
            event.preventDefault();
            onDone();
          }
          if (
            event.key === 'Enter' &&
            event.target instanceof HTMLInputElement &&
            event.target.type === 'text'
          ) {
            if (event.target.getAttribute('aria-haspopup') === null) void save();
          }
        }}
      >
        <th scope="row">
          {isNew ? (
            <TextInput
              label={words.userName}
              data-autofocus
              autoFocus
              error={errors.user}
              value={draft.user}
              onChange={(event) => {
                change({ user: event.currentTarget.value });
              }}
            />
          ) : (
            <span className={styles['editedUser']}>{draft.user}</span>
          )}
        </th>
        <td colSpan={columns - 1}>
          <div className={styles['fields']}>
            <Select
              className={styles['kind'] ?? ''}
              label={words.limitKind}
              data={kinds}
              allowDeselect={false}
              autoFocus={!isNew}
              value={draft.kind}
              onChange={(kind) => {
                if (kind !== null) change({ kind: kind });
              }}
            />
            {draft.kind === 'number' ? (
              <TextInput
                className={styles['limit'] ?? ''}
                label={words.limitNumber}
                inputMode="numeric"
                error={errors.limit}
                value={draft.number}
                onChange={(event) => {
                  change({ number: event.currentTarget.value });
                }}
              />
            ) : null}
            <Select
              className={styles['best'] ?? ''}
              label={words.maxBand}
              data={bandChoices(before.maxBand)}
              allowDeselect={false}
              value={draft.maxBand}
              onChange={(band) => {
                if (band !== null) change({ maxBand: band });
              }}
            />
            <div className={styles['rights']} role="group" aria-label={words.rights}>
              <span aria-hidden>{words.rights}</span>
              <div className={styles['choices']}>
                {[...upperBands].reverse().map((band) => (
                  <Checkbox
                    key={band}
                    label={words.right(band)}
                    checked={draft.allow.includes(band)}
                    onChange={(event) => {
                      change({ allow: withRight(draft.allow, band, event.currentTarget.checked) });
                    }}
                  />
                ))}
              </div>
            </div>
            <TextInput
              className={styles['quota'] ?? ''}
              label={words.quota}
              placeholder={words.quotaExample}
              error={errors.quota}
              value={draft.quota}
              onChange={(event) => {
                change({ quota: event.currentTarget.value });
              }}
            />
            <div className={styles['buttons']}>
              <Button variant="default" onClick={onDone}>
                {common.cancel}
              </Button>
              <Button loading={saving} onClick={() => void save()}>
                {words.save}
              </Button>
            </div>
          </div>
        </td>
      </tr>
      {refused === null ? null : (
        <tr>
          <td colSpan={columns} className={styles['refused']} role="alert">
            {words.refused(refused)}
          </td>
        </tr>
      )}
    </>
  );
}

function withRight(allow: readonly UpperBand[], band: UpperBand, granted: boolean): readonly UpperBand[] {
  return upperBands.filter((other) => (other === band ? granted : allow.includes(other)));
}
