import { developmentCa } from '../development-ca.ts';

const everyMs = 6 * 3_600_000;

/** Makes certificates anew before they end, for as long as an installation runs; services read them again when their files change. */
export function renewCertificates(
  folder: string,
  names: readonly string[],
  onError: (error: unknown) => void,
): Disposable {
  const timer = setInterval(() => void developmentCa(folder, names, new Date()).catch(onError), everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
