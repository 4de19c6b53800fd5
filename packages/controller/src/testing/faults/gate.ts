/** What waits until it is opened. */
export interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

/** One that is closed. */
export function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
