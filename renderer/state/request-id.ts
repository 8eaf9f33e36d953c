/** An id by which a command may be repeated without harm. */
export function newRequestId(): string {
  return crypto.randomUUID();
}
