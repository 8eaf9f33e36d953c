/** One card: its state and who has it, how busy it is and what of its memory is used. */
import { Button } from '@mantine/core';
import type { GpuView } from '../../../core/contract/gpus.js';
import { formatSize } from '../../../core/formats/sizes.js';
import {
  GpuHolderLink,
  GpuStateBadge,
  gpuHolders,
  gpuLooks,
  gpuUser,
  type Holders,
} from '../../components/gpu-state.js';
import { Meter } from '../../components/meter.js';
import { common } from '../../strings/common.js';
import { machines as words } from '../../strings/machines.js';
import styles from './machine-card.module.css';

export interface GpuTileProps {
  readonly gpu: GpuView;
  readonly holders: Holders;
  /** Absent: it is not offered. */
  readonly onRelease?: () => void;
}

export function GpuTile({ gpu, holders, onRelease }: GpuTileProps) {
  const who = gpuUser(gpu, holders);
  const held = gpuHolders(gpu, holders);
  const { utilizationPercent, memoryUsedBytes, memoryTotalBytes, temperatureCelsius } = gpu;
  const figures = [
    ...(utilizationPercent === null ? [] : [words.busy(utilizationPercent)]),
    ...(gpu.sharesHostMemory
      ? [words.shared]
      : memoryTotalBytes === null
        ? []
        : memoryUsedBytes === null
          ? [formatSize(memoryTotalBytes)]
          : [words.memoryUsed(formatSize(memoryUsedBytes), formatSize(memoryTotalBytes))]),
    ...(temperatureCelsius === null ? [] : [`${Math.round(temperatureCelsius)} °C`]),
  ];
  const line = gpu.stateReason ?? who;
  return (
    <li
      className={styles['gpu']}
      style={{ borderLeftColor: gpuLooks[gpu.state].color }}
      aria-label={words.gpuTile(gpu, who)}
      title={[gpu.name, gpu.uuid, gpu.stateReason ?? gpu.note ?? ''].filter((text) => text !== '').join('\n')}
    >
      <div className={styles['gpuHead']}>
        <GpuStateBadge state={gpu.state} />
        <span className={styles['gpuIndex']}>
          {gpu.parentUuid === null ? words.gpu(gpu.index) : words.slice(gpu.index)}
        </span>
      </div>
      {held.some(({ jobId }) => jobId !== null) ? (
        held.map((holder) => (
          <div key={holder.uid} className={`${styles['gpuWho'] ?? ''} iris-ellipsis`} title={holder.text}>
            <GpuHolderLink holder={holder} />
          </div>
        ))
      ) : (
        <div className="iris-ellipsis" title={line}>
          {line === '' ? <span className="iris-muted">{gpu.variant}</span> : line}
        </div>
      )}
      <Meter
        label={words.gpuUse(gpu.index)}
        value={utilizationPercent === null ? null : utilizationPercent / 100}
        text={utilizationPercent === null ? (gpu.note ?? words.notMeasured) : words.busy(utilizationPercent)}
      />
      <div className={styles['gpuFigures']}>
        <span className="iris-ellipsis" title={gpu.note ?? undefined}>
          {figures.length === 0 ? common.dash : figures.join(' · ')}
        </span>
        {gpu.state === 'SICK' && onRelease !== undefined ? (
          <Button
            variant="subtle"
            size="compact-xs"
            mr={-7}
            aria-label={words.releaseGpu(gpu.index)}
            onClick={onRelease}
          >
            {words.release}
          </Button>
        ) : null}
      </div>
    </li>
  );
}
