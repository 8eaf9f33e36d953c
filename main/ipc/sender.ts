/** Who may talk to main: the main frame of a window of ours, showing a page of ours. Everything else is refused. */
import type { WebContents, WebFrameMain } from 'electron';

interface SenderEvent {
  readonly sender: WebContents;
  readonly senderFrame: WebFrameMain | null;
}

export interface SenderRule {
  isKnownWindow(contents: WebContents): boolean;
  isOurPage(url: string): boolean;
}

/** Null when the sender is right, else what is wrong with it, for the log. */
export function senderFault(event: SenderEvent, rule: SenderRule): string | null {
  const { sender, senderFrame } = event;
  if (!rule.isKnownWindow(sender)) return 'an unknown window';
  // Null: the frame has navigated away or is gone.
  if (senderFrame === null) return 'a frame that is gone';
  if (senderFrame !== sender.mainFrame) return `a frame inside the page (${senderFrame.url})`;
  if (!rule.isOurPage(senderFrame.url)) return `a foreign page (${senderFrame.url})`;
  return null;
}
