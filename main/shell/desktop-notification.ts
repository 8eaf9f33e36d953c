/** Shows a notification through the system. */
import { Notification } from 'electron';
import { createBodies, readsMarkup } from './body-markup.js';
import type { NotificationText } from './notification-text.js';

/** Kept while they can be clicked: one that is collected loses its click. */
const shown = new Set<Notification>();
const mostKept = 50;

const bodyOf = createBodies(() => readsMarkup());

export function showNotification(
  text: NotificationText,
  icon: string,
  clicked: () => void,
  log: (line: string) => void,
): void {
  void bodyOf(text.body).then((body) => {
    present({ title: text.title, body }, icon, clicked, log);
  });
}

function present(
  { title, body }: NotificationText,
  icon: string,
  clicked: () => void,
  log: (line: string) => void,
): void {
  const notification = new Notification({ title, body, icon, silent: true });
  const forget = () => shown.delete(notification);
  notification.once('click', () => {
    forget();
    clicked();
  });
  notification.once('close', forget);
  notification.once('failed', (_event, error) => {
    forget();
    log(`A notification cannot be shown: ${error}`);
  });
  shown.add(notification);
  const oldest = shown.size > mostKept ? shown.values().next().value : undefined;
  if (oldest !== undefined) shown.delete(oldest);
  notification.show();
}
