import { Button } from '@mantine/core';
import { navigate, newJobRoute } from '../app/router.js';
import { common } from '../strings/common.js';
import { Icon } from './icon.js';

/** Leads to an empty form. In the head of a page it has a plus, in a page with nothing to show it is the only thing to do. */
export function NewJobButton({ plus = false }: { readonly plus?: boolean }) {
  return (
    <Button
      leftSection={plus ? <Icon name="plus" size={14} /> : undefined}
      onClick={() => {
        navigate(newJobRoute());
      }}
    >
      {common.newJob}
    </Button>
  );
}
