const pattern = /^[a-z0-9][a-z0-9._-]{0,79}$/;

/**
 * Answers the name of a topic or group unchanged when both engines can carry it: lower-case letters, digits, `.`, `_`, `-`,
 * at most 80 characters. Throws a TypeError otherwise.
 */
export function parseBusName(name: string): string {
  if (!pattern.test(name))
    throw new TypeError(`"${name}" is no name for a topic or group: use a-z, 0-9, ".", "_" and "-".`);
  return name;
}
