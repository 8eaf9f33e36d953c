/** A stream to the Docker Engine of another machine, over the connection there is. */
import { spawn } from 'node:child_process';
import { Duplex } from 'node:stream';
import { sshArgs, sshEnvironment, sshProgram, type SshCommandOptions } from './ssh-command.js';

/** `socket`: of the master. Ends with an error when the client there cannot be run. */
export function openDockerStream(ssh: SshCommandOptions, socket: string): Duplex {
  const args = sshArgs(ssh, { socket, master: false }, 'docker system dial-stdio');
  const child = spawn(sshProgram(ssh.client), args, {
    stdio: 'pipe',
    detached: true,
    env: sshEnvironment(ssh.client),
  });
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-1000);
  });
  child.on('error', (error) => stream.destroy(error));
  child.on('exit', (code) => {
    if (code !== 0)
      stream.destroy(
        new Error(`Docker there could not be reached (${said.trim() || `exit code ${code ?? 'unknown'}`}).`),
      );
  });
  stream.on('close', () => child.kill('SIGTERM'));
  return stream;
}
