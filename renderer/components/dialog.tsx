/** A dialog over the page. Of several the one that opened last lies in front, and has the keyboard and Esc to itself, whichever was drawn first. */
import { Modal, ModalStackContext, type ModalProps } from '@mantine/core';
import { useContext, useEffect, useId, useRef } from 'react';
import { common } from '../strings/common.js';

export function Dialog(props: ModalProps) {
  const id = useId();
  const stack = useContext(ModalStackContext);
  const latest = useRef(stack);
  useEffect(() => {
    latest.current = stack;
  });
  // A page that is left takes its dialog along, which does not say so itself.
  useEffect(
    () => () => {
      latest.current?.removeModal(id);
    },
    [id],
  );
  return <Modal stackId={id} closeButtonProps={{ 'aria-label': common.close }} {...props} />;
}
