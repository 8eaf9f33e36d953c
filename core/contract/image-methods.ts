/** What can be asked about what containers start from and share: images, and caches. */
import { z } from 'zod';
import { cacheNames, machineCachesSchema } from './caches.js';
import { imageName } from './container-fields.js';
import { imagePullSchema, imageViewSchema } from './machines.js';
import { machineId, requestId } from './request-ids.js';

export const imageMethods = {
  /** What Docker is there, and what to do where it cannot be used; of every machine. */
  'image.list': {
    params: z.strictObject({}),
    result: z.strictObject({ images: z.array(imageViewSchema), pulls: z.array(imagePullSchema) }),
  },
  /** Begins to fetch an image; its progress is told by the topic `images`. */
  'image.pull': { params: z.strictObject({ machineId, image: imageName }), result: z.strictObject({}) },
  'image.cancel': { params: z.strictObject({ machineId, image: imageName }), result: z.strictObject({}) },
  'image.remove': {
    // It becomes a part of what the Engine is asked for: nothing in it may lead elsewhere or add to it.
    params: z.strictObject({ machineId, imageId: z.string().regex(/^[\w:.@-]{1,255}$/) }),
    result: z.strictObject({}),
  },
  /** As they were measured last; measures nothing itself. Machines that run no containers are left out. */
  'cache.list': {
    params: z.strictObject({}),
    result: z.strictObject({ machines: z.array(machineCachesSchema) }),
  },
  /** Answers once they are measured, or could not be; joins a measurement that runs. */
  'cache.measure': { params: z.strictObject({ machineId }), result: machineCachesSchema },
  /**
   * Answers once they are out of the way of what starts next; what was in them is removed after that. Refused with FAILED_PRECONDITION
   * while a container has them mounted or is being started there.
   */
  'cache.empty': {
    params: z.strictObject({ requestId, machineId, names: z.array(z.enum(cacheNames)).min(1).max(4) }),
    result: machineCachesSchema,
  },
} as const;
