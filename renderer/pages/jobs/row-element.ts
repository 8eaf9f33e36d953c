/**
 * One line of the list, as elements that are made once and then show one job after another: scrolling fast brings several jobs into view in
 * each frame, and what React and fresh elements cost for each is more than a frame has. What only the pointer can find (hints, buttons)
 * is there while it is on the row.
 */
import { formatDuration } from '../../../core/formats/durations.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { iconNode } from '../../components/icon-node.js';
import { common, formatAge, formatExactTime } from '../../strings/common.js';
import { jobs as words } from '../../strings/jobs.js';
import styles from './job-row.module.css';
import { actionsCell, barCells, nameCell, stateCell, tasksCell } from './row-cells.js';
import { attributeOf, button, cell, classOf, setThere, textIn } from './row-dom.js';

/** What of a row is not its job. */
export interface RowMarks {
  readonly line: number;
  readonly depth: number;
  readonly open: boolean;
  /** Jobs of every depth in one order: the path is shown and nothing opens. */
  readonly flat: boolean;
  /** The time column shows when it ended instead of its age. */
  readonly showEnd: boolean;
  readonly selected: boolean;
  readonly active: boolean;
  readonly stopping: boolean;
  readonly hovered: boolean;
  readonly nowMs: number;
}

export interface RowElement {
  readonly root: HTMLElement;
  /** Without a job: bars where its texts will be. */
  readonly show: (job: JobSummary | undefined, marks: RowMarks) => void;
}

export const rowHeight = 30;

export function rowElementId(id: string): string {
  return `job-row-${id}`;
}

const shownTime = (job: JobSummary, showEnd: boolean): number =>
  showEnd ? (job.finishedAtMs ?? job.submittedAtMs) : job.submittedAtMs;

function ranMs(job: JobSummary, nowMs: number): number {
  if (job.startedAtMs === null) return 0;
  return job.finishedAtMs === null
    ? Math.floor(Math.max(0, nowMs - job.startedAtMs) / 1000) * 1000
    : job.finishedAtMs - job.startedAtMs;
}

/** A cell of one text, or of a dash where there is none: for the eye, with the reason for a screen reader. */
function textCell(...names: readonly string[]) {
  const root = cell(...names);
  const shownAs = attributeOf(root, 'class');
  const hint = attributeOf(root, 'title');
  const text = textIn(root);
  const [plain, dashed, cut] = [
    classOf('cell', ...names),
    classOf('cell', ...names, 'dash'),
    classOf('cell', ...names, 'cut'),
  ];
  return {
    root,
    hint,
    show(value: string | null, absent: string): void {
      // What is surely short needs no cutting, which is a clip to be painted.
      shownAs(value === null ? dashed : value.length > 10 ? cut : plain);
      text(value ?? absent);
    },
  };
}

export function createRowElement(): RowElement {
  const root = document.createElement('div');
  root.className = styles['row'] ?? '';
  root.setAttribute('role', 'row');
  const [id, level, chosen, expanded] = ['id', 'aria-level', 'aria-selected', 'aria-expanded'].map((name) =>
    attributeOf(root, name),
  ) as [Writer, Writer, Writer, Writer];
  const [activeMark, hoverMark, busy, rowIndex] = [
    'data-active',
    'data-hovered',
    'aria-busy',
    'aria-rowindex',
  ].map((name) => attributeOf(root, name)) as [Writer, Writer, Writer, Writer];
  const box = cell('box');
  const check = button('check', styles['check'], null);
  const [pressed, checkLabel] = [attributeOf(check, 'aria-pressed'), attributeOf(check, 'aria-label')];
  const checked = iconNode('check', 12);
  const name = nameCell();
  const state = stateCell();
  const tasks = tasksCell();
  const gpu = textCell('gpu', 'number', 'wide');
  const age = textCell('age', 'number');
  const ran = textCell('ran', 'number');
  const where = textCell('where', 'wide');
  // Made when they are first needed: most rows are never pointed at, and few were ever waited for.
  let actions: ReturnType<typeof actionsCell> | null = null;
  let bars: ReturnType<typeof barCells> | null = null;
  const cells = [box, name.root, state.root, tasks.root, gpu.root, age.root, ran.root, where.root];
  let shown: 'job' | 'bars' | null = null;
  let line = -1;

  function showJob(job: JobSummary, marks: RowMarks): void {
    const { hovered, selected, active } = marks;
    if (shown !== 'job') {
      root.replaceChildren(...cells);
      shown = 'job';
    }
    const canOpen = !marks.flat && job.childCount > 0;
    busy(null);
    id(rowElementId(job.id));
    level(String(marks.depth + 1));
    chosen(String(selected));
    expanded(canOpen ? String(marks.open) : null);
    activeMark(active ? 'true' : null);
    hoverMark(hovered ? 'true' : null);

    const boxed = hovered || selected || active;
    if (boxed) {
      pressed(String(selected));
      checkLabel(words.selectRow(job.name));
      setThere(check, checked, selected);
    }
    setThere(box, check, boxed);
    name.show(job, marks, canOpen);
    state.show(job, marks);
    tasks.show(job, hovered);
    gpu.show(job.gpuCount === 0 ? null : String(job.gpuCount), common.noGpuAsked);
    age.show(formatAge(marks.nowMs - shownTime(job, marks.showEnd)), '');
    age.hint(hovered ? formatExactTime(shownTime(job, marks.showEnd)) : null);
    ran.show(job.startedAtMs === null ? null : formatDuration(ranMs(job, marks.nowMs)), common.notStarted);
    const since = hovered && job.startedAtMs !== null && job.finishedAtMs === null ? job.startedAtMs : null;
    ran.hint(since === null ? null : formatExactTime(since));
    const places = job.workers.length === 0 ? null : job.workers.join(', ');
    where.show(places, common.notPlaced);
    where.hint(hovered ? (places ?? common.notPlaced) : null);
    if (hovered) (actions ??= actionsCell()).show(job, marks.stopping);
    if (actions !== null) setThere(root, actions.root, hovered);
  }

  function showBars(marks: RowMarks): void {
    bars ??= barCells();
    if (shown !== 'bars') {
      root.replaceChildren(...bars.cells);
      for (const write of [id, level, chosen, expanded, activeMark, hoverMark]) write(null);
      busy('true');
      shown = 'bars';
    }
    bars.show(marks);
  }

  return {
    root,
    show(job, marks) {
      if (marks.line !== line) {
        line = marks.line;
        root.style.top = `${line * rowHeight}px`;
        rowIndex(String(line + 2));
      }
      if (job === undefined) showBars(marks);
      else showJob(job, marks);
    },
  };
}

type Writer = ReturnType<typeof attributeOf>;
