// Prints the seconds that argv[2] bytes take over loopback TCP: this process receives, a second one sends, and
// neither looks at a byte.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const size = Number(process.argv[2]);
const PIECE = 2 ** 20;

await (process.send === undefined ? receive() : send());

async function receive() {
  const child = fork(fileURLToPath(import.meta.url), [String(size)]);
  const [port] = await once(child, 'message');
  const startedAt = performance.now();
  const onread = { buffer: Buffer.alloc(PIECE), callback: () => true };
  const socket = createConnection({ port, host: '127.0.0.1', onread });
  await once(socket, 'end');
  if (socket.bytesRead !== size) throw new Error(`${socket.bytesRead} of ${size} bytes came`);
  console.log((performance.now() - startedAt) / 1000);
  socket.destroy();
}

async function send() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send(server.address().port);
  const [socket] = await once(server, 'connection');
  server.close();
  process.disconnect();
  const piece = Buffer.alloc(PIECE);
  for (let left = size; left > 0; left -= PIECE) {
    if (!socket.write(piece.subarray(0, left))) await once(socket, 'drain');
  }
  socket.end();
}
