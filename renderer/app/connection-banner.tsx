/** Between rail and page while the controller is away: what is shown may be old, and what happens about it. */
import { Button } from '@mantine/core';
import { Icon } from '../components/icon.js';
import { useDesktop, useHostStatus } from '../state/desktop-context.js';
import { useConnection } from '../state/hooks.js';
import { common } from '../strings/common.js';
import styles from './connection-banner.module.css';

export function ConnectionBanner() {
  const { host } = useDesktop();
  const connection = useConnection();
  const status = useHostStatus();
  if (connection.kind === 'connecting') return null;
  if (connection.kind === 'connected') {
    if (status === null || status.healthy) return null;
    return (
      <div className={styles['banner']} role="status">
        <Icon name="warning" />
        <span className={styles['text']}>{status.health}</span>
      </div>
    );
  }
  const lost = connection.kind === 'lost';
  // Where there is none to be had its refusal says what to do; an end without one is just that.
  const why = connection.refusal.code === 'DISCONNECTED' ? '' : `${connection.refusal.message} `;
  return (
    <div className={styles['banner']} role="status">
      <Icon name="warning" />
      <span className={styles['text']}>
        {lost
          ? `${common.connectionLost} ${why}${common.stale}`
          : `${common.connectionRefused} ${connection.refusal.message}`}
      </span>
      <Button
        variant="default"
        onClick={() => {
          if (lost) host.reconnect();
          else window.location.reload();
        }}
      >
        {lost ? common.reconnectNow : common.reload}
      </Button>
    </div>
  );
}
