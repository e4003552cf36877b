/** The baseline of the range rows: one file by plain http and fs.createReadStream. Usage: node file-server.ts FILE → prints its port. */
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const file = process.argv[2]!;
const { size } = statSync(file);
const server = createServer((request, response) => {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const start = range ? Number(range[1]) : 0;
  const end = range?.[2] ? Number(range[2]) : size - 1;
  response.writeHead(range ? 206 : 200, {
    'content-length': end - start + 1,
    'content-type': 'audio/mpeg',
    'content-range': `bytes ${start}-${end}/${size}`,
  });
  createReadStream(file, { start, end, highWaterMark: 256 * 1024 }).pipe(response);
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
