/** What a user uses, by what it is used for: now and over time. */
import type { BudgetView } from '../../../core/contract/budgets.js';
import { budgets as words, formatHours } from '../../strings/budgets.js';
import { formatCount } from '../../strings/common.js';
import styles from './budgets-page.module.css';

const parts = ['gpus', 'memory', 'processors', 'total'] as const;

export function UseParts({ row: { user, spend, used, faded } }: { readonly row: BudgetView }) {
  return (
    <table className={styles['parts']} aria-label={words.showParts(user)}>
      <thead>
        <tr>
          <th scope="col">{words.part}</th>
          <th scope="col">{words.usedNow}</th>
          <th scope="col">{words.hours}</th>
          {faded === null ? null : <th scope="col">{words.faded}</th>}
        </tr>
      </thead>
      <tbody>
        {parts.map((part) => (
          <tr key={part}>
            <th scope="row">{words.partWords[part]}</th>
            <td>{formatCount(spend[part])}</td>
            <td>{formatHours(used[part])}</td>
            {faded === null ? null : <td>{formatHours(faded[part])}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
