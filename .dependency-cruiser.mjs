/** Imports that no tag of nx can forbid: circles, types included. */
export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Two files that import each other are one file, or a third is missing.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'generated/|/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
