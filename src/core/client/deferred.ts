/** A promise and its two ends. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T | PromiseLike<T>): void;
  reject(reason?: unknown): void;
}

/** `Promise.withResolvers` of later Node versions; one that nobody waits for is not an unhandled rejection. */
export function createDeferred<T>(): Deferred<T> {
  let resolve!: (value: T | PromiseLike<T>) => void;
  let reject!: (reason?: unknown) => void;
  const promise = new Promise<T>((...ends) => {
    [resolve, reject] = ends;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
