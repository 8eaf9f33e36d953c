/** Small values: sizes, missing values, copied text. */
import { formatSize } from '../../core/formats/sizes.js';
import { common } from '../strings/common.js';

/** Bytes in binary units, the exact number on hover. */
export function Size({ bytes }: { readonly bytes: number }) {
  return <span title={`${bytes.toLocaleString('en-US')} bytes`}>{formatSize(bytes)}</span>;
}

/** A value that does not exist: a dash, and why on hover and to screen readers. */
export function Dash({ reason }: { readonly reason: string }) {
  return (
    <span className="iris-muted" title={reason}>
      <span aria-hidden="true">{common.dash}</span>
      <span className="iris-visually-hidden">{reason}</span>
    </span>
  );
}
