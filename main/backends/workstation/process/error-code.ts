/** The `code` of a system error, such as ENOENT; undefined for any other thing thrown. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

export function isErrorCode(error: unknown, code: string): boolean {
  return errorCode(error) === code;
}

/** No room on a disk, or in a quota. */
export function isFullDisk(error: unknown): boolean {
  return isErrorCode(error, 'ENOSPC') || isErrorCode(error, 'EDQUOT');
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
