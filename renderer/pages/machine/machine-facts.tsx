/** The computer itself: processor, memory, disks, Docker, clock, addresses. */
import type { ReactNode } from 'react';
import type { DockerState, MachineView } from '../../../core/contract/machines.js';
import { formatSize } from '../../../core/formats/sizes.js';
import { coresOfOthers, memoryOfOthers } from '../../components/machine-figures.js';
import { conditionOf } from '../../components/machine-state.js';
import { Dash } from '../../components/values.js';
import { machine as words } from '../../strings/machine.js';
import { machines } from '../../strings/machines.js';
import { formatCores } from '../../strings/numbers.js';
import styles from './machine-page.module.css';

export function MachineFacts({ machine }: { readonly machine: MachineView }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.cpuModel, machine.cpuModel],
    [machines.processors, <Processors key="processors" machine={machine} />],
    [words.memoryTotal, <Memory key="memory" machine={machine} />],
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

/** What is free of a machine that does not answer is not known, only what it has. */
function Processors({ machine }: { readonly machine: MachineView }) {
  const { cpuMillicoresTotal: total, cpuMillicoresFree: free } = machine;
  if (total === 0) return <Dash reason={machines.notReached} />;
  const all = formatCores(total);
  if (!conditionOf(machine).answers) return <>{words.coresOnly(all)}</>;
  return <>{words.cores(formatCores(free), all) + coresOfOthers(machine)}</>;
}

function Memory({ machine }: { readonly machine: MachineView }) {
  const { memoryTotalBytes: total, memoryAvailableBytes: available, memoryFreeForJobsBytes: jobs } = machine;
  if (total === 0) return <Dash reason={machines.notReached} />;
  if (!conditionOf(machine).answers) return <>{formatSize(total)}</>;
  return (
    <>
      {words.memoryText(formatSize(available), formatSize(total), formatSize(jobs)) + memoryOfOthers(machine)}
    </>
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
