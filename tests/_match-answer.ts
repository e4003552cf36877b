/**
 * Compares an answer with what a case file says. Texts in angle brackets stand for values that differ in every run:
 * `<id pod>`, `<text>`, `<integer>`, `<number>`, `<instant>`, `<date>`, `<url>`, `<any>`. Answers the first difference, or undefined.
 */
export function difference(expected: unknown, actual: unknown, place = '$'): string | undefined {
  if (typeof expected === 'string' && /^<[a-z ]+>$/.test(expected)) {
    const [kind = '', prefix] = expected.slice(1, -1).split(' ');
    return fits[kind]?.(actual, prefix) ? undefined : `${place}: ${JSON.stringify(actual)} is no ${expected}`;
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return `${place}: ${JSON.stringify(actual)} is no list`;
    if (expected.length !== actual.length) return `${place}: ${actual.length} items instead of ${expected.length}`;
    return firstOf(expected.map((item, index) => difference(item, actual[index], `${place}[${index}]`)));
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return `${place}: ${JSON.stringify(actual)} is no object`;
    const names = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return firstOf(
      [...names].map((name) =>
        difference(
          (expected as Record<string, unknown>)[name],
          (actual as Record<string, unknown>)[name],
          `${place}.${name}`,
        ),
      ),
    );
  }
  return Object.is(expected, actual)
    ? undefined
    : `${place}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`;
}

/** As `difference`, but an object may have more fields than expected. */
export function missing(expected: unknown, actual: unknown): string | undefined {
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) return difference(expected, actual);
  const shown = (actual ?? {}) as Record<string, unknown>;
  return firstOf(
    Object.entries(expected).map(([name, value]) => {
      const found = missing(value, shown[name]);
      return found && `${name} ${found}`;
    }),
  );
}

const firstOf = (found: readonly (string | undefined)[]) => found.find((each) => each !== undefined);

const isText = (value: unknown): value is string => typeof value === 'string';
const fits: Readonly<Record<string, (value: unknown, prefix: string | undefined) => boolean>> = {
  any: () => true,
  id: (value, prefix) => isText(value) && new RegExp(`^${prefix}_[0-9a-z]{26}$`).test(value),
  text: (value) => isText(value) && value.length > 0,
  integer: (value) => Number.isInteger(value),
  number: (value) => typeof value === 'number',
  instant: (value) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value),
  date: (value) => isText(value) && /^\d{4}-\d\d-\d\d$/.test(value),
  url: (value) => isText(value) && URL.canParse(value),
};
