import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Writes spans to one end of a loopback connection and returns what comes out of the other: the way to look
 * at lent pages that no code may touch. Rejects with the error of the write (EFAULT for lost pages).
 */
export async function deliverThroughSocket(spans: readonly Uint8Array[]): Promise<Uint8Array> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const received: Buffer[] = [];
  receiver.on('data', (piece) => received.push(piece));
  receiver.on('error', () => {});
  const closed = once(receiver, 'close');
  try {
    const [sender] = (await once(server, 'connection')) as [Socket];
    sender.on('error', () => {});
    for (const span of spans) await write(sender, span);
    sender.end();
    await closed;
    return Buffer.concat(received);
  } finally {
    receiver.destroy();
    server.close();
  }
}

function write(socket: Socket, span: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.write(span, (error) => (error ? reject(error) : resolve()));
  });
}
