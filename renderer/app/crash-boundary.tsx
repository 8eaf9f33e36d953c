import { Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { common } from '../strings/common.js';

interface CrashState {
  readonly message: string | null;
}

/** A page that throws says so in its place; rail, status bar and other pages go on. */
export class CrashBoundary extends Component<{ readonly children: ReactNode }, CrashState> {
  override state: CrashState = { message: null };

  static getDerivedStateFromError(error: unknown): CrashState {
    return { message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }

  override render(): ReactNode {
    if (this.state.message === null) return this.props.children;
    return (
      <div role="alert" style={{ padding: 24, overflow: 'auto' }}>
        <h1>{common.crashTitle}</h1>
        <p>{common.crashBody}</p>
        <pre className="iris-mono">{this.state.message}</pre>
        <Button
          onClick={() => {
            window.location.reload();
          }}
        >
          {common.reload}
        </Button>
      </div>
    );
  }
}
