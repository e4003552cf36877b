/**
 * The imports that projects may have (nx tags in each package.json). The arrow points inward:
 * app → logic, platform, contract; platform → contract; logic → contract; contract → contract.
 * Apps never import apps. `kind:testing` may import everything but is imported by tests only, and by `kind:tool`: programs for the
 * people who run an installation, which nothing imports. `type:web` runs in browsers and takes types of the catalog alone.
 */
export const boundaries = {
  enforceBuildableLibDependency: false,
  allow: [],
  depConstraints: [
    { sourceTag: 'kind:contract', onlyDependOnLibsWithTags: ['kind:contract'] },
    { sourceTag: 'kind:logic', onlyDependOnLibsWithTags: ['kind:logic', 'kind:contract'] },
    { sourceTag: 'kind:platform', onlyDependOnLibsWithTags: ['kind:platform', 'kind:contract'] },
    { sourceTag: 'type:web', onlyDependOnLibsWithTags: ['for:web'] },
    { sourceTag: 'kind:app', onlyDependOnLibsWithTags: ['kind:platform', 'kind:logic', 'kind:contract'] },
    ...['kind:testing', 'kind:tool'].map((sourceTag) => ({
      sourceTag,
      onlyDependOnLibsWithTags: ['kind:testing', 'kind:platform', 'kind:logic', 'kind:contract'],
    })),
  ],
};

/** The same for test files, which may also use the fleet. */
export const boundariesOfTests = {
  ...boundaries,
  depConstraints: boundaries.depConstraints.map((constraint) => ({
    ...constraint,
    onlyDependOnLibsWithTags: [...constraint.onlyDependOnLibsWithTags, 'kind:testing'],
  })),
};
