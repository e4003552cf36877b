import type { PublicPorts } from '@longwave/fleet';

export const defaultPortBase = '8080';

/** Five neighbouring ports. */
export const portsFrom = (base: number): PublicPorts => ({
  base,
  mcp: base + 1,
  api: base + 2,
  media: base + 3,
  objectStore: base + 4,
});

/**
 * Five neighbouring ports from the text of `--port-base`. Addresses that were handed out contain them, so an installation
 * should keep its base. Throws a sentence for the user.
 */
export function parsePortBase(text: string): PublicPorts {
  const base = Number(text);
  if (!Number.isInteger(base) || base < 1 || base > 65_531)
    throw new Error(`--port-base must be a number from 1 to 65531, not “${text}”.`);
  return portsFrom(base);
}
