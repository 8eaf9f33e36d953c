/** Why an Engine cannot be used, and what to do about it. */
import { z } from 'zod';
import { ownName } from '../../../machine/users.js';
import type { Endpoint } from './endpoint.js';

const failureSchema = z.looseObject({ message: z.string().optional(), code: z.string().optional() });

export function whatToDo(error: unknown, endpoint: Endpoint): string {
  const failure = failureSchema.safeParse(error).data;
  const said = failure?.message ?? String(error);
  const where = addressOf(endpoint);
  switch (failure?.code) {
    case 'EACCES':
    case 'EPERM':
      return `You have no right to use the Docker Engine at ${where}. Add yourself to its group (sudo usermod -aG docker ${ownName()}) and log in again, or use rootless Docker.`;
    case 'ENOENT':
      return `There is no Docker Engine at ${where}. Start it (sudo systemctl start docker), or set DOCKER_HOST to where it is.`;
    case 'ECONNREFUSED':
      return `The Docker Engine at ${where} is not running. Start it (sudo systemctl start docker).`;
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'CERT_SIGNATURE_FAILURE':
      return `What answers at ${where} has a certificate that the authority in your ca.pem did not sign: it may be another machine, or ca.pem an old one. Put the right ca.pem where DOCKER_CERT_PATH says.`;
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `What answers at ${where} has a certificate of another name: ${said.trim()}. Use a name that is in it.`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return `The certificate of the Docker Engine at ${where} is not valid now: ${said.trim()}. Renew it, or set the clock right.`;
    default:
      break;
  }
  if (/alert (?:certificate|unknown ca|bad certificate)/i.test(said))
    return `The Docker Engine at ${where} does not accept your certificate (cert.pem): ${said.trim()}. Get one that its authority signed.`;
  // The Engine's word about it may be lost with the connection.
  const secure = endpoint.kind === 'tcp' && endpoint.tls !== null;
  if (secure && (failure?.code === 'ECONNRESET' || failure?.code === 'EPIPE'))
    return `The Docker Engine at ${where} ended the connection (${said.trim()}): mostly it does not accept your certificate (cert.pem). Get one that its authority signed.`;
  if (/HTTP request to an HTTPS server/i.test(said))
    return `The Docker Engine at ${where} wants TLS: set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to the folder with ca.pem, cert.pem and key.pem.`;
  if (/wrong version number|packet length too long/i.test(said))
    return `The Docker Engine at ${where} does not speak TLS: unset DOCKER_TLS_VERIFY and DOCKER_CERT_PATH, or name its TLS port.`;
  return `The Docker Engine at ${where} cannot be used: ${said.trim()}.`;
}

export function addressOf(endpoint: Endpoint): string {
  switch (endpoint.kind) {
    case 'socket':
      return endpoint.path;
    case 'tcp':
      return `${endpoint.host}:${endpoint.port}`;
    case 'ssh':
    case 'connector':
      return endpoint.said;
  }
}
