/** The computer itself: processor, memory, disks, Docker, clock, addresses. */
import type { ReactNode } from 'react';
import type { DockerState, MachineView } from '../../../core/contract/machines.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { coresOfOthers, memoryOfOthers } from '../../components/machine-figures.js';
import { Dash } from '../../components/values.js';
import { machine as words } from '../../strings/machine.js';
import { machines } from '../../strings/machines.js';
import { formatCores } from '../../strings/numbers.js';
import styles from './machine-page.module.css';

export function MachineFacts({ machine }: { readonly machine: MachineView }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.cpuModel, machine.cpuModel],
    [
      machines.processors,
      words.cores(formatCores(machine.cpuMillicoresFree), formatCores(machine.cpuMillicoresTotal)) +
        coresOfOthers(machine),
    ],
    [
      words.memoryTotal,
      words.memoryText(
        formatSize(machine.memoryAvailableBytes),
        formatSize(machine.memoryTotalBytes),
        formatSize(machine.memoryFreeForJobsBytes),
      ) + memoryOfOthers(machine),
    ],
    ...machine.disks.map(
      (disk) =>
        [
          words.disk(disk.mountPoint),
          words.diskText(formatSize(disk.freeBytes), formatSize(disk.totalBytes), disk.purpose),
        ] as const,
    ),
    [words.docker, <Docker key="docker" docker={machine.docker} />],
    [words.platform, machine.platform],
    [words.hostname, machine.hostname],
    [words.address, machine.address ?? machines.here],
    [
      words.clockSkew,
      machine.clockSkewMs === null ? (
        <Dash reason={machines.notMeasured} />
      ) : (
        words.clockText(machine.clockSkewMs)
      ),
    ],
  ];
  return (
    <section aria-label={words.computer}>
      <h2 className={styles['section']}>{words.computer}</h2>
      <dl className={styles['facts2']}>
        {facts.map(([name, shown]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{shown}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Docker({ docker }: { readonly docker: DockerState }) {
  switch (docker.state) {
    case 'READY':
      return (
        <>
          {words.dockerReady(docker.version ?? machines.dockerReady(null), docker.gpus)}
          {docker.message === null ? null : <> {docker.message}</>}
        </>
      );
    case 'ABSENT':
      return <>{docker.message ?? words.dockerNone}</>;
    case 'FAILED':
      return <>{docker.message ?? machines.dockerFailed}</>;
    case 'UNKNOWN':
      return <Dash reason={words.notLooked} />;
  }
}
