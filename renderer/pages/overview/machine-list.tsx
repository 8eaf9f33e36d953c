/** The machines of the Overview, each with what it does now and with graphs of what it did. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { latePage } from '../../app/late-page.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { Icon } from '../../components/icon.js';
import { useHolders } from '../../state/use-holders.js';
import { graphs as words } from '../../strings/graphs.js';
import { MachinePanel, type MachinePanelProps } from './machine-panel.js';
import styles from './machine-panel.module.css';

/** With more machines each shows its graphs when it is told to: all at once would be long to go through and to ask for. */
const mostTrends = 3;
/** What draws is read after the page is there. */
const trend = latePage(async () => (await import('./machine-trend.js')).MachineTrend);

export function MachineList({ machines }: { readonly machines: readonly MachineView[] }) {
  const holders = useHolders();
  const few = machines.length <= mostTrends;
  return machines.map((machine) => (
    <MachineWithTrend key={machine.id} machine={machine} holders={holders} always={few} />
  ));
}

function MachineWithTrend({ machine, holders, always }: MachinePanelProps & { readonly always: boolean }) {
  const [opened, setOpened] = useState(false);
  const answers = machine.contact.state === 'CONNECTED';
  return (
    <div>
      <MachinePanel machine={machine} holders={holders} />
      {answers && !always ? (
        <Button
          className={styles['toggle'] ?? ''}
          variant="subtle"
          size="compact-xs"
          leftSection={<Icon name="activity" size={14} />}
          aria-expanded={opened}
          aria-label={words.graphsOf(machine.id)}
          onClick={() => {
            setOpened(!opened);
          }}
        >
          {words.tab}
        </Button>
      ) : null}
      {answers && (always || opened) ? <trend.Page machine={machine} /> : null}
    </div>
  );
}
