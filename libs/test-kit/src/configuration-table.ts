import { readFileSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';

type Row = readonly [name: string, value: string];

/**
 * The variables and defaults of a service as its page shows them, and as it reads them: equal when the page is right. A default in words
 * is not compared.
 * @param required an environment with every variable that has no default, and no other
 */
export function configurationTable(
  service: string,
  readConfiguration: (environment: Readonly<Record<string, string>>) => object,
  required: Readonly<Record<string, string>>,
): { readonly shown: readonly Row[]; readonly read: readonly Row[] } {
  const page = readFileSync(path.join(workspaceRoot, `docs/services/${service}.md`), 'utf8');
  const shown = [...page.matchAll(/^\| `([A-Z0-9_]+)` +\| (.*?) +\|/gm)].map(([, name, value]): Row => [name!, value!]);
  const defaults = new Map(shown);
  const config = readConfiguration(required);
  // Addresses that need not be there: the service knows them when it reads one.
  const optional = shown.filter(
    ([name, value]) =>
      value === 'none' &&
      !(name in config) &&
      name in readConfiguration({ ...required, [name]: 'https://example.com' }),
  );
  const read = Object.entries(config).map(([name, value]): Row => {
    if (name in required) return [name, 'required'];
    const text = defaults.get(name) ?? '';
    return [name, /^(?:`|required$|$)/.test(text) ? `\`${String(value)}\`` : text];
  });
  return { shown: shown.toSorted(), read: [...read, ...optional].toSorted() };
}
