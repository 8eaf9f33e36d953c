import { common } from '../strings/common.js';

/** The page outside of the application: says where it belongs. */
export function NoBridge() {
  return (
    <main style={{ padding: 32 }}>
      <h1>{common.noBridgeTitle}</h1>
      <p>{common.noBridgeBody}</p>
    </main>
  );
}
