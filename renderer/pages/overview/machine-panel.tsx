/** One machine: how busy it is and what of it is free for jobs. */
import type { ReactNode } from 'react';
import { machineRoute, routeHash } from '../../app/router.js';
import { formatSize } from '../../../core/formats/sizes.js';
import type { GpuView } from '../../../core/contract/gpus.js';
import type { DiskView, MachineView } from '../../../core/contract/machines.js';
import { Skeleton } from '../../components/feedback.js';
import { GpuHolderLinks, GpuStateBadge, gpuUser, type Holders } from '../../components/gpu-state.js';
import { coresOfOthers, memoryOfOthers } from '../../components/machine-figures.js';
import { ConditionBadge, SchedulingBadge, conditionOf } from '../../components/machine-state.js';
import { Meter } from '../../components/meter.js';
import { RelativeTime } from '../../components/time.js';
import { Dash } from '../../components/values.js';
import { machines as machineWords } from '../../strings/machines.js';
import { formatCores } from '../../strings/numbers.js';
import { overview as words } from '../../strings/overview.js';
import styles from './machine-panel.module.css';

/** A disk with less than this share free is told of. */
const lowShare = 0.05;

export interface MachinePanelProps {
  readonly machine: MachineView;
  readonly holders: Holders;
}

export function MachinePanel({ machine, holders }: MachinePanelProps) {
  const { answers } = conditionOf(machine);
  const well = answers && machine.state === 'HEALTHY';
  return (
    <article className={styles['machine']} aria-label={machine.id}>
      <div className={styles['head']}>
        <h2 className="iris-ellipsis">
          <a className={styles['name']} href={routeHash(machineRoute(machine.id))}>
            {machine.id}
          </a>
        </h2>
        {well ? null : <ConditionBadge machine={machine} />}
        <SchedulingBadge machine={machine} />
        <span className={styles['space']} />
        <span className="iris-muted">{words.runningTasks(machine.runningTasks)}</span>
      </div>
      <p className={`${styles['model'] ?? ''} iris-ellipsis`} title={machine.platform}>
        {machine.cpuModel}
      </p>
      {answers ? <Figures machine={machine} holders={holders} /> : <Silence machine={machine} />}
    </article>
  );
}

/** Figures of a machine that does not answer would be of some earlier time. */
function Silence({ machine: { contact } }: { readonly machine: MachineView }) {
  return (
    <p>
      {contact.message ?? machineWords.notReached}{' '}
      {contact.lastContactMs === null ? null : (
        <span className="iris-muted">
          <RelativeTime atMs={contact.lastContactMs} long />
        </span>
      )}
    </p>
  );
}

function Figures({ machine, holders }: MachinePanelProps) {
  const usedBytes = machine.memoryTotalBytes - machine.memoryAvailableBytes;
  const cpuText = machine.cpuBusyPercent === null ? words.notMeasured : words.busy(machine.cpuBusyPercent);
  const memoryText = words.memoryUsed(formatSize(usedBytes), formatSize(machine.memoryTotalBytes));
  return (
    <>
      <Line
        label={words.processors}
        note={
          words.coresFree(formatCores(machine.cpuMillicoresFree), formatCores(machine.cpuMillicoresTotal)) +
          coresOfOthers(machine)
        }
        value={cpuText}
      >
        <Meter
          label={words.processors}
          value={machine.cpuBusyPercent === null ? null : machine.cpuBusyPercent / 100}
          text={cpuText}
        />
      </Line>
      <Line
        label={words.memory}
        note={words.memoryFree(formatSize(machine.memoryFreeForJobsBytes)) + memoryOfOthers(machine)}
        value={memoryText}
      >
        <Meter
          label={words.memory}
          value={machine.memoryTotalBytes === 0 ? null : usedBytes / machine.memoryTotalBytes}
          text={memoryText}
        />
      </Line>
      {machine.disks.map((disk) => (
        <Disk key={disk.mountPoint} disk={disk} />
      ))}
      <div className={styles['gpus']}>
        {machine.gpus.length === 0 ? (
          <p className="iris-muted">{machine.gpuNote ?? words.noGpus}</p>
        ) : (
          <>
            {machine.gpus.map((gpu) => (
              <Gpu key={gpu.uuid} gpu={gpu} holders={holders} />
            ))}
            {machine.gpuNote === null ? null : <p className="iris-muted">{machine.gpuNote}</p>}
          </>
        )}
      </div>
    </>
  );
}

interface MeterLineProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly children: ReactNode;
}

function Line({ label, value, note, children }: MeterLineProps) {
  return (
    <div className={styles['line']}>
      <div className={styles['words']}>
        <span className="iris-ellipsis">{label}</span>
        <span className={`${styles['value'] ?? ''} iris-ellipsis`}>{value}</span>
      </div>
      {children}
      <div className={styles['note']}>{note}</div>
    </div>
  );
}

function Disk({ disk }: { readonly disk: DiskView }) {
  const used = disk.totalBytes - disk.freeBytes;
  const low = disk.totalBytes > 0 && disk.freeBytes / disk.totalBytes < lowShare;
  const text = words.diskFree(formatSize(disk.freeBytes), formatSize(disk.totalBytes));
  return (
    <Line
      label={disk.mountPoint}
      value={low ? words.diskLow(formatSize(disk.freeBytes)) : text}
      note={disk.purpose}
    >
      <Meter
        label={disk.mountPoint}
        value={disk.totalBytes === 0 ? null : used / disk.totalBytes}
        text={text}
        low={low}
      />
    </Line>
  );
}

function Gpu({ gpu, holders }: { readonly gpu: GpuView; readonly holders: Holders }) {
  const { utilizationPercent, memoryUsedBytes, memoryTotalBytes, temperatureCelsius, powerWatts } = gpu;
  const unknown = gpu.note ?? words.notMeasured;
  const utilisation = utilizationPercent === null ? unknown : words.gpuUtilisation(utilizationPercent);
  const memory =
    memoryUsedBytes === null || memoryTotalBytes === null
      ? unknown
      : words.gpuMemory(formatSize(memoryUsedBytes), formatSize(memoryTotalBytes));
  return (
    <div className={styles['gpu']}>
      <div className={styles['words']}>
        <span
          className={`${styles['card'] ?? ''} iris-ellipsis`}
          title={[gpu.name, gpu.uuid, ...(gpu.stateReason === null ? [] : [gpu.stateReason])].join('\n')}
        >
          {gpu.parentUuid === null ? words.gpu(gpu.index) : machineWords.slice(gpu.index)}{' '}
          {/* Who has it says more than what it is, which the hint and the graphs tell. */}
          {gpu.heldBy === null ? (
            <span className="iris-muted">{gpu.stateReason ?? (gpuUser(gpu, holders) || gpu.name)}</span>
          ) : (
            <GpuHolderLinks gpu={gpu} holders={holders} />
          )}
        </span>
        <span title={gpu.stateReason ?? undefined}>
          <GpuStateBadge state={gpu.state} />
        </span>
      </div>
      <div className={styles['gpuMeters']}>
        <Meter
          label={words.gpuUtilisationLabel(gpu.index)}
          value={utilizationPercent === null ? null : utilizationPercent / 100}
          text={utilisation}
        />
        <span className={styles['figure']}>
          {utilizationPercent === null ? <Dash reason={unknown} /> : utilisation}
        </span>
        <Meter
          label={words.gpuMemoryLabel(gpu.index)}
          value={
            memoryUsedBytes === null || memoryTotalBytes === null ? null : memoryUsedBytes / memoryTotalBytes
          }
          text={memory}
        />
        <span className={styles['figure']}>
          {memoryUsedBytes === null ? <Dash reason={unknown} /> : memory}
        </span>
        <span className={styles['figure']}>
          {temperatureCelsius === null ? <Dash reason={unknown} /> : words.gpuHeat(temperatureCelsius)}
        </span>
        <span className={styles['figure']}>
          {powerWatts === null ? <Dash reason={unknown} /> : words.gpuPower(powerWatts)}
        </span>
      </div>
    </div>
  );
}

export function MachineSkeleton() {
  return (
    <div className={styles['machine']}>
      <div className={styles['head']}>
        <Skeleton width={90} height={13} />
      </div>
      <p className={styles['model']}>
        <Skeleton width={240} />
      </p>
      {[0, 1, 2].map((line) => (
        <div key={line} className={styles['line']}>
          <div className={styles['words']}>
            <Skeleton width={70} />
            <Skeleton width={90} />
          </div>
          <Skeleton width="100%" height={6} />
          <div className={styles['note']}>
            <Skeleton width={130} />
          </div>
        </div>
      ))}
    </div>
  );
}
