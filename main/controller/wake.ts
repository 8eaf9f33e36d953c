/** The packet that wakes a machine: six bytes of ones, then its hardware address sixteen times, to everybody on the network. */
import { createSocket, type Socket } from 'node:dgram';
import os from 'node:os';
import { RefusalError, refusal } from '../../core/contract/errors.js';

export interface WakeTarget {
  readonly address: string;
  readonly port: number;
}

/** "Discard": nothing answers there. */
const wakePort = 9;

export function magicPacket(hardwareAddress: string): Buffer {
  const address = Buffer.from(hardwareAddress.split(':').map((part) => Number.parseInt(part, 16)));
  return Buffer.concat([Buffer.alloc(6, 0xff), ...Array.from({ length: 16 }, () => address)]);
}

/** Sent to each network this machine is on; rejects when none took it. */
export async function sendWakePacket(
  hardwareAddress: string,
  targets: readonly WakeTarget[] = broadcastTargets(),
): Promise<void> {
  const socket = createSocket('udp4');
  try {
    await bound(socket);
    socket.setBroadcast(true);
    const packet = magicPacket(hardwareAddress);
    const results = await Promise.allSettled(targets.map((target) => send(socket, packet, target)));
    const failed = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as Error] : [],
    );
    if (results.length > failed.length) return;
    const why = failed[0]?.message ?? 'this machine is on no network';
    throw new RefusalError(
      refusal('UNREACHABLE', `The packet that wakes ${hardwareAddress} could not be sent: ${why}.`),
    );
  } finally {
    socket.close();
  }
}

/** The broadcast address of each network, and of all. */
function broadcastTargets(): WakeTarget[] {
  const addresses = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  const networks = addresses
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address, netmask }) => {
      const mask = netmask.split('.').map(Number);
      return address
        .split('.')
        .map((part, at) => Number(part) | (~(mask[at] ?? 255) & 255))
        .join('.');
    });
  return [...new Set(['255.255.255.255', ...networks])].map((address) => ({ address, port: wakePort }));
}

function bound(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(() => {
      socket.off('error', reject);
      resolve();
    });
  });
}

function send(socket: Socket, packet: Buffer, { address, port }: WakeTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(packet, port, address, (error) => {
      if (error === null) resolve();
      else reject(error);
    });
  });
}
