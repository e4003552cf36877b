export type { Cohort, CohortCounts, CountingBasis, SurfaceClass } from './cohort.ts';
