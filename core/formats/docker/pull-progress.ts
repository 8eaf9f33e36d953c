/** The progress of a fetch of an image, from the objects the Engine sends while it runs. Errors come inside the stream. */
import { z } from 'zod';

const itemSchema = z.object({
  id: z.string().optional(),
  status: z.string().optional(),
  error: z.string().optional(),
  progressDetail: z
    .object({ current: z.number().optional(), total: z.number().optional() })
    .optional()
    .catch(undefined),
});

export interface PullState {
  readonly layers: number;
  readonly layersDone: number;
  readonly doneBytes: number;
  /** Null while a layer's size is not known. */
  readonly totalBytes: number | null;
  /** The daemon's words; null while nothing went wrong. */
  readonly error: string | null;
}

interface Layer {
  current: number;
  total: number | null;
  done: boolean;
}

const layerWords =
  /^(Pulling fs layer|Waiting|Downloading|Verifying Checksum|Download complete|Extracting|Pull complete|Already exists|Retrying)/;

export class PullProgress {
  private readonly layers = new Map<string, Layer>();
  private error: string | null = null;

  push(value: unknown): void {
    const parsed = itemSchema.safeParse(value);
    if (!parsed.success) return;
    const { id, status = '', error, progressDetail } = parsed.data;
    if (error !== undefined) this.error ??= error;
    if (id === undefined || !layerWords.test(status)) return;
    const layer = this.layers.get(id) ?? { current: 0, total: null, done: false };
    this.layers.set(id, layer);
    if (status === 'Downloading') {
      layer.current = progressDetail?.current ?? layer.current;
      layer.total = progressDetail?.total ?? layer.total;
    } else if (status === 'Pull complete' || status === 'Already exists') {
      layer.done = true;
      layer.current = layer.total ?? layer.current;
      layer.total ??= layer.current;
    } else if (status === 'Download complete') layer.current = layer.total ?? layer.current;
  }

  state(): PullState {
    const layers = [...this.layers.values()];
    const known = layers.length > 0 && layers.every(({ total }) => total !== null);
    return {
      layers: layers.length,
      layersDone: layers.filter(({ done }) => done).length,
      doneBytes: layers.reduce((sum, { current }) => sum + current, 0),
      totalBytes: known ? layers.reduce((sum, { total }) => sum + (total ?? 0), 0) : null,
      error: this.error,
    };
  }
}
