// Preloaded into a process with `NODE_OPTIONS=--require`: counts the bytes that JavaScript on its main thread
// allocates in typed arrays and copies between them, and writes both, at the end, to the file WIREBOUND_BYTE_COUNT
// names. What the kernel and native code do is not in it.
const { writeFileSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const counts = { allocated: 0, copied: 0 };

/** Counts what each call of `owner[name]` returns or says before it goes on as ever. */
function watch(owner, name, count) {
  const original = owner[name];
  owner[name] = function (...args) {
    const result = original.apply(this, args);
    count(this, args, result);
    return result;
  };
}

function watchConstructor(name) {
  const original = globalThis[name];
  globalThis[name] = new Proxy(original, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget === globalThis[name] ? target : newTarget);
      const copies = ArrayBuffer.isView(args[0]) || Array.isArray(args[0]);
      if (copies || typeof args[0] === 'number') counts.allocated += made.byteLength;
      if (copies) counts.copied += made.byteLength;
      return made;
    },
  });
}

if (isMainThread) {
  const typedArray = Object.getPrototypeOf(Uint8Array.prototype);
  watch(typedArray, 'set', (_, [source]) => {
    counts.copied += source.byteLength ?? 0;
  });
  for (const name of ['slice', 'copyWithin']) {
    watch(typedArray, name, (_, __, made) => {
      counts.copied += made.byteLength;
    });
  }
  watch(Buffer.prototype, 'copy', (_, __, copied) => {
    counts.copied += copied;
  });
  for (const name of ['concat', 'from']) {
    watch(Buffer, name, (_, [source], made) => {
      if (!(source instanceof ArrayBuffer || source instanceof SharedArrayBuffer))
        counts.copied += made.length;
    });
  }
  for (const name of ['alloc', 'allocUnsafe', 'allocUnsafeSlow']) {
    watch(Buffer, name, (_, __, made) => {
      counts.allocated += made.length;
    });
  }
  for (const name of ['Uint8Array', 'ArrayBuffer', 'SharedArrayBuffer']) watchConstructor(name);
  process.on('exit', () => writeFileSync(process.env.WIREBOUND_BYTE_COUNT, JSON.stringify(counts)));
}
