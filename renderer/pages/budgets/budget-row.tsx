/** One user's budget: what was set and what is used now. */
import { ActionIcon } from '@mantine/core';
import { useId, useState } from 'react';
import type { BudgetView } from '../../../core/contract/budgets.js';
import { quotaToText } from '../../../core/contract/quota-text.js';
import { Icon } from '../../components/icon.js';
import { Meter } from '../../components/meter.js';
import { Dash } from '../../components/values.js';
import { isNearLimit, usedShare } from '../../state/use-budgets.js';
import { bandWords, budgets as words, formatHours, limitWord } from '../../strings/budgets.js';
import { formatCount } from '../../strings/common.js';
import styles from './budgets-page.module.css';
import { UseParts } from './use-parts.js';

export interface BudgetRowProps {
  readonly row: BudgetView;
  readonly isMe: boolean;
  /** Of the table, for the row of parts. */
  readonly columns: number;
  /** Absent: the caller may not. */
  readonly onEdit?: () => void;
}

export function BudgetRow({ row, isMe, columns, onEdit }: BudgetRowProps) {
  const [open, setOpen] = useState(false);
  const partsId = useId();
  const used = words.used(row.spend.total, row.limit);
  const quota = quotaToText(row.quota);
  return (
    <>
      <tr>
        <th scope="row">
          <span className={styles['user']}>
            <ActionIcon
              aria-label={words.showParts(row.user)}
              title={words.showParts(row.user)}
              aria-expanded={open}
              aria-controls={open ? partsId : undefined}
              onClick={() => {
                setOpen(!open);
              }}
            >
              <Icon name={open ? 'chevron-down' : 'chevron-right'} size={12} />
            </ActionIcon>
            <span className="iris-ellipsis" title={row.user}>
              {row.user}
            </span>
            {isMe ? <span className="iris-muted">{words.you}</span> : null}
          </span>
        </th>
        <td className={styles['number']}>
          {limitWord(row.limit)}
          {row.limitIsDefault ? (
            <span className="iris-muted" title={words.defaultLimitHint}>
              {' '}
              {words.defaultLimit}
            </span>
          ) : null}
        </td>
        <td>
          <span className={styles['use']} title={`${used}: ${words.parts(row.spend)}`}>
            {row.limit === 'unlimited' ? (
              <span />
            ) : (
              <Meter
                label={words.usedLabel(row.user)}
                value={usedShare(row)}
                text={used}
                low={isNearLimit(row)}
              />
            )}
            <span className={styles['spend']} data-over={row.overLimit || undefined}>
              {row.overLimit ? <Icon name="warning" size={12} /> : null}
              {formatCount(row.spend.total)}
            </span>
          </span>
        </td>
        <td className={styles['number']} title={words.hoursHint}>
          {formatHours(row.used.total)}
        </td>
        {row.faded === null ? null : <td className={styles['number']}>{formatHours(row.faded.total)}</td>}
        <td>{bandWords[row.maxBand]}</td>
        <td>
          {row.allow.length === 0 ? (
            <Dash reason={words.noRights} />
          ) : (
            row.allow.map((band) => words.right(band)).join(', ')
          )}
        </td>
        <td>{quota === '' ? <Dash reason={words.noQuota} /> : quota.replaceAll(',', ', ')}</td>
        <td className={styles['action']}>
          {onEdit === undefined ? null : (
            <ActionIcon
              aria-label={words.edit(row.user)}
              title={words.edit(row.user)}
              data-edits={row.user}
              onClick={onEdit}
            >
              <Icon name="edit" size={14} />
            </ActionIcon>
          )}
        </td>
      </tr>
      {open ? (
        <tr id={partsId} className={styles['partsRow']}>
          <td colSpan={columns}>
            <UseParts row={row} />
          </td>
        </tr>
      ) : null}
    </>
  );
}
