/** A stream to the Docker Engine of another machine, over the connection there is. */
import { spawn } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { listenCommand, startRelay } from '../docker/listen-relay.js';
import { programStream } from '../docker/program-stream.js';
import { sshArgs, sshEnvironment, sshProgram, type SshCommandOptions } from './ssh-command.js';

/** `socket`: of the master. Ends with an error when the client there cannot be run. */
export function openDockerStream(ssh: SshCommandOptions, socket: string, listening: boolean): Duplex {
  const command = 'docker system dial-stdio';
  const args = sshArgs(ssh, { socket, master: false }, listening ? listenCommand(command) : command);
  const child = spawn(sshProgram(ssh.client), args, {
    stdio: 'pipe',
    detached: true,
    env: sshEnvironment(ssh),
  });
  if (listening) startRelay(child);
  const why = (code: number | null, said: string): Error =>
    new Error(`Docker there could not be reached (${said || `exit code ${code ?? 'unknown'}`}).`);
  return programStream(child, why);
}
