/** The same as the drawing, as text: by machine and GPU, in order of time. */
import { jobRoute, routeHash } from '../../app/router.js';
import { queue as words } from '../../strings/queue.js';
import type { Lanes } from './lane-rows.js';
import { barText } from './lane-text.js';
import styles from './timeline.module.css';

/** Of more nobody reads the end, and the page would be slow. */
const mostRows = 400;

export function LaneTable({ lanes, nowMs }: { readonly lanes: Lanes; readonly nowMs: number }) {
  const all = lanes.rows.flatMap((row) => row.bars.map((bar) => ({ row, item: bar.item })));
  const shown = all.slice(0, mostRows);
  if (all.length === 0) return <p className={`${styles['note'] ?? ''} iris-muted`}>{words.tableEmpty}</p>;
  return (
    <div className={styles['tableScroller']} tabIndex={0} role="region" aria-label={words.viewTable}>
      <table className={styles['table']} aria-label={words.lanes}>
        <thead>
          <tr>
            <th scope="col">{words.where}</th>
            <th scope="col">{words.name}</th>
            <th scope="col">{words.state}</th>
            <th scope="col">{words.user}</th>
            <th scope="col">{words.band}</th>
            <th scope="col">{words.from}</th>
            <th scope="col">{words.to}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ row, item }) => {
            const text = barText(item, nowMs);
            return (
              <tr key={`${row.key} ${item.taskId} ${item.uid ?? 'promised'}`}>
                <th scope="row">{row.fullLabel}</th>
                <td>
                  <a href={routeHash(jobRoute(item.jobId))}>{item.jobName}</a>
                </td>
                <td>{text.state}</td>
                <td>{text.user}</td>
                <td>{text.band}</td>
                <td>{item.state === 'PROMISED' ? text.start : text.startAt}</td>
                <td>{text.end}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {all.length > shown.length ? (
        <p className={`${styles['note'] ?? ''} iris-muted`}>{words.tableRest(all.length - shown.length)}</p>
      ) : null}
    </div>
  );
}
