/**
 * Helm, which renders the chart in tests, and the program that knows the types of manifests: built once through the Go module proxy into
 * a cache folder outside of the repository (`LONGWAVE_CACHE`, else ~/.cache/longwave).
 */
import path from 'node:path';
import { buildGoProgram } from './go-program.mjs';

const helm = { name: 'helm', module: 'helm.sh/helm/v3/cmd/helm', version: 'v3.19.5' };
const manifestTypes = {
  name: 'manifest-types',
  folder: path.resolve(import.meta.dirname, '../deploy/chart/manifest-types'),
};

/**
 * @param {{ onProgress?: (line: string) => void }} [options]
 * @returns {Promise<{ helm: string, manifestTypes: string } | { unavailable: string }>} paths of both programs
 */
export async function fetchHelm({ onProgress } = {}) {
  const [renderer, checker] = [
    await buildGoProgram({ ...helm, onProgress }),
    // After the other, because it takes from the compiler's cache what both are made of.
    await buildGoProgram({ ...manifestTypes, onProgress }),
  ];
  if ('unavailable' in renderer) return renderer;
  if ('unavailable' in checker) return checker;
  return { helm: renderer.binary, manifestTypes: checker.binary };
}
