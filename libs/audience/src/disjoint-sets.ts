/** Names in sets that are joined step by step. */
interface DisjointSets {
  /** Names the set that a name is in: at first it is alone. */
  readonly setOf: (name: string) => string;
  readonly join: (a: string, b: string) => void;
}

export function createDisjointSets(): DisjointSets {
  const parent = new Map<string, string>();
  const setOf = (name: string): string => {
    if (!parent.has(name)) return name;
    let root = name;
    for (let up = parent.get(root); up !== undefined; up = parent.get(root)) root = up;
    // Later searches begin near the root.
    for (let at = name; at !== root;) {
      const up = parent.get(at)!;
      parent.set(at, root);
      at = up;
    }
    return root;
  };
  return {
    setOf,
    join: (a, b) => {
      const [rootA, rootB] = [setOf(a), setOf(b)];
      if (rootA !== rootB) parent.set(rootA, rootB);
    },
  };
}
