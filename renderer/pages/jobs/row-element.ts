/**
 * One line of the list, as elements that are made once and then show one job after another: scrolling fast brings several jobs into view in
 * each frame, and what React and fresh elements cost for each is more than a frame has. What only the pointer can find (hints, buttons)
 * is there while it is on the row.
 */
import { formatDuration } from '../../../core/formats/durations.js';
import { isTerminalJobState, type JobState } from '../../../core/contract/states.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { jobRoute, routeHash } from '../../app/router.js';
import { iconNode, svgElement } from '../../components/icon-node.js';
import type { IconName } from '../../components/icon-shapes.js';
import { stateLooks } from '../../components/state-badge.js';
import { taskBarStyles, taskSegments, tasksHint } from '../../components/task-bar.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { common, formatAge, formatExactTime, localTimes, stateWords } from '../../strings/common.js';
import { jobs as words } from '../../strings/jobs.js';
import { bandHint, bandMark } from './band-mark.js';
import styles from './job-row.module.css';

export type RowAction = 'check' | 'children' | 'stop' | 'run' | 'menu';

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

/** The attribute a button of a row says by what it does. */
export const actionAttribute = 'data-action';

function cell(name: string | undefined): HTMLElement {
  const element = document.createElement('span');
  element.setAttribute('role', 'gridcell');
  if (name !== undefined) element.className = styles[name] ?? '';
  return element;
}

function span(className: string | undefined): HTMLElement {
  const element = document.createElement('span');
  element.className = className ?? '';
  return element;
}

function button(action: RowAction, className: string | undefined, icon: SVGElement | null): HTMLElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.tabIndex = -1;
  element.className = className ?? '';
  element.setAttribute(actionAttribute, action);
  if (icon !== null) element.append(icon);
  return element;
}

function setText(node: Text, text: string): void {
  if (node.data !== text) node.data = text;
}

function setAttribute(element: Element, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

function setClass(element: HTMLElement, className: string): void {
  if (element.className !== className) element.className = className;
}

/** Shows `child` in its parent only while wanted. */
function setThere(parent: Element, child: Element, there: boolean, before: Node | null = null): void {
  if (there === (child.parentNode === parent)) return;
  if (there) parent.insertBefore(child, before);
  else child.remove();
}

const classOf = (...names: readonly string[]): string => names.map((name) => styles[name] ?? '').join(' ');
const numberClass = classOf('number');
const dashNumberClass = classOf('number', 'dash');
const wideNumberClass = classOf('number', 'wide');
const dashWideClass = classOf('number', 'wide', 'dash');
const whereClass = classOf('where', 'wide');
const dashWhereClass = classOf('where', 'wide', 'dash');

const shownTime = (job: JobSummary, showEnd: boolean): number =>
  showEnd ? (job.finishedAtMs ?? job.submittedAtMs) : job.submittedAtMs;

function ranMs(job: JobSummary, nowMs: number): number {
  if (job.startedAtMs === null) return 0;
  return job.finishedAtMs === null
    ? Math.floor(Math.max(0, nowMs - job.startedAtMs) / 1000) * 1000
    : job.finishedAtMs - job.startedAtMs;
}

export function createRowElement(): RowElement {
  const root = document.createElement('div');
  root.className = styles['row'] ?? '';
  root.setAttribute('role', 'row');
  const box = cell('box');
  const check = button('check', styles['check'], null);
  const checked = iconNode('check', 12);
  const name = nameCell();
  const state = stateCell();
  const tasks = tasksCell();
  const gpu = cell(undefined);
  const age = cell('number');
  const ran = cell(undefined);
  const where = cell(undefined);
  const [gpuText, ageText, ranText, whereText] = [gpu, age, ran, where].map((element) => {
    const text = document.createTextNode('');
    element.append(text);
    return text;
  }) as [Text, Text, Text, Text];
  const actions = actionsCell();
  const bars = barCells();
  const cells = [box, name.root, state.root, tasks.root, gpu, age, ran, where];
  let shown: 'job' | 'bars' | null = null;
  let line = -1;

  function showJob(job: JobSummary, marks: RowMarks): void {
    const { hovered, selected, active } = marks;
    if (shown !== 'job') {
      root.replaceChildren(...cells);
      root.removeAttribute('aria-busy');
      shown = 'job';
    }
    const canOpen = !marks.flat && job.childCount > 0;
    if (root.id !== rowElementId(job.id)) root.id = rowElementId(job.id);
    setAttribute(root, 'aria-level', String(marks.depth + 1));
    setAttribute(root, 'aria-selected', String(selected));
    setAttribute(root, 'aria-expanded', canOpen ? String(marks.open) : null);
    setAttribute(root, 'data-active', active ? 'true' : null);

    const boxed = hovered || selected || active;
    if (boxed) {
      setAttribute(check, 'aria-pressed', String(selected));
      setAttribute(check, 'aria-label', words.selectRow(job.name));
      setThere(check, checked, selected);
    }
    setThere(box, check, boxed);
    name.show(job, marks, canOpen);
    state.show(job, marks);
    tasks.show(job, hovered);
    setClass(gpu, job.gpuCount === 0 ? dashWideClass : wideNumberClass);
    setText(gpuText, job.gpuCount === 0 ? common.noGpuAsked : String(job.gpuCount));
    setText(ageText, formatAge(marks.nowMs - shownTime(job, marks.showEnd)));
    setAttribute(age, 'title', hovered ? formatExactTime(shownTime(job, marks.showEnd)) : null);
    setClass(ran, job.startedAtMs === null ? dashNumberClass : numberClass);
    setText(ranText, job.startedAtMs === null ? common.notStarted : formatDuration(ranMs(job, marks.nowMs)));
    const since = hovered && job.startedAtMs !== null && job.finishedAtMs === null ? job.startedAtMs : null;
    setAttribute(ran, 'title', since === null ? null : formatExactTime(since));
    const places = job.workers.join(', ');
    setClass(where, places === '' ? dashWhereClass : whereClass);
    setText(whereText, places === '' ? common.notPlaced : places);
    setAttribute(where, 'title', hovered ? whereText.data : null);
    if (hovered) actions.show(job, marks.stopping);
    setThere(root, actions.root, hovered);
  }

  function showBars(marks: RowMarks): void {
    if (shown !== 'bars') {
      root.replaceChildren(...bars.cells);
      for (const attribute of ['id', 'aria-level', 'aria-selected', 'aria-expanded', 'data-active'])
        root.removeAttribute(attribute);
      root.setAttribute('aria-busy', 'true');
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
        root.setAttribute('aria-rowindex', String(line + 2));
      }
      if (job === undefined) showBars(marks);
      else showJob(job, marks);
    },
  };
}

function nameCell() {
  const root = cell('name');
  const twisty = button('children', styles['twisty'], null);
  const arrows = { open: iconNode('chevron-down', 12), closed: iconNode('chevron-right', 12) };
  const link = document.createElement('a');
  link.className = styles['link'] ?? '';
  link.tabIndex = -1;
  const parent = span('iris-muted');
  const own = document.createTextNode('');
  link.append(own);
  const command = span(`${styles['command'] ?? ''} iris-mono`);
  command.setAttribute('aria-hidden', 'true');
  const commandText = document.createTextNode('');
  command.append(commandText);
  root.append(link, command);
  let indent = -1;
  return {
    root,
    show(job: JobSummary, marks: RowMarks, canOpen: boolean): void {
      const left = marks.depth * 16 + (canOpen ? 0 : 22);
      if (left !== indent) root.style.paddingLeft = `${(indent = left)}px`;
      if (canOpen) {
        const text = marks.open ? words.closeChildren(job.name) : words.openChildren(job.name);
        setAttribute(twisty, 'aria-label', text);
        const arrow = marks.open ? arrows.open : arrows.closed;
        if (arrow.parentNode !== twisty) twisty.replaceChildren(arrow);
      }
      setThere(root, twisty, canOpen, link);
      const path = marks.flat && job.parentId !== null ? job.parentId.split('/').slice(2).join('/') : '';
      if (path !== '') parent.textContent = `${path}/`;
      setThere(link, parent, path !== '', own);
      setText(own, job.name);
      setAttribute(link, 'href', routeHash(jobRoute(job.id)));
      setAttribute(link, 'title', marks.hovered ? `${job.id}\n${job.commandLine}` : null);
      setText(commandText, job.commandLine);
    },
  };
}

function stateCell() {
  const root = cell('state');
  const badge = span(styles['badge']);
  const word = document.createTextNode('');
  badge.append(word);
  const failed = span(styles['failed']);
  const reason = span(styles['reason']);
  const reasonText = document.createTextNode('');
  reason.append(reasonText);
  const band = span(styles['band']);
  const bandText = document.createTextNode('');
  band.append(bandText);
  root.append(badge);
  let look: JobState | null = null;
  let icon: SVGElement | null = null;
  return {
    root,
    show(job: JobSummary, marks: RowMarks): void {
      if (job.state !== look) {
        look = job.state;
        const { icon: drawing, color, outlined } = stateLooks[look];
        icon?.remove();
        icon = iconNode(drawing, 14);
        badge.prepend(icon);
        badge.style.color = color;
        setAttribute(badge, 'data-outlined', outlined ? 'true' : null);
      }
      const stopping = marks.stopping && !isTerminalJobState(job.state);
      setText(word, stopping ? words.stopping : stateWords[job.state]);
      const failures = job.state === 'RUNNING' ? (job.taskCounts.FAILED ?? 0) : 0;
      if (failures > 0) failed.textContent = words.failedTasks(failures);
      setThere(root, failed, failures > 0, badge.nextSibling);
      const mark = bandMark(job);
      if (mark !== '') {
        setText(bandText, mark);
        setAttribute(band, 'title', marks.hovered ? bandHint(job) : null);
      }
      setThere(root, band, mark !== '', reason.parentNode === root ? reason : null);
      const message = reasonOf(job);
      if (message !== undefined) {
        setText(reasonText, message);
        setAttribute(reason, 'title', marks.hovered ? message : null);
      }
      setThere(root, reason, message !== undefined);
    },
  };
}

function reasonOf(job: JobSummary): string | undefined {
  const message =
    job.state === 'PENDING' ? job.waiting?.message : job.state === 'RUNNING' ? undefined : job.cause?.message;
  return message === undefined ? undefined : localTimes(message);
}

function tasksCell() {
  const root = cell(undefined);
  const one = document.createTextNode(words.oneTask);
  const count = span(taskBarStyles['count']);
  const countText = document.createTextNode('');
  count.append(countText);
  const bar = svgElement('svg', { preserveAspectRatio: 'none' });
  bar.setAttribute('class', taskBarStyles['bar'] ?? '');
  bar.setAttribute('aria-hidden', 'true');
  let counts: JobSummary['taskCounts'] | null = null;
  return {
    root,
    show(job: JobSummary, hovered: boolean): void {
      setAttribute(root, 'title', hovered ? tasksHint(job.taskCounts) : null);
      if (counts === job.taskCounts) return;
      counts = job.taskCounts;
      const single = job.numTasks === 1;
      setClass(root, single ? 'iris-muted' : (taskBarStyles['cell'] ?? ''));
      if (single) {
        if (one.parentNode !== root) root.replaceChildren(one);
        return;
      }
      setText(countText, words.tasksDone(counts.SUCCEEDED ?? 0, job.numTasks));
      setAttribute(bar, 'viewBox', `0 0 ${job.numTasks} 1`);
      bar.replaceChildren(
        ...taskSegments(counts).map(({ x, width, color }) =>
          svgElement('rect', { x: String(x), y: '0', width: String(width), height: '1', fill: color }),
        ),
      );
      if (count.parentNode !== root) root.replaceChildren(count, bar);
    },
  };
}

function actionsCell() {
  const root = cell('actions');
  const make = (action: RowAction, icon: IconName) => button(action, styles['action'], iconNode(icon, 14));
  const stop = make('stop', 'stop');
  const run = make('run', 'rerun');
  const menu = make('menu', 'more');
  stop.title = `${common.stop} (X)`;
  run.title = `${common.runAgain} (R)`;
  menu.title = words.moreActions;
  root.append(menu);
  return {
    root,
    show(job: JobSummary, stopping: boolean): void {
      setAttribute(stop, 'aria-label', `${common.stop} ${job.name}`);
      setAttribute(run, 'aria-label', `${common.runAgain}: ${job.name}`);
      setAttribute(menu, 'aria-label', words.actions(job.name));
      setThere(root, stop, canStop(job) && !stopping, menu);
      setThere(root, run, canRunAgain(job), menu);
    },
  };
}

/** A row not fetched yet: bars where its texts will be. */
function barCells() {
  const columns = [
    { name: 'box', width: 0 },
    { name: 'name', width: 120 },
    { name: undefined, width: 100 },
    { name: undefined, width: 44 },
    { name: 'wide', width: 12 },
    { name: 'number', width: 24 },
    { name: 'number', width: 44 },
    { name: 'where', width: 36 },
  ] as const;
  const bars = columns.map(({ width }) => {
    const bar = span(styles['bar']);
    bar.setAttribute('aria-hidden', 'true');
    bar.style.width = `${width}px`;
    return bar;
  });
  const cells = columns.map(({ name }, index) => {
    const element = cell(name);
    if (name === 'wide') element.className = wideNumberClass;
    if (name === 'where') element.className = whereClass;
    const bar = bars[index];
    if (name !== 'box' && bar !== undefined) element.append(bar);
    return element;
  });
  return {
    cells,
    show({ line, depth }: RowMarks): void {
      const [, name, state] = bars;
      if (name !== undefined) name.style.width = `${90 + ((line * 37) % 90)}px`;
      if (state !== undefined) state.style.width = `${70 + ((line * 53) % 80)}px`;
      const [, nameCellElement] = cells;
      if (nameCellElement !== undefined) nameCellElement.style.paddingLeft = `${depth * 16 + 22}px`;
    },
  };
}
