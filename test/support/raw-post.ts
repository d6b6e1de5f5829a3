import { connect } from 'node:net';

/**
 * A POST written byte by byte, with headers that no HTTP client would send: doubled ones, odd bytes. Header lines are latin1
 * text. Answers the status.
 */
export async function rawPost(
  target: { readonly port: number; readonly path: string },
  headerLines: readonly string[],
  body: string | Uint8Array,
): Promise<number> {
  const bytes = Buffer.from(body);
  const head = [
    `POST ${target.path} HTTP/1.1`,
    'host: 127.0.0.1',
    'connection: close',
    `content-length: ${bytes.length}`,
    ...headerLines,
  ];
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(target.port, '127.0.0.1', () => {
      socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), bytes]));
    });
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(Buffer.concat(chunks).toString('latin1'))?.[1];
      if (status === undefined) reject(new Error('The connection ended without an answer.'));
      else resolve(Number(status));
    });
  });
}
