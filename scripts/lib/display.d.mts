/** A virtual display, for tests in TypeScript. */
export function startDisplay(options?: {
  size?: string;
  /** A user id that may use the display as well. */
  readableBy?: number;
}): Promise<{ env: Record<string, string>; stop: () => void }>;
