/** A master of listener keys, and the first month (UTC, `YYYY-MM`) that has its keys; undefined where it began before all others. */
export interface ListenerSecret {
  readonly master: Buffer;
  readonly from: string | undefined;
}

/** A variable's text: `hex`, or several with their first months, the newest first: `hex@2027-01,hex`. */
export const listenerSecretsPattern =
  /^[0-9a-f]{64}(@\d{4}-(0[1-9]|1[0-2]))?(,[0-9a-f]{64}(@\d{4}-(0[1-9]|1[0-2]))?)*$/i;

export const parseListenerSecrets = (text: string): readonly ListenerSecret[] =>
  text.split(',').map((part) => {
    const [hex = '', from] = part.split('@');
    return { master: Buffer.from(hex, 'hex'), from };
  });

/**
 * The master of a month: the newest that has begun by then, so a new one changes no key before its month, in which all keys change anyway.
 * Where none has begun, the oldest.
 */
export function masterOf(secrets: readonly ListenerSecret[], month: string): Buffer {
  const found = secrets.find(({ from }) => from === undefined || from <= month) ?? secrets.at(-1);
  if (!found) throw new RangeError('at least one master is needed');
  return found.master;
}
