/** A promise that a test opens when it likes. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

/** A closed gate: whoever awaits `opened` waits until the test calls `open`. */
export function createGate(): Gate {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Whether a promise is still pending after everything that was ready to run has run. */
export async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  const settled = () => {
    pending = false;
  };
  promise.then(settled, settled);
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  return pending;
}
