/** Which groups of machines have changed, so that what was found out about the others stands. */
import type { Groups, WorkerTable } from './worker-table.js';

/** Of the groups a grouping makes. */
export interface GroupChanges {
  readonly groups: Groups;
  /** By group: grows with every change of one of its machines, within a pass and between passes. */
  readonly versions: Int32Array;
  /** Groups in the order they changed since the pass began, some of them again and again. */
  readonly changed: number[];
}

export class Groupings {
  private readonly known = new Map<string, GroupChanges>();
  private all: readonly GroupChanges[] = [];

  begin(): void {
    for (const { changed } of this.all) changed.length = 0;
  }

  /** Of the groups the machines make by that attribute, in their order. */
  by(attribute: string, table: WorkerTable): GroupChanges {
    const groups = table.groups(attribute);
    let known = this.known.get(attribute);
    if (known?.groups !== groups) {
      known = { groups, versions: new Int32Array(groups.members.length), changed: [] };
      this.known.set(attribute, known);
      this.all = [...this.known.values()];
    }
    return known;
  }

  note(worker: number): void {
    for (const { groups, versions, changed } of this.all) {
      const group = groups.of[worker] ?? -1;
      if (group < 0) continue;
      versions[group] = (versions[group] ?? 0) + 1;
      changed.push(group);
    }
  }
}
