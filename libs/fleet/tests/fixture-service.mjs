/** A service as the fleet knows them: answers `/readyz` on HEALTH_LISTEN, or refuses its configuration. */
import { createServer } from 'node:http';

if (!process.env.GREETING) {
  console.error('GREETING is missing');
  process.exit(78);
}
const [host, port] = process.env.HEALTH_LISTEN.split(':');
createServer((request, response) => response.end(`${process.env.GREETING} ${process.pid}`)).listen(Number(port), host);
process.on('SIGTERM', () => process.exit(0));
