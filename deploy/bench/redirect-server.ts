/** The baseline of redirects: a server that does nothing else. Usage: node redirect-server.ts LOCATION → prints its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const location = process.argv[2]!;
const server = createServer((_request, response) => {
  response.writeHead(302, { location, 'content-length': 0 }).end();
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));
