/** Copies a text and says so. */
import { Button } from '@mantine/core';
import { Icon } from '../../components/icon.js';
import { job as words } from '../../strings/job.js';
import { useCopy } from './use-copy.js';

export interface CopyButtonProps {
  readonly text: string;
  /** What is copied, as a noun: `The command`. */
  readonly what: string;
  readonly label?: string;
}

export function CopyButton({ text, what, label = words.copy }: CopyButtonProps) {
  const copy = useCopy();
  return (
    <Button
      variant="subtle"
      leftSection={<Icon name="copy" size={14} />}
      onClick={() => {
        copy(text, what);
      }}
    >
      {label}
    </Button>
  );
}
