/** Ids that requests of several kinds have. */
import { z } from 'zod';

/** A client-made id: repeating a command with the same id gives the first answer again. */
export const requestId = z.string().min(8).max(64);
export const machineId = z.string().min(1).max(255);
