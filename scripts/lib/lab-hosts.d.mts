/** Machines to practise on, for tests in TypeScript; lab-hosts.mjs tells what each is. */
export function labObstacle(): string | null;

export interface LabHost {
  readonly name: string;
  readonly home: string;
  readonly address: string;
  /** Of its network: `/run/netns/NAME`. */
  readonly space: string;
  /** Its /var/tmp. */
  readonly kept: string;
  /** What comes before a command that shall run there. */
  readonly inside: readonly string[];
  clockAheadSeconds: number;
  searchPath: string;
  setMachineId(id: string): void;
  newHostKey(): void;
  fingerprint(): string;
  logins(): number;
  boot(): Promise<void>;
  writeConfig(): void;
  sh(script: string): string;
  addLogin(name: string, id: number): void;
  powerOff(): Promise<void>;
  stopSshd(): void;
  restartSshd(): void;
  cut(): void;
  mend(): void;
  mute(): void;
  unmute(): void;
}

export class Lab {
  readonly folder: string;
  readonly hosts: readonly LabHost[];
  readonly configFile: string;
  readonly knownHosts: string;
  host(
    name: string,
    more?: { readonly dockerSocket?: string; readonly password?: string; readonly maxSessions?: number },
  ): Promise<LabHost>;
  /** File of a key that needs a passphrase. */
  lockedKey(passphrase: string): string;
  remove(host: LabHost): Promise<void>;
  writeClient(keysKnown: boolean): void;
  close(): Promise<void>;
}
