/** One's own budget, in sight before it runs out. */
import type { BudgetView } from '../../../core/contract/budgets.js';
import { Icon } from '../../components/icon.js';
import { Meter } from '../../components/meter.js';
import { isNearLimit, usedShare } from '../../state/use-budgets.js';
import { budgets as words } from '../../strings/budgets.js';
import styles from './budgets-page.module.css';

export function OwnBudget({ budget }: { readonly budget: BudgetView }) {
  const { spend, limit, overLimit } = budget;
  const used = words.used(spend.total, limit);
  const note =
    limit === 'unlimited'
      ? null
      : overLimit
        ? words.over(spend.total - limit)
        : isNearLimit(budget)
          ? words.near(limit - spend.total)
          : null;
  return (
    <section className={styles['own']} aria-label={words.mine}>
      <div className={styles['ownHead']}>
        <h2>{words.mine}</h2>
        <span>{used}</span>
      </div>
      {limit === 'unlimited' ? null : (
        <Meter
          label={words.usedLabel(budget.user)}
          value={usedShare(budget)}
          text={used}
          low={isNearLimit(budget)}
        />
      )}
      <p className={styles['ownNote']}>
        <span className="iris-muted">
          {spend.total === 0 ? words.nothingUsed : `${words.parts(spend)}.`} {words.inAll(budget.used)}
        </span>
        {note === null ? null : (
          <span className={styles['warning']} role="status">
            <Icon name="warning" size={12} />
            {note}
          </span>
        )}
      </p>
    </section>
  );
}
