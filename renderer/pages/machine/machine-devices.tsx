/** Everything that is known of the machine and its cards, and why what is not known is not. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import type { GpuView } from '../../../core/contract/gpus.js';
import type { MachineView } from '../../../core/contract/machines.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { GpuHolderLinks, GpuStateBadge, gpuUser, type Holders } from '../../components/gpu-state.js';
import type { MachineActions } from '../../components/use-machine-actions.js';
import { Dash } from '../../components/values.js';
import { charts } from '../../strings/charts.js';
import { machine as words } from '../../strings/machine.js';
import { machines } from '../../strings/machines.js';
import { GpuProcesses } from './gpu-processes.js';
import { MachineFacts } from './machine-facts.js';
import { MachineLabels } from './machine-labels.js';
import styles from './machine-page.module.css';

export interface MachineDevicesProps {
  readonly machine: MachineView;
  readonly holders: Holders;
  readonly actions: MachineActions;
}

export function MachineDevices({ machine, holders, actions }: MachineDevicesProps) {
  return (
    <div className={styles['scroller']} tabIndex={0} role="region" aria-label={words.devices}>
      <div className={styles['sections']}>
        {machine.gpus.length === 0 ? (
          <section aria-label={words.cards}>
            <h2 className={styles['section']}>{words.cards}</h2>
            <p className="iris-muted">{machine.gpuNote ?? machines.noGpus}</p>
          </section>
        ) : (
          machine.gpus.map((gpu) => (
            <Card
              key={gpu.uuid}
              gpu={gpu}
              machine={machine}
              holders={holders}
              onRelease={() => void actions.change(machine, { kind: 'release-gpu', uuid: gpu.uuid })}
            />
          ))
        )}
        {machine.gpus.length > 0 && machine.gpuNote !== null ? (
          <p className="iris-muted">{machine.gpuNote}</p>
        ) : null}
        <MachineFacts machine={machine} />
        <MachineLabels machine={machine} actions={actions} />
      </div>
    </div>
  );
}

interface CardProps {
  readonly gpu: GpuView;
  readonly machine: MachineView;
  readonly holders: Holders;
  readonly onRelease: () => void;
}

function Card({ gpu, machine, holders, onRelease }: CardProps) {
  const missing = gpu.note ?? words.notGiven;
  const value = (given: number | null, text: (value: number) => string): ReactNode =>
    given === null ? <Dash reason={missing} /> : text(given);
  const who = gpuUser(gpu, holders);
  const indexOf = (uuid: string) => machine.gpus.find((card) => card.uuid === uuid)?.index;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      words.who,
      gpu.heldBy !== null ? (
        <GpuHolderLinks key="who" gpu={gpu} holders={holders} />
      ) : who === '' ? (
        <Dash reason={words.nobody} />
      ) : (
        who
      ),
    ],
    [words.utilisation, value(gpu.utilizationPercent, charts.percent)],
    [words.memory, <CardMemory key="memory" gpu={gpu} missing={missing} />],
    [words.temperature, value(gpu.temperatureCelsius, charts.celsius)],
    [
      words.power,
      value(gpu.powerWatts, (watts) =>
        gpu.powerLimitWatts === null
          ? charts.watts(watts)
          : words.powerOf(charts.watts(watts), charts.watts(gpu.powerLimitWatts)),
      ),
    ],
    [words.clock, value(gpu.clockMhz, words.mhz)],
    [words.memoryClock, value(gpu.memoryClockMhz, words.mhz)],
    [words.ecc, value(gpu.eccUncorrected, String)],
    [
      words.bus,
      gpu.busId === null ? <Dash reason={missing} /> : <code className="iris-mono">{gpu.busId}</code>,
    ],
    [words.numa, gpu.numaNode === null ? <Dash reason={words.notReadable} /> : String(gpu.numaNode)],
    [
      words.nvlink,
      gpu.nvlinkTo === null ? (
        <Dash reason={words.notReadable} />
      ) : gpu.nvlinkTo.length === 0 ? (
        words.noNvlink
      ) : (
        gpu.nvlinkTo.map((uuid) => charts.gpu(indexOf(uuid) ?? -1).replace('GPU -1', uuid)).join(', ')
      ),
    ],
    [
      words.variant,
      <code key="variant" className="iris-mono">
        {gpu.variant}
      </code>,
    ],
    ...(gpu.parentUuid === null
      ? []
      : [
          [
            words.parent,
            <code key="parent" className="iris-mono">
              {gpu.parentUuid}
            </code>,
          ] as const,
        ]),
    [
      words.uuid,
      <code key="uuid" className="iris-mono">
        {gpu.uuid}
      </code>,
    ],
  ];
  return (
    <section aria-label={charts.gpu(gpu.index)}>
      <h2 className={styles['section']}>
        {charts.gpu(gpu.index)} <span className={styles['cardName']}>{gpu.name}</span>
        <GpuStateBadge state={gpu.state} />
        {gpu.state === 'SICK' ? (
          <Button
            variant="default"
            size="compact-xs"
            aria-label={machines.releaseGpu(gpu.index)}
            onClick={onRelease}
          >
            {machines.release}
          </Button>
        ) : null}
      </h2>
      {gpu.stateReason === null ? null : <p className={styles['reason']}>{gpu.stateReason}</p>}
      <dl className={styles['facts2']}>
        {facts.map(([name, shown]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{shown}</dd>
          </div>
        ))}
      </dl>
      <GpuProcesses gpu={gpu} holders={holders} />
    </section>
  );
}

function CardMemory({ gpu, missing }: { readonly gpu: GpuView; readonly missing: string }) {
  const { memoryUsedBytes: used, memoryTotalBytes: total } = gpu;
  if (gpu.sharesHostMemory && total !== null) return <>{words.sharedMemory(formatSize(total))}</>;
  if (total === null) return <Dash reason={missing} />;
  if (used === null) return <span title={missing}>{formatSize(total)}</span>;
  return <>{machines.memoryUsed(formatSize(used), formatSize(total))}</>;
}
