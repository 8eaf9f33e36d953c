/** The fake backend told to do nothing of what it is asked: a test sees what is wanted, and reports for it. */
import type { BackendListener, DesiredAttempt } from '../../main/backends/backend.js';
import { FakeBackend, FakeMachine } from './fake-backend.js';

interface Told {
  readonly started: (listener: BackendListener) => void;
  readonly wanted: (attempts: readonly DesiredAttempt[]) => void;
}

class ToldBackend extends FakeBackend {
  override idle = true;

  constructor(
    private readonly told: Told,
    machine: FakeMachine,
  ) {
    super(machine);
  }

  override async start(listener: BackendListener): Promise<void> {
    this.told.started(listener);
    await super.start(listener);
  }

  override reconcile(desired: readonly DesiredAttempt[]): void {
    super.reconcile(desired);
    this.told.wanted(desired);
  }
}

export function toldBackend(told: Told, machine = new FakeMachine()): FakeBackend {
  return new ToldBackend(told, machine);
}
