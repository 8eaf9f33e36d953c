/** List and selection of one desktop, kept while other pages are shown, so that coming back finds them as they were. */
import type { Desktop } from '../../state/desktop-context.js';
import { createJobList, mostSelected, type JobList } from './job-list.js';
import { createKeysPlace, type KeysPlace } from './keys-place.js';
import { renewSelected } from './selected-rows.js';
import { createSelection, type Selection } from './selection.js';

export interface JobsState {
  readonly list: JobList;
  readonly selection: Selection;
  /** Where the keys are in it. */
  readonly place: KeysPlace;
  /** Where the list was scrolled to. */
  readonly scrollTop: () => number;
  readonly keepScrollTop: (top: number) => void;
}

const states = new WeakMap<Desktop, JobsState>();

export function jobsStateOf(desktop: Desktop): JobsState {
  const known = states.get(desktop);
  if (known !== undefined) return known;
  let scrolledTo = 0;
  const selection = createSelection(mostSelected);
  // What is selected is acted on by its rows, however far one has scrolled since.
  desktop.jobs.hold(selection.isSelected);
  desktop.jobs.onBatch(({ removed }) => {
    selection.drop(removed);
  });
  desktop.jobs.onMissed(() => {
    void renewSelected(desktop.host.call, desktop.jobs, selection);
  });
  const list = createJobList({
    call: desktop.host.call,
    jobs: desktop.jobs,
    keepPageOf: selection.rangeStart,
  });
  const made: JobsState = {
    list,
    selection,
    place: createKeysPlace(list.structure, selection),
    scrollTop: () => scrolledTo,
    keepScrollTop(top) {
      scrolledTo = top;
    },
  };
  states.set(desktop, made);
  return made;
}
