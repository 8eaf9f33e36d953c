/** A list of rows, each with its button to take it away, and one to add the next: the keys go on where a row came or went. */
import { ActionIcon, Button } from '@mantine/core';
import { useEffect, useRef, type ReactNode } from 'react';
import { Icon } from '../../components/icon.js';

export interface RowsProps<Row> {
  readonly rows: readonly Row[];
  readonly onChange: (rows: Row[]) => void;
  /** What a row that is added holds. */
  readonly empty: Row;
  readonly className: string | undefined;
  /** By its number, from 1. */
  readonly removeLabel: (number: number) => string;
  readonly addLabel: string;
  /** Between the rows and the button to add one. */
  readonly note?: ReactNode;
  readonly children: (row: Row, index: number, set: (row: Row) => void) => ReactNode;
}

export function Rows<Row>(props: RowsProps<Row>) {
  const { rows, onChange, empty, className, removeLabel, addLabel, note, children } = props;
  const count = rows.length;
  const list = useRef<HTMLDivElement>(null);
  const before = useRef(count);
  useEffect(() => {
    const added = count - before.current;
    before.current = count;
    if (list.current === null || added === 0) return;
    const active = document.activeElement;
    const last = count === 0 ? null : list.current.children[count - 1];
    if (added > 0) {
      // Not what a pasted line or a job has filled in.
      if (list.current.contains(active)) last?.querySelector<HTMLElement>('input, textarea')?.focus();
      return;
    }
    if (active !== null && active !== document.body) return;
    const buttons = (last ?? list.current).querySelectorAll<HTMLElement>('button');
    buttons[buttons.length - 1]?.focus();
  }, [count]);
  return (
    <div ref={list} style={{ display: 'contents' }}>
      {rows.map((row, index) => (
        <div key={index} className={className}>
          {children(row, index, (changed) => {
            onChange(rows.with(index, changed));
          })}
          <ActionIcon
            aria-label={removeLabel(index + 1)}
            onClick={() => {
              onChange(rows.toSpliced(index, 1));
            }}
          >
            <Icon name="cross" size={14} />
          </ActionIcon>
        </div>
      ))}
      {note}
      <div>
        <Button
          variant="subtle"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => {
            onChange([...rows, empty]);
          }}
        >
          {addLabel}
        </Button>
      </div>
    </div>
  );
}
