/** A thousand machines that do at once what is asked of them: the fake of the tests, which keeps nothing that is over and not asked for. */
import type { DesiredAttempt, WorkerObservation } from '../../../main/backends/backend.js';
import { FakeBackend, FakeMachine } from '../../harness/fake-backend.js';

interface RoundOptions {
  readonly machine?: FakeMachine;
  /** What the first set keeps has run on these machines before, started by another backend. */
  readonly standing?: boolean;
}

export class RoundBackend extends FakeBackend {
  private standing: boolean;

  constructor(workers: readonly WorkerObservation[], { machine, standing }: RoundOptions = {}) {
    super(machine ?? new FakeMachine(), workers);
    this.standing = standing ?? false;
  }

  /** The program of an attempt ends well. */
  succeed(uid: string): void {
    this.machine.end(uid, { exitCode: 0 });
  }

  override reconcile(desired: readonly DesiredAttempt[]): void {
    if (this.standing) for (const item of desired) if (item.kind === 'keep') this.machine.start(item.launch);
    this.standing = false;
    super.reconcile(desired);
  }

  protected override drop(uid: string, isOver: boolean): void {
    if (isOver) this.machine.attempts.delete(uid);
    else super.drop(uid, isOver);
  }
}
