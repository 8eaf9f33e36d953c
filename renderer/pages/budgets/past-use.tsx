/** Whether past use counts in the order of users, and how fast it fades; changed by who may. */
import { Select } from '@mantine/core';
import { halfLifeToText, textToHalfLife } from '../../../core/contract/half-life.js';
import { useConfirm } from '../../components/confirm.js';
import { useRefused } from '../../components/use-refused.js';
import { useHost } from '../../state/desktop-context.js';
import { asRefusal } from '../../state/hooks.js';
import { newRequestId } from '../../state/request-id.js';
import { budgets as words, halfLifeWords } from '../../strings/budgets.js';
import styles from './budgets-page.module.css';

const offered = ['off', '1d', '7d', '14d', '30d', '90d'];

interface PastUseProps {
  readonly halfLifeMs: number | null;
  readonly mayManage: boolean;
}

export function PastUse({ halfLifeMs, mayManage }: PastUseProps) {
  const host = useHost();
  const confirm = useConfirm();
  const [refused, setRefused] = useRefused((message) => `${words.pastUse}: ${message}`);
  const current = halfLifeToText(halfLifeMs);
  const change = async (text: string) => {
    const wanted = textToHalfLife(text);
    if (!wanted.ok || wanted.value === halfLifeMs) return;
    setRefused(null);
    const yes = await confirm({
      title: words.pastUseTitle,
      body: wanted.value === null ? words.pastUseOffBody : words.pastUseOnBody(halfLifeWords(wanted.value)),
      action: words.pastUseAction,
    });
    if (!yes) return;
    try {
      await host.call('budget.halfLife', { requestId: newRequestId(), halfLifeMs: wanted.value });
    } catch (error) {
      setRefused(words.refused(asRefusal(error).message));
    }
  };
  return (
    <section className={styles['pastUse']} aria-label={words.pastUse}>
      {mayManage ? (
        <Select
          label={words.pastUse}
          data={(offered.includes(current) ? offered : [...offered, current]).map((value) => ({
            value,
            label: labelOf(value),
          }))}
          allowDeselect={false}
          value={current}
          onChange={(value) => {
            if (value !== null) void change(value);
          }}
        />
      ) : null}
      <span className="iris-muted">
        {words.pastUseNow(halfLifeMs === null ? null : halfLifeWords(halfLifeMs))}
      </span>
      {refused === null ? null : (
        <span className={styles['refused']} role="alert">
          {refused}
        </span>
      )}
    </section>
  );
}

function labelOf(text: string): string {
  const read = textToHalfLife(text);
  return read.ok && read.value !== null ? words.pastUseOn(halfLifeWords(read.value)) : words.pastUseOff;
}
