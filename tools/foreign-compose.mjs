/**
 * The program that reads compose files as Docker Compose does (deploy/server/compose-model): built once through the Go module proxy into a
 * cache folder outside of the repository (`LONGWAVE_CACHE`, else ~/.cache/longwave).
 */
import path from 'node:path';
import { buildGoProgram } from './go-program.mjs';

/**
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ binary: string } | { unavailable: string }>} path of the program
 */
export const fetchComposeModel = ({ onProgress } = {}) =>
  buildGoProgram({
    name: 'compose-model',
    folder: path.resolve(import.meta.dirname, '../deploy/server/compose-model'),
    onProgress,
  });
