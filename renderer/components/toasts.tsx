/** Short messages about what happened elsewhere than where the user looks; they go by themselves unless they are errors. */
import { ActionIcon, Button } from '@mantine/core';
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { common } from '../strings/common.js';
import { Icon } from './icon.js';
import styles from './toasts.module.css';

export interface Toast {
  readonly tone: 'info' | 'error';
  readonly text: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** Its action stands for that of an earlier one with the same words, which it takes the place of. */
  readonly again?: boolean;
}

interface ShownToast extends Toast {
  readonly key: number;
}

/** The same words twice say no more than once; with an action each may lead elsewhere, and each fault is told of. */
function replaces(next: Toast, earlier: Toast): boolean {
  if (next.tone === 'error' || earlier.tone === 'error' || next.text !== earlier.text) return false;
  return next.again === true || (next.action === undefined && earlier.action === undefined);
}

const ToastContext = createContext<((toast: Toast) => void) | null>(null);
const infoMs = 6000;
const mostShown = 4;

export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly ShownToast[]>([]);
  const nextKey = useRef(1);
  const timers = useRef(new Set<ReturnType<typeof setTimeout>>());

  const remove = useCallback((key: number) => {
    setToasts((before) => before.filter((toast) => toast.key !== key));
  }, []);

  const show = useCallback(
    (toast: Toast) => {
      const key = nextKey.current++;
      setToasts((before) =>
        [...before.filter((earlier) => !replaces(toast, earlier)), { ...toast, key }].slice(-mostShown),
      );
      if (toast.tone === 'error') return;
      const timer = setTimeout(() => {
        timers.current.delete(timer);
        remove(key);
      }, infoMs);
      timers.current.add(timer);
    },
    [remove],
  );

  useEffect(() => {
    const running = timers.current;
    return () => {
      for (const timer of running) clearTimeout(timer);
      running.clear();
    };
  }, []);

  const value = useMemo(() => show, [show]);
  return (
    <ToastContext.Provider value={value}>
      {children}
      <div className={styles['stack']} role="log" aria-live="polite" aria-label={common.inbox}>
        {toasts.map((toast) => (
          <div key={toast.key} className={styles['toast']} data-tone={toast.tone}>
            <span className={styles['text']}>{toast.text}</span>
            {toast.action === undefined ? null : (
              <Button
                variant="subtle"
                onClick={() => {
                  toast.action?.run();
                  remove(toast.key);
                }}
              >
                {toast.action.label}
              </Button>
            )}
            <ActionIcon
              aria-label={common.dismiss}
              onClick={() => {
                remove(toast.key);
              }}
            >
              <Icon name="cross" size={14} />
            </ActionIcon>
          </div>
        ))}
      </div>
    </ToastContext.Provider>
  );
}

export function useToast(): (toast: Toast) => void {
  const show = useContext(ToastContext);
  if (show === null) throw new Error('useToast outside of ToastProvider');
  return show;
}
