/** Which lines of the list are drawn: those in view, and a reserve beyond them, mostly where the list is moving to. */

/** Lines beyond what is seen: most of them come into view next, the few others if the list is turned round. */
const reserve = { ahead: 13, behind: 3 };

export interface LineWindow {
  readonly first: number;
  readonly last: number;
  /** Lines it has wherever the list stands, unless there are fewer: so each element leaves one line for another and never the page. */
  readonly size: number;
  readonly firstInView: number;
  readonly lastInView: number;
}

export interface LinePlace {
  readonly count: number;
  readonly top: number;
  readonly height: number;
  readonly rowHeight: number;
  /** The list was moved towards its end last. */
  readonly forward: boolean;
}

export function lineWindow({ count, top, height, rowHeight, forward }: LinePlace): LineWindow {
  const inView = Math.ceil(height / rowHeight) + 1;
  const size = inView + reserve.ahead + reserve.behind;
  const firstInView = Math.max(0, Math.min(Math.floor(top / rowHeight), count - 1));
  const before = forward ? reserve.behind : reserve.ahead;
  const first = Math.max(0, Math.min(count - size, firstInView - before));
  return {
    first,
    last: Math.min(count, first + size) - 1,
    size,
    firstInView,
    lastInView: Math.min(count, firstInView + inView) - 1,
  };
}

/** The lines of the reserve, those first that come into view first. */
export function reserveLines(
  { first, last, firstInView, lastInView }: LineWindow,
  forward: boolean,
): readonly number[] {
  const below: number[] = [];
  for (let line = lastInView + 1; line <= last; line += 1) below.push(line);
  const above: number[] = [];
  for (let line = firstInView - 1; line >= first; line -= 1) above.push(line);
  return forward ? [...below, ...above] : [...above, ...below];
}
