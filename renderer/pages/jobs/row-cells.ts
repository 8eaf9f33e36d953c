/** The cells of a row that hold more than a text. */
import { shownStateOf } from '../../../core/contract/shown-state.js';
import { isTerminalJobState } from '../../../core/contract/states.js';
import type { JobSummary } from '../../../core/contract/views.js';
import { jobRoute, routeHash } from '../../app/router.js';
import { iconNode, onePathIcon } from '../../components/icon-node.js';
import type { IconName } from '../../components/icon-shapes.js';
import { stateLooks } from '../../components/state-badge.js';
import { taskBarFill, taskBarStyles, tasksHint } from '../../components/task-bar.js';
import { canRunAgain, canStop } from '../../state/job-actions.js';
import { common, localTimes, stateWords, type AnyState } from '../../strings/common.js';
import { jobs as words } from '../../strings/jobs.js';
import { bandHint, bandMark } from './band-mark.js';
import styles from './job-row.module.css';
import { attributeOf, button, cell, classOf, setThere, span, textIn, type RowAction } from './row-dom.js';
import type { RowMarks } from './row-element.js';

/** More than a line of the widest window holds; the browser would measure all of it only to cut it. */
const longestText = 400;

export function nameCell() {
  const root = cell('name');
  const twisty = button('children', styles['twisty'], null);
  const twistyLabel = attributeOf(twisty, 'aria-label');
  const arrows = { open: iconNode('chevron-down', 12), closed: iconNode('chevron-right', 12) };
  const link = document.createElement('a');
  link.className = styles['link'] ?? '';
  link.tabIndex = -1;
  const href = attributeOf(link, 'href');
  const hint = attributeOf(link, 'title');
  const parent = span('iris-muted');
  const parentText = textIn(parent);
  link.append(parent);
  const own = textIn(link);
  parent.remove();
  const command = span(`${styles['command'] ?? ''} iris-mono`);
  command.setAttribute('aria-hidden', 'true');
  const commandText = textIn(command);
  root.append(link, command);
  let indent = -1;
  let linked = '';
  return {
    root,
    show(job: JobSummary, marks: RowMarks, canOpen: boolean): void {
      const left = marks.depth * 16 + (canOpen ? 0 : 22);
      if (left !== indent) root.style.paddingLeft = `${(indent = left)}px`;
      if (canOpen) {
        twistyLabel(marks.open ? words.closeChildren(job.name) : words.openChildren(job.name));
        const arrow = marks.open ? arrows.open : arrows.closed;
        if (arrow.parentNode !== twisty) twisty.replaceChildren(arrow);
      }
      setThere(root, twisty, canOpen, link);
      const path = marks.flat && job.parentId !== null ? job.parentId.split('/').slice(2).join('/') : '';
      if (path !== '') parentText(`${path}/`);
      setThere(link, parent, path !== '', link.firstChild);
      own(job.name);
      if (job.id !== linked) href(routeHash(jobRoute((linked = job.id))));
      hint(marks.hovered ? `${job.id}\n${job.commandLine}` : null);
      commandText(job.commandLine.slice(0, longestText));
    },
  };
}

export function stateCell() {
  const root = cell('state');
  const shownAs = attributeOf(root, 'class');
  const [plain, cut] = [classOf('cell', 'state'), classOf('cell', 'state', 'cut')];
  const badge = span(styles['badge']);
  const outlined = attributeOf(badge, 'data-outlined');
  const icon = onePathIcon(14);
  badge.append(icon.root);
  const word = textIn(badge);
  const failed = span(styles['failed']);
  const failedText = textIn(failed);
  const reason = span(styles['reason']);
  const reasonText = textIn(reason);
  const reasonHint = attributeOf(reason, 'title');
  const band = span(styles['band']);
  const bandText = textIn(band);
  const bandTitle = attributeOf(band, 'title');
  root.append(badge);
  let look: AnyState | null = null;
  return {
    root,
    show(job: JobSummary, marks: RowMarks): void {
      const state = shownStateOf(job);
      if (state !== look) {
        look = state;
        icon.show(stateLooks[look].icon);
        badge.style.color = stateLooks[look].color;
        outlined(stateLooks[look].outlined ? 'true' : null);
      }
      const stopping = marks.stopping && !isTerminalJobState(job.state);
      word(stopping ? words.stopping : stateWords[state]);
      const failures = job.state === 'RUNNING' ? (job.taskCounts.FAILED ?? 0) : 0;
      if (failures > 0) failedText(words.failedTasks(failures));
      setThere(root, failed, failures > 0, badge.nextSibling);
      const mark = bandMark(job);
      if (mark !== '') {
        bandText(mark);
        bandTitle(marks.hovered ? bandHint(job) : null);
      }
      setThere(root, band, mark !== '', reason.parentNode === root ? reason : null);
      const message = reasonOf(job);
      if (message !== undefined) {
        reasonText(message.slice(0, longestText));
        reasonHint(marks.hovered ? message : null);
      }
      setThere(root, reason, message !== undefined);
      // A state's word alone always has room, and a clip costs each frame that paints it.
      shownAs(failures > 0 || mark !== '' || message !== undefined ? cut : plain);
    },
  };
}

function reasonOf(job: JobSummary): string | undefined {
  const message =
    shownStateOf(job) === 'PENDING'
      ? job.waiting?.message
      : job.state === 'RUNNING'
        ? undefined
        : job.cause?.message;
  return message === undefined ? undefined : localTimes(message);
}

export function tasksCell() {
  const root = cell('one');
  const shownAs = attributeOf(root, 'class');
  const hint = attributeOf(root, 'title');
  const oneText = textIn(root);
  oneText(words.oneTask);
  const one = root.firstChild;
  const count = span(taskBarStyles['count']);
  const countText = textIn(count);
  const bar = span(taskBarStyles['bar']);
  bar.setAttribute('aria-hidden', 'true');
  let filled = '';
  let counts: JobSummary['taskCounts'] | null = null;
  let many = false;

  return {
    root,
    show(job: JobSummary, hovered: boolean): void {
      hint(hovered ? tasksHint(job.taskCounts) : null);
      if (counts === job.taskCounts) return;
      counts = job.taskCounts;
      if (many !== job.numTasks > 1) {
        many = !many;
        shownAs(many ? classOf('cell', 'many') : classOf('cell', 'one'));
        if (many) root.replaceChildren(count, bar);
        else if (one !== null) root.replaceChildren(one);
      }
      if (!many) return;
      countText(words.tasksDone(counts.SUCCEEDED ?? 0, job.numTasks));
      const fill = taskBarFill(counts, job.numTasks);
      if (fill !== filled) bar.style.background = filled = fill;
    },
  };
}

export function actionsCell() {
  const root = span(classOf('actions'));
  root.setAttribute('role', 'gridcell');
  const make = (action: RowAction, icon: IconName) => {
    const element = button(action, styles['action'], iconNode(icon, 14));
    return { element, label: attributeOf(element, 'aria-label') };
  };
  const stop = make('stop', 'stop');
  const run = make('run', 'rerun');
  const menu = make('menu', 'more');
  stop.element.title = `${common.stop} (X)`;
  run.element.title = `${common.runAgain} (R)`;
  menu.element.title = words.moreActions;
  root.append(menu.element);
  return {
    root,
    show(job: JobSummary, stopping: boolean): void {
      stop.label(`${common.stop} ${job.name}`);
      run.label(`${common.runAgain}: ${job.name}`);
      menu.label(words.actions(job.name));
      setThere(root, stop.element, canStop(job) && !stopping, menu.element);
      setThere(root, run.element, canRunAgain(job), menu.element);
    },
  };
}

/** A row not fetched yet: bars where its texts will be. */
export function barCells() {
  const columns = [
    { names: ['box'], width: 0 },
    { names: ['name'], width: 120 },
    { names: ['state'], width: 100 },
    { names: ['one'], width: 44 },
    { names: ['gpu', 'number', 'wide'], width: 12 },
    { names: ['age', 'number'], width: 24 },
    { names: ['ran', 'number'], width: 44 },
    { names: ['where', 'wide'], width: 36 },
  ] as const;
  const bars = columns.map(({ width }) => {
    const bar = span(styles['bar']);
    bar.setAttribute('aria-hidden', 'true');
    bar.style.width = `${width}px`;
    return bar;
  });
  const cells = columns.map(({ names, width }, index) => {
    const element = cell(...names);
    const bar = bars[index];
    if (width > 0 && bar !== undefined) element.append(bar);
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
