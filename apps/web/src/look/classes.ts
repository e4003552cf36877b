/** A class list of those names that are there: `classes(styles.card, isOpen && styles.open)`. */
export const classes = (...names: readonly (string | false | undefined)[]): string => names.filter(Boolean).join(' ');
