import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';

/** The rest of the internet: serves files with byte ranges, and texts. */
export interface OutsideHost extends AsyncDisposable {
  readonly origin: string;
  /** By path. */
  readonly files: Map<string, { readonly type: string; readonly path?: string; readonly text?: string }>;
}

export async function startOutsideHost(port: number): Promise<OutsideHost> {
  const files: OutsideHost['files'] = new Map();
  const server = createServer((request, response) => {
    const found = files.get(request.url ?? '');
    if (!found) return void response.writeHead(404).end();
    const size = found.path ? statSync(found.path).size : Buffer.byteLength(found.text ?? '');
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const from = range ? Number(range[1]) : 0;
    const to = range?.[2] ? Math.min(Number(range[2]), size - 1) : size - 1;
    response.writeHead(range ? 206 : 200, {
      'content-type': found.type,
      'content-length': to - from + 1,
      'accept-ranges': 'bytes',
      ...(range && { 'content-range': `bytes ${from}-${to}/${size}` }),
    });
    if (request.method === 'HEAD') return void response.end();
    if (found.path) createReadStream(found.path, { start: from, end: to }).pipe(response);
    else response.end(Buffer.from(found.text ?? '').subarray(from, to + 1));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${port}`,
    files,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
