/** Caddy, the proxy of docs/self-hosting.md, for the test of deploy/server/Caddyfile. */
import { buildGoProgram } from './go-program.mjs';

/**
 * Answers the path of Caddy's binary, built at the first call. Never throws: where it cannot be had, the answer says why.
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ binary: string } | { unavailable: string }>}
 */
export async function fetchCaddy({ onProgress = () => {} } = {}) {
  const module = 'github.com/caddyserver/caddy/v2/cmd/caddy';
  return buildGoProgram({ name: 'caddy', module, version: 'v2.10.2', onProgress });
}
